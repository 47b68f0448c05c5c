"""Descriptors: the memory that they describe, and the matrix that an access reads or writes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerType, MemRefType, StridedLayoutAttr, i64
from xdsl.dialects.llvm import IntToPtrOp
from xdsl.ir import Attribute, Operation, SSAValue

from codegen.xe.dialects.index_list import Index
from codegen.xe.dialects.interned import index
from codegen.xe.dialects.kernel_attributes import LANE_ACCESS
from codegen.xe.dialects.upstream.llvm_ops import GLOBAL, LOCAL
from codegen.xe.dialects.xegpu import (
    CreateNdTdescOp,
    UpdateNdOffsetOp,
)
from codegen.xe.dialects.xegpu.types import row_major
from codegen.xe.dialects.xegpu.verify import MemorySpace
from codegen.xe.passes.lanes.emitter import Emitter
from codegen.xe.passes.lanes.lowering import (
    Handler,
    Lowering,
)
from codegen.xe.passes.lanes.values import (
    Block,
    Surface,
    lane_element,
)


@dataclass(frozen=True, slots=True)
class MatrixAccess:
    """An access to a matrix: first element, extent and row stride in elements, and position.

    Elements of a row are contiguous, as XeGPU requires.

    `height` or `width` None: not known. `by_lanes`: not by block messages.
    """

    pointer: SSAValue
    local: bool
    height: Index | None
    width: Index | None
    pitch: Index
    row: Index
    column: Index
    by_lanes: bool


def pointer_of(lowering: Lowering, source: SSAValue, *, local: bool = False) -> SSAValue:
    """Return the pointer to the first element of a memref, or from an address."""
    emitter = lowering.emitter
    type_ = source.type
    buffer = lowering.memory.buffers.get(source)
    if buffer is not None:
        return buffer
    value = lowering.scalar(source)
    if not isinstance(type_, MemRefType):
        return emitter.pure(IntToPtrOp, (_address(emitter, value),), LOCAL if local else GLOBAL)
    number = emitter.pure(memref.ExtractAlignedPointerAsIndexOp, (value,), index)
    pointer = emitter.pure(IntToPtrOp, (emitter.as_int(number, i64),), GLOBAL)
    offset = _memref_offset(emitter, value, type_)
    if offset == 0:
        return pointer
    return emitter.pointer(pointer, _as_i64(emitter, offset), lane_element(type_.element_type))


def _address(emitter: Emitter, value: SSAValue) -> SSAValue:
    assert isinstance(value.type, IntegerType)
    return value if value.type.width.data == 64 else emitter.value(arith.ExtUIOp(value, i64))


def _as_i64(emitter: Emitter, offset: Index) -> Index:
    return emitter.as_int(offset, i64) if isinstance(offset, SSAValue) else offset


def _memref_offset(emitter: Emitter, value: SSAValue, type_: MemRefType[Attribute]) -> Index:
    if not isinstance(type_.layout, StridedLayoutAttr):
        return 0
    static = type_.layout.get_offset()
    return static if static is not None else _metadata(emitter, value, type_).offset


def _metadata(emitter: Emitter, value: SSAValue, type_: MemRefType[Attribute]) -> memref.ExtractStridedMetaDataOp:
    op = memref.ExtractStridedMetaDataOp(value)
    emitter.add(op)
    return op


def extent_of(lowering: Lowering, source: SSAValue) -> tuple[tuple[Index, ...], tuple[Index, ...]]:
    """Return the shape and the strides of a memref."""
    type_ = cast("MemRefType[Attribute]", source.type)
    shape: tuple[int | None, ...] = tuple(None if n == DYNAMIC_INDEX else n for n in type_.get_shape())
    layout = type_.layout
    strides: Sequence[int | None]
    if isinstance(layout, StridedLayoutAttr):
        strides = layout.get_strides()
    elif None in shape[1:]:
        strides = (*(None for _ in shape[1:]), 1)
    else:
        strides = row_major([n or 1 for n in shape])
    if None not in shape and None not in strides:
        return tuple(n or 0 for n in shape), tuple(n or 0 for n in strides)
    known = _metadata(lowering.emitter, lowering.scalar(source), type_)
    return (
        tuple(known.sizes[axis] if n is None else n for axis, n in enumerate(shape)),
        tuple(known.strides[axis] if n is None else n for axis, n in enumerate(strides)),
    )


def _create_nd_tdesc(lowering: Lowering, op: Operation) -> None:
    assert isinstance(op, CreateNdTdescOp)
    desc = op.result.type
    shape, strides = lowering.indices(op.mixed_shape), lowering.indices(op.mixed_strides)
    if not shape and isinstance(op.source.type, MemRefType):
        shape, strides = extent_of(lowering, op.source)
    local = desc.memory_space is MemorySpace.SLM
    pointer = pointer_of(lowering, op.source, local=local)
    surface = Surface(pointer, local, shape, strides, LANE_ACCESS in op.attributes)
    offsets = lowering.indices(op.mixed_offsets) or (0,) * max(len(shape), desc.get_num_dims())
    lowering.define(op.result, Block(desc, surface, offsets))


def moved(lowering: Lowering, block: Block, offsets: Sequence[Index]) -> Block:
    """Return a block with added offsets; fewer offsets apply to the last dimensions."""
    missing = len(block.offsets) - len(offsets)
    further = (*(0,) * missing, *lowering.indices(offsets))
    sums = tuple(lowering.emitter.sum(a, b) for a, b in zip(block.offsets, further, strict=True))
    return Block(block.type, block.surface, sums)


def _update_nd_offset(lowering: Lowering, op: Operation) -> None:
    assert isinstance(op, UpdateNdOffsetOp)
    lowering.define(op.result, moved(lowering, lowering.get(op.desc, Block), op.mixed_offsets))


def matrix_of(lowering: Lowering, block: Block, offsets: Sequence[Index]) -> MatrixAccess:
    """Return the matrix of an access at offsets from a block; one dimension is a matrix of one row."""
    emitter, element = lowering.emitter, lane_element(block.type.element_type)
    block = moved(lowering, block, offsets) if offsets else block
    surface, places = block.surface, block.offsets
    pointer = surface.pointer
    rank = block.type.get_num_dims()
    lead = len(places) - rank
    skipped = zip(places[:lead], surface.strides[:lead], strict=True)
    first = emitter.sum(*(emitter.product(o, s) for o, s in skipped))
    if first != 0:
        pointer = emitter.pointer(pointer, _as_i64(emitter, first), element)
    checked = bool(surface.shape) and not (lowering.inside and not surface.local)
    width = surface.shape[-1] if checked else None
    if rank == 1:
        return MatrixAccess(pointer, surface.local, 1, width, 0, 0, places[-1], surface.by_lanes)
    height, pitch, lanes = surface.shape[-2] if checked else None, surface.strides[-2], surface.by_lanes
    return MatrixAccess(pointer, surface.local, height, width, pitch, places[-2], places[-1], lanes)


HANDLERS: Mapping[str, Handler] = {
    "xegpu.create_nd_tdesc": _create_nd_tdesc,
    "xegpu.update_nd_offset": _update_nd_offset,
}
