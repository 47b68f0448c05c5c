"""Operations that move elements: each gives the source of every element of its result, and `move` does the rest."""

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects import vector as xvector
from xdsl.dialects.builtin import DYNAMIC_INDEX, VectorType
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from codegen.xe.dialects.gpu import ShuffleMode
from codegen.xe.dialects.gpu import ShuffleOp as GpuShuffleOp
from codegen.xe.dialects.interned import integer_type
from codegen.xe.dialects.maps import Ints, format_ints
from codegen.xe.dialects.upstream.vector_ops import (
    ExtractStridedSliceOp,
    FromElementsOp,
    InsertStridedSliceOp,
    TransposeOp,
    integers,
)
from codegen.xe.dialects.xegpu.barrier import constant
from codegen.xe.passes.lanes.emitter import (
    Register,
    bits_of,
    index,
)
from codegen.xe.passes.lanes.lowering import (
    Handler,
    Lowering,
    element_type,
    vector_type,
)
from codegen.xe.passes.lanes.values import (
    Lanes,
    shape_of,
)
from codegen.xe.passes.lanes.vectors.layout import (
    LONGEST,
    NOTHING,
    LaneLayout,
    Places,
    pieces,
)
from codegen.xe.passes.lanes.vectors.shuffles import (
    gather,
    rearrange,
    splat,
)
from codegen.xe.subgroup import subgroup_size

_BYTE = 8


def numbered(shape: Ints, first: int = 0) -> Places:
    """Return the element numbers of a vector, in its shape."""
    return np.arange(first, first + prod(shape)).reshape(shape)


def _from_one(lowering: Lowering, op: Operation, source_of: Places) -> None:
    """Define a result whose elements come from the first operand."""
    result, source = op.results[0], lowering.vector(op.operands[0])
    if isinstance(result.type, VectorType):
        moved = rearrange(lowering.emitter, source, lowering.layout(result), vector_type(result), source_of.reshape(-1))
        lowering.define(result, moved)
    else:
        lowering.define(result, _everywhere(lowering, source, int(source_of.reshape(-1)[0])))


def _everywhere(lowering: Lowering, source: Lanes, element: int) -> SSAValue:
    """Broadcast one element to all lanes."""
    if source.splat is not None:
        return source.splat
    wanted = np.full((1, subgroup_size()), element)
    (register,) = gather(lowering.emitter, source.registers(), source.layout.places, wanted)
    return lowering.emitter.register(register)


def _from_many(lowering: Lowering, result: SSAValue, sources: Sequence[SSAValue], source_of: Places) -> None:
    """Define a result whose elements are numbered across several vectors and scalars."""
    registers: list[Register] = []
    places: list[Places] = []
    first = 0
    for source in sources:
        if isinstance(source.type, VectorType):
            value = lowering.vector(source)
            registers += value.registers()
            places.append(np.where(value.layout.places < 0, NOTHING, value.layout.places + first))
            first += prod(shape_of(source))
        else:
            registers.append((lowering.scalar(source), 0))
            places.append(np.full((1, subgroup_size()), first))
            first += 1
    layout = lowering.layout(result)
    wanted = np.where(layout.places < 0, NOTHING, source_of.reshape(-1)[layout.places])
    found = gather(lowering.emitter, registers, np.concatenate(places), wanted)
    chunks = [lowering.emitter.chunk(found[at : at + length]) for at, length in layout.spans()]
    lowering.define(result, Lanes(vector_type(result), layout, tuple(chunks)))


def _transpose(lowering: Lowering, op: Operation) -> None:
    assert isinstance(op, TransposeOp)
    _from_one(lowering, op, numbered(shape_of(op.vector)).transpose(op.dims))


def _shape_cast(lowering: Lowering, op: Operation) -> None:
    _from_one(lowering, op, numbered(shape_of(op.operands[0])))


def _broadcast(lowering: Lowering, op: Operation) -> None:
    source, result = op.operands[0], op.results[0]
    if not isinstance(source.type, VectorType):
        layout = lowering.layout(result)
        lowering.define(result, splat(lowering.emitter, lowering.scalar(source), layout, vector_type(result)))
        return
    _from_one(lowering, op, np.broadcast_to(numbered(shape_of(source)), shape_of(result)))


def _extract(lowering: Lowering, op: Operation) -> None:
    assert isinstance(op, xvector.ExtractOp)
    numbers = numbered(shape_of(op.vector))
    _check_position(op, op.static_position.get_values(), shape_of(op.vector))
    if not op.dynamic_position:
        _from_one(lowering, op, numbers[tuple(op.static_position.get_values())])
        return
    positions = list(_positions(shape_of(op.vector), op.static_position.get_values()))
    choices = [numbers[p] for p in positions]
    conditions = [_is_at(lowering, op.dynamic_position, op.static_position.get_values(), p) for p in positions]
    _chosen(lowering, op, choices, conditions)


