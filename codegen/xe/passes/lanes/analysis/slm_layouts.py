"""Default layouts of matrices in shared local memory, in which the data of a lane is contiguous.

A lane takes some rows of one column, or of a transposed matrix some columns of one row; of A of DPAS in sub-groups of
8, some rows of adjacent columns. Blocks of as many bytes of these as a vector has give each lane one vector, and the
lanes of a message adjacent ones.
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
    column_groups,
)
from codegen.xe.subgroup import subgroup_size

Layouts = Callable[[SSAValue], LaneLayout]
"""The preferred layout of a vector."""


def chosen_layout(op: CreateMemDescOp, layouts: Layouts) -> tuple[MemDescType, int]:
    """Return the type of a matrix with its chosen layout, and how many adjacent elements of a row it counts as one.

    The type is unchanged if another user may see the layout.
    """
    type_ = op.mem_desc.type
    shape, bits = type_.get_shape(), bits_of(lane_element(type_.element_type))
    if type_.mem_layout is not None or len(shape) != 2 or bits < 8:
        return type_, 1
    across, words = takes_rows(op, layouts), adjacent(op, layouts)
    vector, lanes = vector_bytes() * 8 // (bits * words), subgroup_size()
    block = (lanes, vector) if across else (vector, lanes)
    tile = block[0], block[1] * words
    if shape[0] % tile[0] or shape[1] % tile[1]:
        return type_, 1
    for matrix in _matrices(op):
        if (
            matrix is None
            or matrix.type != type_
            or not all(_is_aligned(o, extents, tile) for o, extents in _accesses(matrix))
        ):
            return type_, 1
    whole = shape[0], shape[1] // words
    stride = (whole[1], 1) if across else (1, whole[0])
    return MemDescType(VectorType(type_.element_type, whole), MemLayoutAttr(MemLayout(stride, block))), words


def vector_bytes() -> int:
    """Return the bytes of the vectors in which lanes access shared local memory: those of a register of 8 lanes."""
    return 32 if subgroup_size() == 8 else 16


def adjacent(op: CreateMemDescOp, layouts: Layouts) -> int:
    """Return how many adjacent elements of a row each lane takes that loads from a buffer, as those of A for DPAS."""
    loads = [load for matrix in _matrices(op) if matrix is not None for load in _loads(matrix)]
    found = {_adjacent(load.result, layouts(load.result)) for load in loads}
    return found.pop() if len(found) == 1 else 1


def _adjacent(value: SSAValue, layout: LaneLayout) -> int:
    shape = shape_of(value)
    if len(shape) != 2:
        return 1
    rows, columns = shape
    for each in (2, 4):
        whole = columns % (each * subgroup_size()) == 0
        if whole and np.array_equal(layout.places, column_groups(rows, columns, each).places):
            return each
    return 1


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


def fits_block(offset: Index, extent: int, block: int) -> bool:
    """True if elements from an offset on are known to be in one block."""
    return block % extent == 0 and divisor(offset) % extent == 0


def _is_aligned(offsets: Sequence[Index] | None, extents: Ints, block: Ints) -> bool:
    """True if offsets are known to be multiples of blocks, or an access to be inside one block."""
    return offsets is not None and all(
        divisor(o) % b == 0 or fits_block(o, extent, b) for o, extent, b in zip(offsets, extents, block, strict=True)
    )


def _accesses(matrix: SSAValue) -> Iterator[tuple[Sequence[Index] | None, Ints]]:
    """Yield the offsets and extents of accesses to a matrix and its views; None if unknown."""
    for op in _users(matrix):
        if isinstance(op, MemDescSubviewOp):
            type_ = op.result.type
            yield op.mixed_offsets if type_.get_num_dims() == len(op.mixed_offsets) else None, type_.get_shape()
        elif isinstance(op, LoadMatrixOp):
            yield _placed(op.mixed_offsets, shape_of(op.result))
        elif isinstance(op, StoreMatrixOp):
            yield _placed(op.mixed_offsets, shape_of(op.value))
        else:
            yield None, ()


def _placed(offsets: Sequence[Index], shape: Ints) -> tuple[Sequence[Index] | None, Ints]:
    return (offsets, shape) if len(offsets) == len(shape) else (None, shape)
