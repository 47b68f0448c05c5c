"""Scattered elements: offsets, masks and values are distributed alike; a chunk stays with its offset.

Of sub-groups that own the same, only the first stores and updates atomically.
"""

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Operation, SSAValue

from codegen.xe.dialects.maps import Ints
from codegen.xe.dialects.xegpu import (
    AtomicRmwOp,
    CreateTdescOp,
    LoadOp,
    PrefetchOp,
    StoreOp,
    TensorDescType,
    UpdateOffsetOp,
)
from codegen.xe.passes.distribute.exchange import Exchange
from codegen.xe.passes.distribute.layout import (
    Axis,
    Layout,
)
from codegen.xe.passes.distribute.rule import (
    Known,
    Rule,
    refuse,
    said_by,
    shape_of,
    stated,
    vector_shape,
)
from codegen.xe.passes.distribute.work import (
    Parts,
    Work,
    conditional,
    part_type,
    plain_attributes,
    plain_properties,
)


def _with_chunk(layout: Layout, shape: Ints) -> Layout:
    """Return the layout of elements of this shape from that of their offsets: a chunk is not split."""
    return layout.with_axes((*layout.axes, *map(Axis.whole, shape[len(layout.axes) :])))


def _without_chunk(layout: Layout, shape: Ints, offsets_rank: int) -> Layout:
    """Return the layout of the offsets from that of elements of this shape."""
    for axis, extent in zip(layout.axes[offsets_rank:], shape[offsets_rank:], strict=True):
        if axis.needs(extent) or axis.data != extent:
            raise refuse("a layout that leaves chunks whole", f"{axis.count} * {axis.data} of {extent}")
    return layout.with_axes(layout.axes[:offsets_rank])


def _rank(op: Operation, source: SSAValue, offsets: SSAValue | None) -> int:
    """Return the number of dimensions of the offsets."""
    shape = shape_of(offsets) if offsets is not None else None
    if shape is not None:
        return len(shape)
    if isinstance(source.type, TensorDescType) and source.type.scatter is not None:
        return len(source.type.offsets_shape)
    raise refuse(f"a vector of offsets for {op.name} at work-group level", source.type)


def _swapped(layout: Layout, op: LoadOp | StoreOp) -> Layout:
    """Convert between the layout of elements by offset and that of a value whose columns are chunks."""
    return layout if op.transpose is None else layout.with_axes(tuple(reversed(layout.axes)))


def _of_value(op: LoadOp | StoreOp, value: SSAValue) -> Ints:
    shape = vector_shape(value)
    return shape if op.transpose is None else tuple(reversed(shape))


def _derive_create(op: CreateTdescOp, known: Known) -> Layout | None:
    kind = op.result.type
    said = said_by(kind.layout, op, kind.get_shape()) or stated(op, "layout_result_0", kind.get_shape())
    if said is not None or op.offsets is None or op.offsets not in known:
        return said
    return _with_chunk(known[op.offsets], kind.get_shape())


def _create_operands(op: CreateTdescOp, layout: Layout | None, known: Known) -> Sequence[Layout | None]:
    if op.offsets is None:
        raise refuse("a vector of offsets for create_tdesc at work-group level", "a list")
    needed = (
        None if layout is None else _without_chunk(layout, vector_shape(op.result), _rank(op, op.source, op.offsets))
    )
    return [None, needed]


def _lower_create(op: CreateTdescOp, work: Work) -> None:
    assert op.offsets is not None
    kind = part_type(op.result, work.layout(op.result).data)
    parts = [
        work.insert(CreateTdescOp(op.source, offsets, kind, plain_attributes(op))).result
        for offsets in work.parts[op.offsets]
    ]
    work.replace(op, parts)


def _derive_update(op: UpdateOffsetOp, known: Known) -> Layout | None:
    return known.get(op.desc)


def _update_operands(op: UpdateOffsetOp, layout: Layout | None, known: Known) -> Sequence[Layout | None]:
    if layout is None:
        return [None, None]
    return [layout, _without_chunk(layout, vector_shape(op.result), _rank(op, op.desc, op.offsets))]


def _lower_update(op: UpdateOffsetOp, work: Work) -> None:
    pairs = zip(work.parts[op.desc], work.parts[op.offsets], strict=True)
    work.replace(op, [work.insert(UpdateOffsetOp(desc, by, plain_attributes(op))).result for desc, by in pairs])


def _derive_load(op: LoadOp, known: Known) -> Layout | None:
    said = stated(op, "layout", vector_shape(op.result)) or stated(op, "layout_result_0", vector_shape(op.result))
    if said is not None:
        return said
    shape = _of_value(op, op.result)
    for value in (op.source, op.offsets, op.mask):
        if value is not None and value in known:
            return _swapped(_with_chunk(known[value], shape), op)
    return None


def _load_operands(op: LoadOp, layout: Layout | None, known: Known) -> Sequence[Layout | None]:
    return _access_operands(op, op.source, op.offsets, layout and _swapped(layout, op), _of_value(op, op.result))


def _access_operands(
    op: Operation, source: SSAValue, offsets: SSAValue | None, layout: Layout | None, shape: Ints
) -> list[Layout | None]:
    """Return the layout that each operand needs, from the layout of the elements in offset order."""
    if layout is None:
        return [None] * len(op.operands)
    of_offsets = _without_chunk(layout, shape, _rank(op, source, offsets))
    needed: list[Layout | None] = []
    for operand in op.operands:
        own = shape_of(operand)
        if own is None:
            needed.append(None)
        elif operand is source:
            needed.append(layout)
        else:
            needed.append(of_offsets if len(own) == len(of_offsets.axes) else layout)
    return needed