def _positions(shape: Ints, static: Sequence[int]) -> list[Ints]:
    """Return all positions that a list with unknown entries may be."""
    ranges = [range(n) if s == DYNAMIC_INDEX else (s,) for s, n in zip(static, shape, strict=False)]
    out: list[Ints] = [()]
    for values in ranges:
        out = [(*p, v) for p in out for v in values]
    return out


def _is_at(lowering: Lowering, dynamic: Sequence[SSAValue], static: Sequence[int], position: Ints) -> SSAValue:
    emitter, values = lowering.emitter, iter(dynamic)
    out: SSAValue | None = None
    for entry, at in zip(static, position, strict=True):
        if entry == DYNAMIC_INDEX:
            here = emitter.value(arith.CmpiOp(lowering.scalar(next(values)), emitter.constant(at, index), "eq"))
            out = here if out is None else emitter.value(arith.AndIOp(out, here))
    assert out is not None  # at least one entry is unknown
    return out


def _chosen(lowering: Lowering, op: Operation, choices: Sequence[Places], conditions: Sequence[SSAValue]) -> None:
    """Define a result as the choice whose condition is true."""
    emitter, result = lowering.emitter, op.results[0]
    chosen: list[SSAValue] = []
    for choice, condition in zip(choices, conditions, strict=True):
        _from_one(lowering, op, choice)
        value = lowering[result]
        chunks = list(value.chunks) if isinstance(value, Lanes) else [lowering.scalar(result)]
        if chosen:
            pairs = zip(chunks, chosen, strict=True)
            chunks = [emitter.value(arith.SelectOp(condition, new, old)) for new, old in pairs]
        chosen = chunks
    if isinstance(result.type, VectorType):
        lowering.define(result, Lanes(vector_type(result), lowering.layout(result), tuple(chosen)))
    else:
        lowering.define(result, chosen[0])


def _check_position(op: Operation, static: Sequence[int], shape: Ints) -> None:
    """Raise PassFailedException if a static position is outside of the vector; xDSL's verifier does not look."""
    if len(static) > len(shape) or any(
        s != DYNAMIC_INDEX and not 0 <= s < n for s, n in zip(static, shape, strict=False)
    ):
        raise PassFailedException(
            f"lower-to-lanes: {op.name}: expected a position in {format_ints(shape)}, got {list(static)}"
        )


def _insert(lowering: Lowering, op: Operation) -> None:
    assert isinstance(op, xvector.InsertOp)
    shape, static = shape_of(op.dest), op.static_position.get_values()
    _check_position(op, static, shape)
    new = numbered(shape_of(op.source), prod(shape))
    if not op.dynamic_position:
        numbers = numbered(shape)
        numbers[tuple(static)] = new
        _from_many(lowering, op.result, [op.dest, op.source], numbers)
        return
    emitter, layout = lowering.emitter, lowering.layout(op.result)
    chunks = list(lowering.vector(op.dest, layout).chunks)
    for position in _positions(shape, static):
        numbers = numbered(shape)
        numbers[position] = new
        _from_many(lowering, op.result, [op.dest, op.source], numbers)
        here = _is_at(lowering, op.dynamic_position, static, position)
        pairs = zip(lowering.vector(op.result).chunks, chunks, strict=True)
        chunks = [emitter.value(arith.SelectOp(here, new_, old)) for new_, old in pairs]
    lowering.define(op.result, Lanes(vector_type(op.result), layout, tuple(chunks)))


def _extract_slice(lowering: Lowering, op: Operation) -> None:
    assert isinstance(op, ExtractStridedSliceOp)
    part = tuple(slice(o, o + s) for o, s in zip(integers(op.offsets), integers(op.sizes), strict=True))
    _from_one(lowering, op, numbered(shape_of(op.source))[part])


def _insert_slice(lowering: Lowering, op: Operation) -> None:
    assert isinstance(op, InsertStridedSliceOp)
    source, dest = shape_of(op.source), shape_of(op.dest)
    sizes = (1,) * (len(dest) - len(source)) + source
    numbers = numbered(dest)
    part = tuple(slice(o, o + s) for o, s in zip(integers(op.offsets), sizes, strict=True))
    numbers[part] = numbered(source, prod(dest)).reshape(sizes)
    _from_many(lowering, op.result, [op.dest, op.source], numbers)


