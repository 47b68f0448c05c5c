"""Loads, stores and prefetches of blocks: by 2-D block messages if the hardware has them, else lane by lane."""

from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from typing import cast

import numpy as np
from xdsl.dialects import vector as xvector
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, VectorType
from xdsl.ir import Attribute, Operation, SSAValue

from codegen.xe.dialects.interned import (
    integer_type,
    vector,
)
from codegen.xe.dialects.maps import Ints
from codegen.xe.dialects.upstream.vector_ops import ExtractStridedSliceOp
from codegen.xe.dialects.upstream.xevm import (
    BlockLoad2dOp,
    BlockPrefetch2dOp,
    BlockStore2dOp,
    LoadCacheControlAttr,
    load_cache_control,
    store_cache_control,
)
from codegen.xe.dialects.xegpu import (
    LoadNdOp,
    PrefetchNdOp,
    StoreNdOp,
    TensorDescType,
)
from codegen.xe.layout import (
    BlockLimits,
    LayoutRefused,
)
from codegen.xe.passes.lanes.analysis.inst_data import stated_limits
from codegen.xe.passes.lanes.analysis.legality import assumed, vectors_assumed
from codegen.xe.passes.lanes.emitter import (
    Emitter,
    bits_of,
    length_of,
)
from codegen.xe.passes.lanes.lowering import (
    Handler,
    Lowering,
    vector_type,
)
from codegen.xe.passes.lanes.memory.addresses import Messages
from codegen.xe.passes.lanes.memory.byte_columns import (
    are_columns_of_bytes,
    halves_of,
    load_columns,
)
from codegen.xe.passes.lanes.memory.hints import hints_of
from codegen.xe.passes.lanes.memory.messages import (
    Pieces,
    loaded_layout,
    loads_of,
    prefetches_of,
    stores_of,
)
from codegen.xe.passes.lanes.memory.scalar_access import (
    RUN,
    Access,
    holds_rows,
    load_each,
    store_each,
    store_rows,
)
from codegen.xe.passes.lanes.memory.surfaces import (
    MatrixAccess,
    matrix_of,
)
from codegen.xe.passes.lanes.values import (
    Block,
    Lanes,
    lane_element,
)
from codegen.xe.passes.lanes.vectors.fragments import fragment
from codegen.xe.passes.lanes.vectors.layout import (
    LaneLayout,
    Places,
    canonical,
    pieces,
)
from codegen.xe.passes.lanes.vectors.shuffles import convert
from codegen.xe.subgroup import subgroup_size

_KEPT = 1024  # layouts


def load_layout(op: LoadNdOp, result: LaneLayout, *, unpacked: bool = False) -> LaneLayout:
    """Return the layout of the block with which the result has the layout `result`; `unpacked`: of rows."""
    desc = cast(TensorDescType, op.desc.type)
    bits = bits_of(lane_element(desc.element_type))
    words = unit = None
    if op.packed is not None and not unpacked:
        words = 32 // bits
    elif op.transpose is not None:
        unit = op.transpose_bit_width.value.data // bits if op.transpose_bit_width is not None else 1
    return _load_layout(block_shape(desc), desc.block.array_length, words, unit, result)


@lru_cache(_KEPT)
def _load_layout(
    shape: tuple[int, int], blocks: int, words: int | None, unit: int | None, result: LaneLayout
) -> LaneLayout:
    names = _block_names(shape, blocks, words, unit)
    inverse = np.empty_like(names)
    inverse[names] = np.arange(len(names))
    return result.relabelled(inverse)