def _lower_load(op: LoadOp, work: Work) -> None:
    kind = part_type(op.result, work.layout(op.result).data)
    results: list[SSAValue] = []
    for block in range(len(work.blocks(op.result))):
        offsets = _block(work, op.offsets, block) if op.offsets is not None else None
        source, mask = _block(work, op.source, block), _block(work, op.mask, block)
        load = LoadOp(source, offsets, mask, kind, plain_properties(op))
        load.attributes.update(plain_attributes(op))
        results.append(work.insert(load).result)
    work.replace(op, results)


def _store_layout(op: StoreOp, known: Known) -> Layout | None:
    """Return the layout of the value of a store."""
    said = stated(op, "layout", vector_shape(op.value))
    if said is not None:
        return said
    if op.dest in known:
        return _swapped(known[op.dest], op)
    return known.get(op.value)


def _store_operands(op: StoreOp, layout: Layout | None, known: Known) -> Sequence[Layout | None]:
    work = _store_layout(op, known)
    needed = _access_operands(op, op.dest, op.offsets, work and _swapped(work, op), _of_value(op, op.value))
    return [work, *needed[1:]]


def _lower_store(op: StoreOp, work: Work) -> None:
    stores: list[Operation] = []
    for block, part in enumerate(work.parts[op.value]):
        offsets = _block(work, op.offsets, block) if op.offsets is not None else None
        dest, mask = _block(work, op.dest, block), _block(work, op.mask, block)
        store = StoreOp(part, dest, offsets, mask, plain_properties(op))
        store.attributes.update(plain_attributes(op))
        stores.append(store)
    conditional(work, work.is_first(work.layout(op.value), vector_shape(op.value), op), stores)
    work.dead.append(op)


def _prefetch_operands(op: PrefetchOp, layout: Layout | None, known: Known) -> Sequence[Layout | None]:
    leading = op.source if shape_of(op.source) is not None else op.offsets
    if leading is None or shape_of(leading) is None:
        raise refuse("a vector of offsets for prefetch at work-group level", op.source.type)
    needed = stated(op, "layout", vector_shape(leading)) or known.get(leading)
    return [needed if operand is leading else None for operand in op.operands]


def _lower_prefetch(op: PrefetchOp, work: Work) -> None:
    leading = op.source if op.source in work.parts else cast(SSAValue, op.offsets)
    for block in range(len(work.parts[leading])):
        offsets = _block(work, op.offsets, block) if op.offsets is not None else None
        prefetch = PrefetchOp(_block(work, op.source, block), offsets, plain_properties(op))
        prefetch.attributes.update(plain_attributes(op))
        work.insert(prefetch)
    work.dead.append(op)


def _derive_atomic(op: AtomicRmwOp, known: Known) -> Layout | None:
    said = stated(op, "layout", vector_shape(op.result)) or stated(op, "layout_result_0", vector_shape(op.result))
    return said or known.get(op.tensor_desc) or known.get(op.value)


def _atomic_operands(op: AtomicRmwOp, layout: Layout | None, known: Known) -> Sequence[Layout | None]:
    return _access_operands(op, op.tensor_desc, None, layout, vector_shape(op.result))


def _lower_atomic(op: AtomicRmwOp, work: Work) -> None:
    layout, shape = work.layout(op.result), vector_shape(op.result)
    first = work.is_first(layout, shape, op)
    results: list[SSAValue] = []
    for block in range(len(work.blocks(op.result))):
        mask = _block(work, op.mask, block)
        if first is not None:
            here = work.splat(first, cast(VectorType, mask.type).get_shape())
            mask = work.insert(arith.AndIOp(mask, here)).result
        properties = plain_properties(op, "kind")
        desc, value = _block(work, op.tensor_desc, block), _block(work, op.value, block)
        atomic = AtomicRmwOp(op.kind.data, desc, mask, value, properties)
        atomic.attributes.update(plain_attributes(op))
        results.append(work.insert(atomic).result)
    if first is not None and op.result.uses:
        results = _told(work, op, tuple(results), first)
    work.replace(op, results)


def _told(work: Work, op: AtomicRmwOp, parts: Parts, first: SSAValue) -> list[SSAValue]:
    """Share the old values, which only the first of the sharing sub-groups has, with all of them."""
    layout, shape = work.layout(op.result), vector_shape(op.result)
    exchange = Exchange(work, shape, cast(VectorType, op.result.type).element_type, op)
    places = [work.starts(layout, shape, rounds) for rounds in layout.blocks(shape)]
    exchange.write(zip(parts, places, strict=True), only=first)
    exchange.share()
    return [exchange.read(layout.data, place) for place in places]


def _block(work: Work, value: SSAValue, block: int) -> SSAValue:
    return work.parts[value][block] if value in work.parts else value


SCATTERED: dict[type[Operation], Rule] = {
    CreateTdescOp: Rule(_lower_create, derive=_derive_create, operands=_create_operands),
    UpdateOffsetOp: Rule(_lower_update, derive=_derive_update, operands=_update_operands),
    LoadOp: Rule(_lower_load, derive=_derive_load, operands=_load_operands),
    StoreOp: Rule(_lower_store, operands=_store_operands),
    PrefetchOp: Rule(_lower_prefetch, operands=_prefetch_operands),
    AtomicRmwOp: Rule(_lower_atomic, derive=_derive_atomic, operands=_atomic_operands),
}
