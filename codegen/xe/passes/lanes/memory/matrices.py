"""Matrices in shared local memory: load_matrix and store_matrix lane by lane, in vectors where contiguous."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import gcd
from typing import cast

import numpy as np
from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from codegen.xe.dialects.index_list import Index
from codegen.xe.dialects.maps import (
    Ints,
    format_ints,
)
from codegen.xe.dialects.xegpu import (
    CreateMemDescOp,
    LoadMatrixOp,
    MemDescSubviewOp,
    MemDescType,
    StoreMatrixOp,
)
from codegen.xe.passes.lanes.analysis.divisibility import divisor
from codegen.xe.passes.lanes.analysis.slm_layouts import chosen_layout, fits_block
from codegen.xe.passes.lanes.emitter import (
    Emitter,
    length_of,
)
from codegen.xe.passes.lanes.lowering import (
    Handler,
    Lowering,
    element_type,
    vector_type,
)
from codegen.xe.passes.lanes.memory.lane_memory import (
    Guarded,
    load,
    numbers_of,
    pointer_at,
    store,
)
from codegen.xe.passes.lanes.memory.surfaces import pointer_of
from codegen.xe.passes.lanes.values import (
    Lanes,
    Matrix,
    shape_of,
)
from codegen.xe.passes.lanes.vectors.layout import (
    LONGEST,
    LaneLayout,
    Places,
    pieces,
)

_ALIGNED_ELEMENTS = 64


def _create(lowering: Lowering, op: Operation) -> None:
    assert isinstance(op, CreateMemDescOp)
    type_ = op.mem_desc.type
    pointer = pointer_of(lowering, op.source, local=True)
    whole, words = (type_, 1) if lowering.work_items else chosen_layout(op, lowering.layout)
    lowering.define(op.mem_desc, Matrix(type_, whole, pointer, (0,) * type_.get_num_dims(), words))


def _subview(lowering: Lowering, op: Operation) -> None:
    assert isinstance(op, MemDescSubviewOp)
    source = lowering.get(op.source, Matrix)
    offsets = _moved(lowering, source, op.mixed_offsets)
    lowering.define(op.result, Matrix(op.result.type, source.whole, source.pointer, offsets, source.words))


def _moved(lowering: Lowering, matrix: Matrix, offsets: Sequence[Index]) -> tuple[Index, ...]:
    """Add offsets in the last dimensions."""
    further = (*(0,) * (len(matrix.offsets) - len(offsets)), *lowering.indices(offsets))
    return tuple(lowering.emitter.sum(a, b) for a, b in zip(matrix.offsets, further, strict=True))


def strides_of(type_: MemDescType) -> tuple[Ints, Ints, Ints]:
    """Return the extents of a block, and the strides in elements within a block and between blocks.

    Elements of a block are contiguous, and blocks follow each other, both in the order of the matrix's strides.
    """
    shape, stride, block = type_.get_shape(), type_.stride, type_.block
    if block is None:
        return (1,) * len(shape), (0,) * len(shape), stride
    fastest = sorted(range(len(shape)), key=lambda axis: (stride[axis], -axis))
    inner, outer = [0] * len(shape), [0] * len(shape)
    step = 1
    for axis in fastest:
        inner[axis] = step
        step *= block[axis]
    for axis, slower in zip(fastest, [*fastest[1:], None], strict=True):
        outer[axis] = step
        extent = shape[axis] if slower is None else stride[slower] // stride[axis]
        step *= extent // block[axis]
    return block, tuple(inner), tuple(outer)


class _Layout:
    """Offsets of the elements of a block of a matrix: `base` plus `steps`, plus those of the `open` axes.

    The offset of an open axis may be unaligned to blocks, so each element's is computed.
    """

    def __init__(self, emitter: Emitter, matrix: Matrix, offsets: Sequence[Index], shape: Ints, held: Places) -> None:
        self._emitter, self._offsets = emitter, offsets
        block, inner, outer = strides_of(matrix.whole)
        rank, words = len(offsets), matrix.words
        self._units = (1,) * (rank - 1) + (words,)  # elements of a coordinate of `whole`
        self._block = tuple(b * unit for b, unit in zip(block, self._units, strict=True))
        self._inner, self._outer = (tuple(words * step for step in steps) for steps in (inner, outer))
        self._at = np.unravel_index(np.maximum(held, 0), (1,) * (rank - len(shape)) + shape)
        self._open = [axis for axis in range(rank) if not self._is_aligned(axis) and not self._is_within(axis)]
        self._bases: list[Index] = []
        self.steps = np.zeros(held.shape, np.int64)
        for axis in set(range(rank)) - set(self._open):
            offset, coordinate = offsets[axis], self._at[axis]
            if isinstance(offset, int):
                coordinate = coordinate + offset
            else:
                self._bases.append(emitter.product(self._in_blocks(offset, axis), self._outer[axis]))
                if not self._is_aligned(axis):
                    within = emitter.value(arith.RemUIOp(offset, emitter.index(self._block[axis])))
                    self._bases.append(emitter.product(within, self._inner[axis] // self._units[axis]))
            self.steps += coordinate // self._block[axis] * self._outer[axis]
            unit = self._units[axis]
            self.steps += coordinate % self._block[axis] // unit * self._inner[axis] + coordinate % unit
        self._base = emitter.sum(*self._bases)

    def _is_aligned(self, axis: int) -> bool:
        return isinstance(self._offsets[axis], int) or divisor(self._offsets[axis]) % self._block[axis] == 0

    def _is_within(self, axis: int) -> bool:
        """True if all elements are in one block, although the offset may be inside it."""
        return fits_block(self._offsets[axis], int(self._at[axis].max()) + 1, self._block[axis]) and (
            self._inner[axis] % self._units[axis] == 0
        )

    def _in_blocks(self, offset: SSAValue, axis: int) -> Index:
        block = self._block[axis]
        return offset if block == 1 else self._emitter.value(arith.DivUIOp(offset, self._emitter.index(block)))

    def offset(self, register: int) -> Index:
        """Return the offset of the elements of a register."""
        parts = [self._part(axis, register) for axis in self._open]
        return self._emitter.sum(self._base, *numbers_of(self._emitter, self.steps[register]), *parts)

    def _part(self, axis: int, register: int) -> Index:
        emitter, block = self._emitter, self._emitter.index(self._block[axis])
        place = emitter.index(emitter.sum(self._offsets[axis], *numbers_of(emitter, self._at[axis][register])))
        which = emitter.value(arith.DivUIOp(place, block))
        within = emitter.value(arith.RemUIOp(place, block))
        return emitter.sum(emitter.product(which, self._outer[axis]), emitter.product(within, self._inner[axis]))

    def alignment(self, first: int) -> int:
        """Return the known alignment of a register's offset, in elements."""
        parts = [divisor(offset) for offset in self._bases]
        return 1 if self._open else gcd(*parts, *self.steps[first].tolist(), _ALIGNED_ELEMENTS)

    def runs(self, layout: LaneLayout) -> Iterator[tuple[int, int]]:
        """Yield first register and length of contiguous runs in each lane, of valid vector lengths."""
        for first, length in layout.spans():
            ends = [first + i for i in range(1, length) if not self._follows(first + i)]
            for start, end in pairwise([first, *ends, first + length]):
                for piece in pieces(end - start, LONGEST):
                    yield start, piece
                    start += piece

    def _follows(self, register: int) -> bool:
        """True if a register directly follows the previous one in memory, in each lane."""
        return not self._open and bool((self.steps[register] == self.steps[register - 1] + 1).all())


