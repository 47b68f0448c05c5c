"""How matrices lie in shared local memory where nothing says it: so that what a lane takes is contiguous.

A lane takes some rows of one column. Blocks of as many rows as make 16 bytes and of 16 columns, column by column, give
each lane one vector, and the lanes of a message neighbouring ones.
"""

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import VectorType
from xdsl.ir import SSAValue

from codegen.dialects.index_list import Index
from codegen.dialects.maps import Ints
from codegen.dialects.xegpu import (
    CreateMemDescOp,
    LoadMatrixOp,
    MemDescSubviewOp,
    MemDescType,
    MemLayout,
    MemLayoutAttr,
    StoreMatrixOp,
)
from codegen.transforms.lanes.divisibility import divisor
from codegen.transforms.lanes.emitter import bits_of
from codegen.transforms.lanes.layout import LANES
from codegen.transforms.lanes.values import lane_element

_VECTOR_BYTES = 16


def chosen_layout(op: CreateMemDescOp) -> MemDescType:
    """The type of a matrix with the layout that it shall have; its own where something else may see how it lies."""
    type_ = op.mem_desc.type
    shape, bits = type_.get_shape(), bits_of(lane_element(type_.element_type))
    if type_.mem_layout is not None or len(shape) != 2 or bits < 8:
        return type_
    block = _VECTOR_BYTES * 8 // bits, LANES
    if shape[0] % block[0] or shape[1] % block[1]:
        return type_
    for use in op.source.uses:
        other = use.operation
        if not isinstance(other, CreateMemDescOp) or other.mem_desc.type != type_:
            return type_
        if not all(_is_aligned(offsets, block) for offsets in _offsets(other.mem_desc)):
            return type_
    return MemDescType(VectorType(type_.element_type, shape), MemLayoutAttr(MemLayout((1, shape[0]), block)))


def _is_aligned(offsets: Sequence[Index] | None, block: Ints) -> bool:
    """Whether offsets are known to be those of whole blocks."""
    return offsets is not None and all(divisor(o) % b == 0 for o, b in zip(offsets, block, strict=True))


def _offsets(matrix: SSAValue) -> Iterator[Sequence[Index] | None]:
    """Where a matrix, and views of it, are accessed; None: where that is not to be seen."""
    for use in matrix.uses:
        op = use.operation
        if isinstance(op, MemDescSubviewOp):
            yield op.mixed_offsets if op.result.type.get_num_dims() == len(op.mixed_offsets) else None
            yield from _offsets(op.result)
        else:
            yield op.mixed_offsets if isinstance(op, LoadMatrixOp | StoreMatrixOp) else None
