"""Scattered elements and chunks: each lane accesses its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, IntegerType, MemRefType, VectorType, i8
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from codegen.xe.dialects.index_list import Index
from codegen.xe.dialects.maps import Ints
from codegen.xe.dialects.upstream.xevm import PrefetchOp as XeVMPrefetchOp
from codegen.xe.dialects.upstream.xevm import (
    load_cache_control,
    store_cache_control,
)
from codegen.xe.dialects.xegpu import (
    CreateTdescOp,
    LoadOp,
    MemorySpace,
    PrefetchOp,
    StoreOp,
    TensorDescType,
    UpdateOffsetOp,
)
from codegen.xe.dialects.xegpu.verify import space_of
from codegen.xe.passes.lanes.emitter import (
    Register,
    element_of,
    index,
    length_of,
)
from codegen.xe.passes.lanes.lowering import (
    Handler,
    Lowering,
    element_type,
)
from codegen.xe.passes.lanes.memory.hints import hints_of
from codegen.xe.passes.lanes.memory.lane_memory import (
    Guarded,
    load,
    numbers_of,
    owners,
    pointer_at,
    store,
)
from codegen.xe.passes.lanes.memory.surfaces import pointer_of
from codegen.xe.passes.lanes.values import (
    Lanes,
    Scattered,
    Surface,
    lane_element,
    shape_of,
)
from codegen.xe.passes.lanes.vectors.fragments import own
from codegen.xe.passes.lanes.vectors.layout import (
    Choice,
    LaneLayout,
    Places,
    by_row,
    canonical,
)
from codegen.xe.passes.lanes.vectors.shuffles import gather
from codegen.xe.subgroup import subgroup_size


def natural_layout(op: LoadOp | StoreOp) -> LaneLayout | None:
    """Return the layout in which a lane holds its own chunk; None if that is the canonical one."""
    value = op.result if isinstance(op, LoadOp) else op.value
    if _chunk(op) == 1 or op.transpose is not None:
        return None
    *rows, columns = shape_of(value)
    return by_row(prod(rows), columns)


def _chunk(op: LoadOp | StoreOp) -> int:
    base = op.source if isinstance(op, LoadOp) else op.dest
    if isinstance(base.type, TensorDescType):
        scatter = base.type.scatter
        return 1 if scatter is None else scatter.chunk_size
    return 1 if op.chunk_size is None else op.chunk_size.value.data


def _create_tdesc(lowering: Lowering, op: Operation) -> None:
    assert isinstance(op, CreateTdescOp)
    desc = op.result.type
    if op.offsets is not None:
        offsets = lowering.vector(op.offsets)
    else:
        offsets = _listed(lowering, lowering.indices(op.offset_list))
    if lowering.work_items:
        offsets = of_lane(lowering, offsets)
    local = desc.memory_space is MemorySpace.SLM
    surface = Surface(pointer_of(lowering, op.source, local=local), local, (), ())
    lowering.define(op.result, Scattered(desc, surface, offsets))


def _listed(lowering: Lowering, offsets: tuple[Index, ...]) -> Lanes:
    emitter, layout = lowering.emitter, canonical((len(offsets),))
    values = [emitter.index(o) for o in offsets]
    chunks: list[SSAValue] = []
    for row in layout.places:
        chosen = values[max(0, int(row[-1]))]
        for lane, element in enumerate(row[:-1].tolist()):
            if element >= 0 and values[element] is not chosen:
                only = emitter.lanes([at == lane for at in range(len(row))])
                chosen = emitter.value(arith.SelectOp(only, values[element], chosen))
        chunks.append(chosen)
    return Lanes(VectorType(index, [len(offsets)]), LaneLayout(layout.places, (1,) * len(chunks)), tuple(chunks))


def of_lane(lowering: Lowering, values: Lanes) -> Lanes:
    """Return of the values for all work-items of a sub-group, which each work-item has, that for itself."""
    if prod(values.type.get_shape()) == 1:
        return values
    emitter, one = lowering.emitter, VectorType(element_of(values.chunks[0]), [1])
    if values.splat is not None:
        return Lanes(one, own((1,)), (values.splat,), values.splat)
    (register,) = gather(emitter, values.registers(), values.layout.places, np.arange(subgroup_size())[None])
    return Lanes(one, own((1,)), (emitter.register(register),))


def _update_offset(lowering: Lowering, op: Operation) -> None:
    assert isinstance(op, UpdateOffsetOp)
    desc = lowering.get(op.desc, Scattered)
    further = lowering.vector(op.offsets)
    further = of_lane(lowering, further) if lowering.work_items else lowering.vector(op.offsets, desc.offsets.layout)
    pairs = zip(desc.offsets.chunks, further.chunks, strict=True)
    sums = tuple(lowering.emitter.value(arith.AddiOp(a, b)) for a, b in pairs)
    lowering.define(op.result, replace(desc, offsets=replace(desc.offsets, chunks=sums, splat=None)))


@dataclass(frozen=True, slots=True)
class Target:
    """The elements of an access: base pointer, offsets of chunks, and mask.

    Element e of the value is element `step[e]` of chunk `number[e]`.
    """

    pointer: SSAValue
    offsets: Lanes
    mask: Lanes | None
    number: Places
    step: Places


@dataclass(frozen=True, slots=True)
class Run:
    """Registers whose elements are consecutive in each lane: the offset of the first, and the mask of lanes."""

    first: int
    length: int
    offset: Index
    mask: SSAValue | None


def target_of(
    lowering: Lowering,
    base: SSAValue,
    offsets: SSAValue | None,
    mask: SSAValue,
    shape: Ints,
    *,
    transposed: bool = False,
) -> Target:
    """Return the elements of an access to a value of a shape."""
    if offsets is None:
        value = lowering.get(base, Scattered)
        pointer, places = value.surface.pointer, value.offsets
    elif isinstance(offsets.type, VectorType) or lowering.work_items:
        local = isinstance(base.type, MemRefType) and space_of(base.type) is MemorySpace.SLM
        pointer, places = pointer_of(lowering, base, local=local), lowering.vector(offsets)
    else:
        raise PassFailedException(f"lower-to-lanes: expected offsets of a sub-group, a vector, got {offsets.type}")
    elements = np.arange(prod(shape))
    count = prod(places.type.get_shape())
    chunk = len(elements) // count
    number, step = elements // chunk, elements % chunk
    if transposed and not lowering.work_items:
        number, step = elements % count, elements // count
    masked = lowering.vector(mask)
    if lowering.work_items:
        masked = of_lane(lowering, masked)
    if prod(masked.type.get_shape()) != count:  # a bit per element, not per chunk
        raise PassFailedException(f"lower-to-lanes: expected a mask with a bit for each offset, got {mask.type}")
    return Target(pointer, places, None if _is_true(masked) else masked, number, step)


def _is_true(mask: Lanes) -> bool:
    owner = mask.splat.owner if mask.splat is not None else None
    return isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr) and bool(owner.value.value.data)


def runs_of(lowering: Lowering, target: Target, layout: LaneLayout, *, single: bool = False) -> list[Run]:
    """Return the registers of a value in a layout, as runs; `single`: one by one."""
    emitter, held = lowering.emitter, np.maximum(layout.places, 0)
    number, step = target.number[held], target.step[held]
    spans: list[tuple[int, int]] = []
    for first, length in layout.spans():
        part = slice(first, first + length)
        in_turn = (number[part] == number[first]).all()
        in_turn = in_turn and (step[part] == step[first] + np.arange(length)[:, None]).all()
        whole = length == 1 or (in_turn and not single)
        spans += [(first, length)] if whole else [(first + i, 1) for i in range(length)]
    wanted = number[[first for first, _ in spans]]
    offsets = gather(emitter, target.offsets.registers(), target.offsets.layout.places, wanted)
    masks: Sequence[Register | None] = [None] * len(spans)
    if target.mask is not None:
        masks = gather(emitter, target.mask.registers(), target.mask.layout.places, wanted)
    return [
        Run(
            first,
            length,
            emitter.sum(emitter.register(offset), *numbers_of(emitter, step[first])),
            None if mask is None else emitter.register(mask),
        )
        for (first, length), offset, mask in zip(spans, offsets, masks, strict=True)
    ]


def _load(lowering: Lowering, op: Operation) -> None:
    assert isinstance(op, LoadOp)
    emitter, element, cache = lowering.emitter, element_type(op.result), load_cache_control(hints_of(op))
    shape = shape_of(op.result)
    target = target_of(lowering, op.source, op.offsets, op.mask, shape, transposed=op.transpose is not None)
    layout = _layout_of(lowering, op, shape)
    chunks: list[SSAValue] = []
    for run in runs_of(lowering, target, layout):
        if run.mask is not None and run.length == 1:  # read the first element instead
            offset = emitter.value(arith.SelectOp(run.mask, emitter.index(run.offset), emitter.index(0)))
            value = load(emitter, pointer_at(emitter, target.pointer, offset, element), element, cache=cache)
            chunks.append(emitter.value(arith.SelectOp(run.mask, value, emitter.constant(0, element))))
            continue
        with Guarded(emitter, [] if run.mask is None else [run.mask]) as guarded:
            pointer = pointer_at(emitter, target.pointer, run.offset, element)
            guarded.give(load(emitter, pointer, element, run.length, cache))
        chunks += guarded.results
    loaded = LaneLayout(layout.places, tuple(map(length_of, chunks)))
    type_ = op.result.type if isinstance(op.result.type, VectorType) else VectorType(element, [1])
    lowering.finish(op.result, Lanes(type_, loaded, tuple(chunks)))


def _store(lowering: Lowering, op: Operation) -> None:
    assert isinstance(op, StoreOp)
    emitter, cache, shape = lowering.emitter, store_cache_control(hints_of(op)), shape_of(op.value)
    target = target_of(lowering, op.dest, op.offsets, op.mask, shape, transposed=op.transpose is not None)
    layout = _layout_of(lowering, op, shape)
    registers, owned = lowering.vector(op.value, layout).registers(), owners_of(lowering, layout)
    for run in runs_of(lowering, target, layout):
        conditions = [] if run.mask is None else [run.mask]
        if not owned[run.first].all():
            conditions.append(emitter.lanes(owned[run.first].tolist()))
        chunk = emitter.chunk(registers[run.first : run.first + run.length])
        with Guarded(emitter, conditions):
            store(emitter, pointer_at(emitter, target.pointer, run.offset, element_of(chunk)), chunk, cache)


def _layout_of(lowering: Lowering, op: LoadOp | StoreOp, shape: Ints) -> LaneLayout:
    return own(shape) if lowering.work_items else natural_layout(op) or canonical(shape)


def owners_of(lowering: Lowering, layout: LaneLayout) -> Choice:
    """Return a mask of the lanes that access memory for a value, [registers, 16]: work-items do so for themselves."""
    return np.ones(layout.places.shape, np.bool_) if lowering.work_items else owners(layout)


def _prefetch(lowering: Lowering, op: Operation) -> None:
    assert isinstance(op, PrefetchOp)
    if op.offsets is None:
        value = lowering.get(op.source, Scattered)
        pointer, offsets, element = value.surface.pointer, value.offsets, lane_element(value.type.element_type)
        local = value.surface.local
    else:
        base = op.source.type
        local = isinstance(base, MemRefType) and space_of(base) is MemorySpace.SLM
        pointer, offsets = pointer_of(lowering, op.source, local=local), lowering.vector(op.offsets)
        element = lane_element(base.element_type) if isinstance(base, MemRefType) else _bytes_of(op)
    if local:
        return  # local memory is not cached
    for register in offsets.registers():
        at = pointer_at(lowering.emitter, pointer, lowering.emitter.register(register), element)
        lowering.emitter.add(XeVMPrefetchOp(at, load_cache_control(hints_of(op))))


def _bytes_of(op: PrefetchOp) -> IntegerType:
    return IntegerType(8 * op.offset_align_byte.value.data) if op.offset_align_byte is not None else i8


HANDLERS: Mapping[str, Handler] = {
    "xegpu.create_tdesc": _create_tdesc,
    "xegpu.update_offset": _update_offset,
    "xegpu.load": _load,
    "xegpu.store": _store,
    "xegpu.prefetch": _prefetch,
}