def _block_names(shape: tuple[int, int], blocks: int, words: int | None, unit: int | None) -> Places:
    """Return the result element of each element of the block, with `blocks` side by side.

    The result's rows are packed to `words`, or it is transposed in parts of `unit` elements.
    """
    rows, columns = shape
    names = np.arange(rows * columns).reshape(blocks, rows, columns // blocks)
    if words is not None:
        names = np.arange(rows * columns).reshape(blocks, rows // words, columns // blocks, words)
        names = names.transpose(0, 1, 3, 2).reshape(blocks, rows, columns // blocks)
    elif unit is not None:
        names = np.arange(rows * columns).reshape(blocks, columns // blocks // unit, rows, unit)
        names = names.transpose(0, 2, 1, 3).reshape(blocks, rows, columns // blocks)
    return names.transpose(1, 0, 2).reshape(-1)


def block_shape(desc: TensorDescType) -> tuple[int, int]:
    """Return rows and columns of a block, with array_length blocks side by side."""
    shape = desc.get_shape()
    rows, columns = shape if len(shape) == 2 else (1, shape[0])
    return rows, columns * desc.block.array_length


def _load_nd(lowering: Lowering, op: Operation) -> None:
    assert isinstance(op, LoadNdOp)
    block = lowering.get(op.desc, Block)
    matrix = matrix_of(lowering, block, op.mixed_offsets)
    element = lane_element(block.type.element_type)
    rows, columns = block_shape(block.type)
    held = fragment(op) if lowering.work_items else lowering.layout(op.result)
    wanted = load_layout(op, held, unpacked=lowering.work_items)
    type_, cache = vector(element, rows, columns), load_cache_control(hints_of(op))
    padding = op.attributes.get("padding")
    halves = None
    if are_columns_of_bytes((rows, columns), bits_of(element), wanted) and _number(padding) == 0:
        halves = halves_of(lowering, matrix)
    if halves is not None:
        value = load_columns(lowering.emitter, halves, type_, wanted, cache)
    elif _may_use_messages(lowering, matrix, element) and _number(padding) == 0:
        pieces_ = _pieces(op, (rows, columns), bits_of(element), wanted, lowering.limits)
        value = _load_messages(lowering, matrix, type_, pieces_, cache, wanted)
    else:
        fill = lowering.emitter.constant(_number(padding), element)
        access = Access(matrix, type_, cache)
        longest = _longest_vector(lowering, matrix, element) if _number(padding) == 0 else 1
        value = load_each(lowering.emitter, access, wanted, fill, longest)
    value = convert(lowering.emitter, value, wanted)
    lowering.define(op.result, Lanes(vector_type(op.result), lowering.layout(op.result), value.chunks))


def _pieces(op: LoadNdOp, shape: Ints, bits: int, wanted: LaneLayout, limits: BlockLimits) -> Pieces:
    """Return the messages of the stated block size, or else of the largest possible."""
    rows, columns = shape
    with suppress(LayoutRefused):
        return loads_of(rows, columns, bits, wanted, stated_limits(op, bits, limits))
    return loads_of(rows, columns, bits, wanted, limits)


def _prefetches(op: PrefetchNdOp, shape: Ints, bits: int, limits: BlockLimits) -> Pieces:
    rows, columns = shape
    with suppress(LayoutRefused):
        return prefetches_of(rows, columns, bits, stated_limits(op, bits, limits))
    return prefetches_of(rows, columns, bits, limits)


def _number(padding: Attribute | None) -> int | float:
    return padding.value.data if isinstance(padding, IntegerAttr | FloatAttr) else 0


def _may_use_messages(lowering: Lowering, matrix: MatrixAccess, element: Attribute) -> bool:
    assumptions = assumed(matrix, bits_of(element), lowering.limits, lowering.sums)
    lowering.assumed.update(assumptions or ())
    return assumptions is not None


def _longest_vector(lowering: Lowering, matrix: MatrixAccess, element: Attribute) -> int:
    """Return the most adjacent elements of a row that a lane may load at once: all are inside the matrix, or none."""
    if lowering.limits.max_rows:
        return 1
    longest, assumptions = vectors_assumed(matrix, bits_of(element), lowering.sums)
    lowering.assumed.update(assumptions)
    return longest


def _load_messages(
    lowering: Lowering,
    matrix: MatrixAccess,
    type_: VectorType[Attribute],
    found: Pieces,
    cache: LoadCacheControlAttr | None,
    wanted: LaneLayout,
) -> Lanes:
    emitter, element = lowering.emitter, type_.element_type
    bits, (rows, columns) = bits_of(element), type_.get_shape()
    messages = Messages(emitter, matrix, bits)
    chunks: list[SSAValue] = []
    for piece in found:
        result = vector(integer_type(piece.register_bits), piece.words)
        loaded_ = emitter.value(BlockLoad2dOp(messages.place(piece), piece.spelled, result, cache))
        chunks += _slices(emitter, loaded_, element, max(wanted.chunks))
    return Lanes(type_, loaded_layout(found, (rows, columns), tuple(map(length_of, chunks))), tuple(chunks))


def _slices(emitter: Emitter, value: SSAValue, element: Attribute, longest: int) -> list[SSAValue]:
    """Split a message's result into chunks of elements."""
    assert isinstance(value.type, VectorType)
    words, width = value.type.get_shape()[0], bits_of(value.type.element_type) // bits_of(element)
    out: list[SSAValue] = []
    first = 0
    for length in pieces(words, max(1, longest // width)):
        part = value
        if length == 1:
            part = emitter.register((value, first))
        elif length != words:
            part = emitter.value(ExtractStridedSliceOp(value, [first], [length]))
        out.append(emitter.bitcast(part, element))
        first += length
    return out


def _store_nd(lowering: Lowering, op: Operation) -> None:
    assert isinstance(op, StoreNdOp)
    block = lowering.get(op.desc, Block)
    matrix = matrix_of(lowering, block, op.mixed_offsets)
    element = lane_element(block.type.element_type)
    rows, columns = block_shape(block.type)
    type_, bits, cache = vector(element, rows, columns), bits_of(element), store_cache_control(hints_of(op))
    given, layout = lowering.vector(op.value), canonical((rows, columns))
    if lowering.work_items:
        given = Lanes(type_, fragment(op), given.chunks, given.splat)
    if _may_store_rows(lowering, matrix, given, (rows, columns)) and _may_use_messages(lowering, matrix, element):
        store_rows(lowering.emitter, Access(matrix, type_, cache), given)
        return
    value = convert(lowering.emitter, given, layout)
    found = stores_of(rows, columns, bits, lowering.limits)
    if found is None or not _may_use_messages(lowering, matrix, element):
        store_each(lowering.emitter, Access(matrix, type_, cache), value)
        return
    emitter, messages, registers = lowering.emitter, Messages(lowering.emitter, matrix, bits), value.registers()
    for piece in found:
        first = piece.column // subgroup_size() * rows + piece.row
        chunk = emitter.chunk(registers[first : first + piece.message.rows])
        data = emitter.bitcast(chunk, integer_type(bits))
        if not isinstance(data.type, VectorType):
            data = emitter.pure(xvector.BroadcastOp, (data,), vector(data.type, 1))
        emitter.add(BlockStore2dOp(messages.place(piece), piece.spelled, data, cache))


def _may_store_rows(lowering: Lowering, matrix: MatrixAccess, value: Lanes, shape: Ints) -> bool:
    """True if rows can be stored in place: no run of columns is partly outside the matrix."""
    if value.splat is not None or matrix.width is None or not holds_rows(value.layout, shape):
        return False
    sums = lowering.sums.of(matrix.column), lowering.sums.of(matrix.width)
    return all(factor % RUN == 0 for sum_ in sums for factor in sum_.values())


def _prefetch_nd(lowering: Lowering, op: Operation) -> None:
    assert isinstance(op, PrefetchNdOp)
    block = lowering.get(op.desc, Block)
    matrix = matrix_of(lowering, block, op.mixed_offsets)
    element = lane_element(block.type.element_type)
    if not _may_use_messages(lowering, matrix, element):
        return  # a prefetch only affects performance
    rows, columns = block_shape(block.type)
    messages, cache = Messages(lowering.emitter, matrix, bits_of(element)), load_cache_control(hints_of(op))
    for piece in _prefetches(op, (rows, columns), bits_of(element), lowering.limits):
        lowering.emitter.add(BlockPrefetch2dOp(messages.place(piece), piece.spelled, cache))


HANDLERS: Mapping[str, Handler] = {
    "xegpu.load_nd": _load_nd,
    "xegpu.store_nd": _store_nd,
    "xegpu.prefetch_nd": _prefetch_nd,
}