def _shuffle(lowering: Lowering, op: Operation) -> None:
    assert isinstance(op, xvector.ShuffleOp)
    first, second = shape_of(op.v1) or (1,), shape_of(op.v2) or (1,)
    numbers = np.concatenate([numbered(first), numbered(second, prod(first))])
    mask = np.maximum(np.array(op.mask.get_values()), 0)  # an entry of -1 is any element
    _from_many(lowering, op.result, [op.v1, op.v2], numbers[mask])


def _from_elements(lowering: Lowering, op: Operation) -> None:
    assert isinstance(op, FromElementsOp)
    distinct = list(dict.fromkeys(op.elements))
    if len(distinct) == 1:
        scalar, layout = lowering.scalar(distinct[0]), lowering.layout(op.dest)
        lowering.define(op.dest, splat(lowering.emitter, scalar, layout, vector_type(op.dest)))
        return
    _from_many(lowering, op.dest, distinct, np.array([distinct.index(e) for e in op.elements]))


def _bitcast(lowering: Lowering, op: Operation) -> None:
    """Cast within a lane: the parts of a wide element stay in its lane."""
    source, result, emitter = op.operands[0], op.results[0], lowering.emitter
    before, after = bits_of(element_type(source)), bits_of(element_type(result))
    if before >= after:
        parts = before // after
        layout = _rechunked(lowering.vector(source).layout, LONGEST // parts)
        here, there = layout, layout.split(parts)
    else:
        there = _rechunked(lowering.layout(result), LONGEST // (after // before))
        here = there.split(after // before)
    chunks = [emitter.bitcast(chunk, element_type(result)) for chunk in lowering.vector(source, here).chunks]
    value = Lanes(vector_type(result), there, tuple(chunks))
    if 1 < after < _BYTE:
        lowering.define(result, value)  # parts of bytes stay where the bytes are
    else:
        lowering.finish(result, value)


def _rechunked(layout: LaneLayout, longest: int) -> LaneLayout:
    return LaneLayout(layout.places, tuple(piece for chunk in layout.chunks for piece in pieces(chunk, longest)))


def _from_other_lanes(lowering: Lowering, op: Operation) -> None:
    """Lower a shuffle between work-items, that of a vector register by register; MLIR takes all results for valid.

    Raises:
        PassFailedException: the width is more than the sub-group.
    """
    assert isinstance(op, GpuShuffleOp)
    if (count := constant(op.width)) is not None and count > subgroup_size():
        raise PassFailedException(
            f"lower-to-lanes: gpu.shuffle: expected at most {subgroup_size()} as width, the work-items of a sub-group, "
            f"got {count}"
        )
    emitter, offset, width = lowering.emitter, lowering.scalar(op.offset), lowering.scalar(op.width)
    if not isinstance(op.value.type, VectorType):
        shuffle = GpuShuffleOp(op.mode.data, lowering.scalar(op.value), offset, width)
        lowering.define(op.shuffle_result, emitter.value(shuffle))
    elif lowering.work_items:
        layout, element = lowering.layout(op.shuffle_result), element_type(op.value)
        moved: list[Register] = []
        for register in lowering.vector(op.value, layout).registers():
            bits = emitter.bitcast(emitter.register(register), integer_type(bits_of(element)))
            shuffle = emitter.value(GpuShuffleOp(op.mode.data, bits, offset, width))
            moved.append((emitter.bitcast(shuffle, element), 0))
        chunks = [emitter.chunk(moved[first : first + length]) for first, length in layout.spans()]
        lowering.define(op.shuffle_result, Lanes(vector_type(op.shuffle_result), layout, tuple(chunks)))
    else:
        lowering.keep(op)  # refuses
    source = _SOURCE_LANE[op.mode.data]
    lane = offset if source is None else emitter.value(source(emitter.lane, offset))
    lowering.define(op.valid, emitter.compared(lane, width, "ult"))


_SOURCE_LANE = {
    ShuffleMode.XOR: arith.XOrIOp,
    ShuffleMode.UP: arith.SubiOp,
    ShuffleMode.DOWN: arith.AddiOp,
    ShuffleMode.IDX: None,
}


HANDLERS: Mapping[str, Handler] = {
    "gpu.shuffle": _from_other_lanes,
    "vector.transpose": _transpose,
    "vector.shape_cast": _shape_cast,
    "vector.broadcast": _broadcast,
    "vector.extract": _extract,
    "vector.insert": _insert,
    "vector.extract_strided_slice": _extract_slice,
    "vector.insert_strided_slice": _insert_slice,
    "vector.shuffle": _shuffle,
    "vector.from_elements": _from_elements,
    "vector.bitcast": _bitcast,
}
