"""Operations on dimensions: transpose, shape_cast, bitcast, broadcast. Each works block by block."""

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import FixedBitwidthType, VectorType
from xdsl.dialects.vector import BitcastOp, BroadcastOp
from xdsl.ir import Operation, SSAValue

from codegen.xe.dialects.upstream.vector_ops import (
    ShapeCastOp,
    TransposeOp,
)
from codegen.xe.passes.distribute import derive
from codegen.xe.passes.distribute.layout import (
    Axis,
    Layout,
)
from codegen.xe.passes.distribute.ops.conversions import converted
from codegen.xe.passes.distribute.rule import (
    Known,
    Rule,
    shape_of,
    stated,
    vector_shape,
)
from codegen.xe.passes.distribute.work import (
    Work,
    part_type,
)


def _said(op: Operation) -> Layout | None:
    return stated(op, "layout_result_0", vector_shape(op.results[0]))


def _derive_transpose(op: TransposeOp, known: Known) -> Layout | None:
    said = _said(op)
    if said is not None or op.vector not in known:
        return said
    return derive.transpose_result(known[op.vector], op.dims)


def _transpose_operands(op: TransposeOp, layout: Layout | None, known: Known) -> Sequence[Layout | None]:
    return [None if layout is None else derive.transpose_source(layout, op.dims)]


def _lower_transpose(op: TransposeOp, work: Work) -> None:
    blocks = dict(zip(work.blocks(op.vector), work.parts[op.vector], strict=True))
    parts: list[SSAValue] = []
    for rounds in work.blocks(op.result):
        source = tuple(rounds[op.dims.index(i)] for i in range(len(rounds)))
        parts.append(work.insert(TransposeOp(blocks[source], op.dims)).result)
    work.replace(op, parts)


def _derive_shape_cast(op: ShapeCastOp, known: Known) -> Layout | None:
    shape, to = vector_shape(op.source), vector_shape(op.result)
    said = _said(op)
    if said is not None and derive.shape_cast(said, to, shape) is not None:
        return said
    if op.source not in known:
        return None
    source = known[op.source]
    return derive.shape_cast(source, shape, to) or derive.shape_cast(derive.mergeable(source, shape, to), shape, to)


def _shape_cast_operands(op: ShapeCastOp, layout: Layout | None, known: Known) -> Sequence[Layout | None]:
    if layout is None:
        return [None]
    shape, to = vector_shape(op.source), vector_shape(op.result)
    source = known.get(op.source)
    if source is not None:
        for candidate in (source, derive.mergeable(source, shape, to)):
            cast_to = derive.shape_cast(candidate, shape, to)
            if cast_to is not None and cast_to.same_as(layout, to):
                return [candidate]
    followed = derive.shape_cast(layout, to, shape)
    return [derive.mergeable(source, shape, to) if followed is None and source is not None else followed]


def _lower_shape_cast(op: ShapeCastOp, work: Work) -> None:
    """Cast block by block, and convert if no layout of the source keeps every block in place."""
    shape, to = vector_shape(op.source), vector_shape(op.result)
    layout = derive.shape_cast(work.layout(op.source), shape, to)
    assert layout is not None  # the operand's
    parts = tuple(work.shape_cast(part, layout.data) for part in work.parts[op.source])
    work.replace(op, converted(work, op, parts, layout, work.layout(op.result), to))


def _bits(op: BitcastOp) -> tuple[int, int]:
    kinds = (cast(VectorType, v.type).element_type for v in (op.source, op.result))
    source, result = (cast(FixedBitwidthType, kind).bitwidth for kind in kinds)
    return source, result


def _bitcast_source(op: BitcastOp, layout: Layout) -> Layout:
    """Return a layout near `layout` in which no block splits an element of the result."""
    if derive.bitcast(layout, *_bits(op)) is not None:
        return layout
    *outer, _ = layout.axes
    return layout.with_axes((*outer, Axis.whole(vector_shape(op.source)[-1])))


def _derive_bitcast(op: BitcastOp, known: Known) -> Layout | None:
    source, result = _bits(op)
    said = _said(op)
    if said is not None and derive.bitcast(said, result, source) is not None:
        return said
    if op.source not in known:
        return None
    return derive.bitcast(_bitcast_source(op, known[op.source]), source, result)


def _bitcast_operands(op: BitcastOp, layout: Layout | None, known: Known) -> Sequence[Layout | None]:
    if layout is None:
        return [None]
    source, result = _bits(op)
    followed, came = derive.bitcast(layout, result, source), known.get(op.source)
    return [_bitcast_source(op, came) if followed is None and came is not None else followed]


def _lower_bitcast(op: BitcastOp, work: Work) -> None:
    """Cast block by block, and convert if blocks of the result split elements of the source."""
    layout = derive.bitcast(work.layout(op.source), *_bits(op))
    assert layout is not None  # the operand's
    kind = part_type(op.result, layout.data)
    parts = tuple(work.insert(BitcastOp(part, kind)).result for part in work.parts[op.source])
    work.replace(op, converted(work, op, parts, layout, work.layout(op.result), vector_shape(op.result)))


def _derive_broadcast(op: BroadcastOp, known: Known) -> Layout | None:
    return _said(op)


def _weak_broadcast(op: BroadcastOp, known: Known) -> Layout | None:
    if op.source not in known:
        return None
    return derive.broadcast_result(known[op.source], vector_shape(op.source), vector_shape(op.vector))


def _broadcast_operands(op: BroadcastOp, layout: Layout | None, known: Known) -> Sequence[Layout | None]:
    shape = shape_of(op.source)
    if layout is None or shape is None:
        return [None]
    return [derive.broadcast_source(layout, shape, vector_shape(op.vector))]


def _lower_broadcast(op: BroadcastOp, work: Work) -> None:
    layout = work.layout(op.vector)
    kind = cast(VectorType, part_type(op.vector, layout.data))
    if op.source not in work.parts:
        part = work.insert(BroadcastOp(op.source, kind)).vector
        work.replace(op, [part] * len(work.blocks(op.vector)))
        return
    shape = vector_shape(op.source)
    lead = len(layout.axes) - len(shape)
    counts = work.layout(op.source).rounds(shape)
    blocks = dict(zip(work.blocks(op.source), work.parts[op.source], strict=True))
    parts: list[SSAValue] = []
    for rounds in work.blocks(op.vector):
        source = tuple(r if count > 1 else 0 for r, count in zip(rounds[lead:], counts, strict=True))
        parts.append(work.insert(BroadcastOp(blocks[source], kind)).vector)
    work.replace(op, parts)


SHAPES: dict[type[Operation], Rule] = {
    TransposeOp: Rule(_lower_transpose, derive=_derive_transpose, operands=_transpose_operands, recomputed=True),
    ShapeCastOp: Rule(_lower_shape_cast, derive=_derive_shape_cast, operands=_shape_cast_operands, recomputed=True),
    BitcastOp: Rule(_lower_bitcast, derive=_derive_bitcast, operands=_bitcast_operands, recomputed=True),
    BroadcastOp: Rule(
        _lower_broadcast,
        derive=_derive_broadcast,
        weak=_weak_broadcast,
        operands=_broadcast_operands,
        recomputed=True,
    ),
}