def _load(lowering: Lowering, op: Operation) -> None:
    assert isinstance(op, LoadMatrixOp)
    _check_level(lowering, op)
    emitter, matrix = lowering.emitter, lowering.get(op.mem_desc, Matrix)
    layout, element = lowering.layout(op.result), element_type(op.result)
    places = _Layout(emitter, matrix, _moved(lowering, matrix, op.mixed_offsets), shape_of(op.result), layout.places)
    chunks = [
        load(
            emitter,
            pointer_at(emitter, matrix.pointer, places.offset(first), element),
            element,
            length,
            aligned=places.alignment(first),
        )
        for first, length in places.runs(layout)
    ]
    loaded = LaneLayout(layout.places, tuple(map(length_of, chunks)))
    lowering.finish(op.result, Lanes(vector_type(op.result), loaded, tuple(chunks)))


def _store(lowering: Lowering, op: Operation) -> None:
    assert isinstance(op, StoreMatrixOp)
    _check_level(lowering, op)
    emitter, matrix = lowering.emitter, lowering.get(op.mem_desc, Matrix)
    value, element = lowering.vector(op.value), element_type(op.value)
    layout, registers = value.layout, value.registers()
    # Lanes with copies write them too, the same to the same address: LLVM makes loops of branches by lane that not all
    # lanes leave together, which must not be where a barrier is.
    held = layout.places >= 0
    places = _Layout(emitter, matrix, _moved(lowering, matrix, op.mixed_offsets), shape_of(op.value), layout.places)
    for first, length in places.runs(layout):
        chunk = emitter.chunk(registers[first : first + length])
        mine = held[first : first + length]
        conditions = [] if mine.all() else [emitter.lanes(mine[0].tolist())]
        assert (mine == mine[0]).all()  # always whole chunks
        with Guarded(emitter, conditions):
            store(
                emitter,
                pointer_at(emitter, matrix.pointer, places.offset(first), element),
                chunk,
                aligned=places.alignment(first),
            )


def _check_level(lowering: Lowering, op: LoadMatrixOp | StoreMatrixOp) -> None:
    """Check that a work-item accesses a block of its own, at its own offsets.

    Raises:
        PassFailedException: it would be one of the sub-group, or the specification does not say which elements.
    """
    if not lowering.work_items:
        return
    if op.layout is not None or op.subgroup_block_io is not None:
        raise PassFailedException(
            f"lower-to-lanes: {op.name} at work-item level: expected no layout and no subgroup_block_io, as each "
            "work-item accesses a block at its own offsets"
        )
    shape, desc = shape_of(op.result if isinstance(op, LoadMatrixOp) else op.value), cast(MemDescType, op.mem_desc.type)
    if shape[0] > 1 and len(shape) < desc.get_num_dims() and desc.stride[-1] != 1:
        raise PassFailedException(
            f"lower-to-lanes: {op.name} at work-item level: expected a value of {desc.get_num_dims()} dimensions for "
            f"{desc}, whose rows are not contiguous, got {format_ints(shape)}: MLIR takes it along a column"
        )


HANDLERS: Mapping[str, Handler] = {
    "xegpu.create_mem_desc": _create,
    "xegpu.mem_desc_subview": _subview,
    "xegpu.load_matrix": _load,
    "xegpu.store_matrix": _store,
}
