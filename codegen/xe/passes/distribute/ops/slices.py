"""Parts of vectors: extract_strided_slice, insert_strided_slice, extract, insert and shuffle."""

from collections.abc import Sequence

from xdsl.dialects.builtin import VectorType
from xdsl.dialects.vector import ExtractOp, InsertOp, ShuffleOp
from xdsl.ir import Operation, SSAValue

from codegen.xe.dialects.maps import Ints
from codegen.xe.dialects.upstream.vector_ops import (
    ExtractStridedSliceOp,
    InsertStridedSliceOp,
    integers,
)
from codegen.xe.passes.distribute import derive
from codegen.xe.passes.distribute.exchange import Exchange
from codegen.xe.passes.distribute.layout import (
    Axis,
    Layout,
)
from codegen.xe.passes.distribute.regroup import (
    layout_runs,
    regroup,
)
from codegen.xe.passes.distribute.rule import (
    Known,
    Rule,
    element_of,
    shape_of,
    stated,
    vector_shape,
)
from codegen.xe.passes.distribute.work import Work


def _offsets(op: ExtractStridedSliceOp) -> Ints:
    offsets = integers(op.offsets)
    return (*offsets, *(0,) * (len(vector_shape(op.source)) - len(offsets)))


def _derive_extract(op: ExtractStridedSliceOp, known: Known) -> Layout | None:
    said = stated(op, "layout_result_0", vector_shape(op.result))
    if said is not None or op.source not in known:
        return said
    return derive.slice_result(known[op.source], vector_shape(op.source), _offsets(op), vector_shape(op.result))


def _weak_extract(op: ExtractStridedSliceOp, known: Known) -> Layout | None:
    """Return the default layout: equal parts for all owners of the source, or all of it for all."""
    if op.source not in known:
        return None
    source, axes = known[op.source], list[Axis]()
    for axis, extent, size in zip(source.axes, vector_shape(op.source), vector_shape(op.result), strict=True):
        owners = axis.owners(extent)
        axes.append(Axis.whole(size) if size % owners else Axis(owners, size // owners, axis.stride))
    return source.with_axes(tuple(axes))


def _lower_extract(op: ExtractStridedSliceOp, work: Work) -> None:
    source, target, offsets = work.layout(op.source), work.layout(op.result), _offsets(op)
    shape, to = vector_shape(op.source), vector_shape(op.result)
    parts = work.parts[op.source]
    runs = layout_runs(source, shape, target, to, offsets, work.subgroups_at(op))
    if runs is not None:
        work.replace(op, regroup(work, parts, source, shape, target, runs))
        return
    exchange = Exchange(work, shape, element_of(op.source), op)
    exchange.write(zip(parts, (work.starts(source, shape, r) for r in source.blocks(shape)), strict=True))
    exchange.share()
    results: list[SSAValue] = []
    for rounds in target.blocks(to):
        starts = [work.add(s, o) for s, o in zip(work.starts(target, to, rounds), offsets, strict=True)]
        results.append(exchange.read(target.data, starts))
    work.replace(op, results)


def _derive_insert(op: InsertStridedSliceOp, known: Known) -> Layout | None:
    return stated(op, "layout_result_0", vector_shape(op.result)) or known.get(op.dest)


def _insert_operands(op: InsertStridedSliceOp, layout: Layout | None, known: Known) -> Sequence[Layout | None]:
    return [None, layout]


def _lower_insert(op: InsertStridedSliceOp, work: Work) -> None:
    """Insert after adding the leading dimensions of extent 1 that the source lacks."""
    target, to, offsets = work.layout(op.result), vector_shape(op.result), integers(op.offsets)
    shape = vector_shape(op.source)
    lead = (1,) * (len(to) - len(shape))
    source = work.layout(op.source)
    source, shape = source.with_axes((*map(Axis.whole, lead), *source.axes)), (*lead, *shape)
    parts = tuple(work.shape_cast(part, source.data) for part in work.parts[op.source])
    into = work.parts[op.dest]
    shifts = tuple(-o for o in offsets)
    runs = layout_runs(source, shape, target, to, shifts, work.subgroups_at(op))
    if runs is not None:
        work.replace(op, regroup(work, parts, source, shape, target, runs, into))
        return
    exchange = Exchange(work, to, element_of(op.result), op)
    exchange.write(zip(into, (work.starts(target, to, r) for r in target.blocks(to)), strict=True))
    exchange.share()
    places = [
        [work.add(s, o) for s, o in zip(work.starts(source, shape, rounds), offsets, strict=True)]
        for rounds in source.blocks(shape)
    ]
    exchange.write(zip(parts, places, strict=True))
    exchange.share()
    work.replace(op, [exchange.read(target.data, work.starts(target, to, r)) for r in target.blocks(to)])


def _derive_whole(op: ExtractOp | InsertOp | ShuffleOp, known: Known) -> Layout | None:
    shape = shape_of(op.results[0])
    return None if shape is None else Layout.whole(shape)


def _whole_operands(
    op: ExtractOp | InsertOp | ShuffleOp, layout: Layout | None, known: Known
) -> Sequence[Layout | None]:
    """Require the whole vector in every sub-group, since the position of an element is not distributed."""
    return [Layout.whole(shape) if (shape := shape_of(operand)) is not None else None for operand in op.operands]


def _lower_whole(op: ExtractOp | InsertOp | ShuffleOp, work: Work) -> None:
    operands = [work.parts[o][0] if o in work.parts else o for o in op.operands]
    types = [result.type for result in op.results]
    new = work.insert(type(op).create(operands=operands, result_types=types, properties=dict(op.properties)))
    if isinstance(op.results[0].type, VectorType):
        work.replace(op, [new.results[0]])
    else:
        op.results[0].replace_all_uses_with(new.results[0])
        work.dead.append(op)


SLICES: dict[type[Operation], Rule] = {
    ExtractStridedSliceOp: Rule(_lower_extract, derive=_derive_extract, weak=_weak_extract),
    InsertStridedSliceOp: Rule(_lower_insert, derive=_derive_insert, operands=_insert_operands),
    ExtractOp: Rule(_lower_whole, derive=_derive_whole, operands=_whole_operands),
    InsertOp: Rule(_lower_whole, derive=_derive_whole, operands=_whole_operands),
    ShuffleOp: Rule(_lower_whole, derive=_derive_whole, operands=_whole_operands),
}
