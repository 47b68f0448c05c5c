"""Default layouts of matrices in shared local memory, in which the data of a lane is contiguous.

A lane takes some rows of one column, or of a transposed matrix some columns of one row. Blocks of 16 times 16
bytes of these give each lane one vector, and the lanes of a message adjacent ones.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Operation, SSAValue

from codegen.xe.dialects.index_list import Index
from codegen.xe.dialects.maps import Ints
from codegen.xe.dialects.xegpu import (
    CreateMemDescOp,
    LoadMatrixOp,
    MemDescSubviewOp,
    MemDescType,
    MemLayout,
    MemLayoutAttr,
    StoreMatrixOp,
)
from codegen.xe.passes.lanes.analysis.divisibility import divisor
from codegen.xe.passes.lanes.emitter import bits_of
from codegen.xe.passes.lanes.values import (
    lane_element,
    shape_of,
)
from codegen.xe.passes.lanes.vectors.layout import (
    LaneLayout,
    by_row,
)
from codegen.xe.subgroup import subgroup_size

Layouts = Callable[[SSAValue], LaneLayout]
"""The preferred layout of a vector."""

_VECTOR_BYTES = 16


def chosen_layout(op: CreateMemDescOp, layouts: Layouts) -> MemDescType:
    """Return the type of a matrix with its chosen layout; unchanged if another user may see the layout."""
    type_ = op.mem_desc.type
    shape, bits = type_.get_shape(), bits_of(lane_element(type_.element_type))
    if type_.mem_layout is not None or len(shape) != 2 or bits < 8:
        return type_
    across = takes_rows(op, layouts)
    block = (subgroup_size(), _VECTOR_BYTES * 8 // bits) if across else (_VECTOR_BYTES * 8 // bits, subgroup_size())
    if shape[0] % block[0] or shape[1] % block[1]:
        return type_
    for matrix in _matrices(op):
        if matrix is None or matrix.type != type_ or not all(_is_aligned(o, block) for o in _offsets(matrix)):
            return type_
    stride = (shape[1], 1) if across else (1, shape[0])
    return MemDescType(VectorType(type_.element_type, shape), MemLayoutAttr(MemLayout(stride, block)))


def takes_rows(op: CreateMemDescOp, layouts: Layouts) -> bool:
    """True if the lanes that load from a buffer take columns of one row, as for transposed values."""
    loads = [load for matrix in _matrices(op) if matrix is not None for load in _loads(matrix)]
    return bool(loads) and all(_is_by_row(load.result, layouts(load.result)) for load in loads)


def stores_of(op: CreateMemDescOp) -> Iterator[StoreMatrixOp]:
    """Yield the stores to a buffer."""
    for matrix in _matrices(op):
        if matrix is not None:
            yield from (user for user in _users(matrix) if isinstance(user, StoreMatrixOp))


def _is_by_row(value: SSAValue, layout: LaneLayout) -> bool:
    shape = shape_of(value)
    return len(shape) == 2 and shape[1] > 1 and np.array_equal(layout.places, by_row(*shape).places)


def _matrices(op: CreateMemDescOp) -> Iterator[SSAValue[MemDescType] | None]:
    """Yield the matrices of a buffer; None for any other use."""
    for use in op.source.uses:
        yield use.operation.mem_desc if isinstance(use.operation, CreateMemDescOp) else None


def _users(matrix: SSAValue) -> Iterator[Operation]:
    for use in matrix.uses:
        yield use.operation
        if isinstance(use.operation, MemDescSubviewOp):
            yield from _users(use.operation.result)


def _loads(matrix: SSAValue) -> list[LoadMatrixOp]:
    return [user for user in _users(matrix) if isinstance(user, LoadMatrixOp)]


def _is_aligned(offsets: Sequence[Index] | None, block: Ints) -> bool:
    """True if offsets are known to be multiples of blocks."""
    return offsets is not None and all(divisor(o) % b == 0 for o, b in zip(offsets, block, strict=True))


def _offsets(matrix: SSAValue) -> Iterator[Sequence[Index] | None]:
    """Yield the offsets of accesses to a matrix and its views; None if unknown."""
    for op in _users(matrix):
        if isinstance(op, MemDescSubviewOp):
            yield op.mixed_offsets if op.result.type.get_num_dims() == len(op.mixed_offsets) else None
        else:
            yield op.mixed_offsets if isinstance(op, LoadMatrixOp | StoreMatrixOp) else None
