"""dpas: each block of the result is the sum over the blocks of K that its sub-group owns."""

from collections.abc import Sequence
from math import prod

from xdsl.ir import Operation, SSAValue

from codegen.xe.dialects.maps import Ints
from codegen.xe.dialects.xegpu import DpasOp
from codegen.xe.passes.distribute import derive
from codegen.xe.passes.distribute.attributes import within_subgroup
from codegen.xe.passes.distribute.layout import Layout
from codegen.xe.passes.distribute.rule import (
    Known,
    Rule,
    layout_attribute,
    refuse,
    stated,
    vector_shape,
)
from codegen.xe.passes.distribute.work import (
    Work,
    part_type,
    plain_attributes,
)


def _derive(op: DpasOp, known: Known) -> Layout | None:
    if len(vector_shape(op.a)) != 2 or len(vector_shape(op.b)) != 2:
        raise refuse("a dpas of two dimensions at work-group level", f"{op.a.type} and {op.b.type}")
    said = stated(op, "layout_cd", vector_shape(op.d)) or stated(op, "layout_result_0", vector_shape(op.d))
    if said is not None:
        return said
    if op.c is not None and op.c in known:
        return known[op.c]
    a = known.get(op.a) or stated(op, "layout_a", vector_shape(op.a))
    b = known.get(op.b) or stated(op, "layout_b", vector_shape(op.b))
    if a is None or b is None:
        return None
    result, subgroups = derive.dpas_result(a, b), prod(axis.count for axis in a.axes)
    # Of A and B that are dealt by the same digits of a sub-group's number, some rows and columns never meet.
    return result if result.fault(vector_shape(op.d), subgroups) is None else None


def _operands(op: DpasOp, layout: Layout | None, known: Known) -> Sequence[Layout | None]:
    if layout is None:
        return [stated(op, "layout_a", vector_shape(op.a)), stated(op, "layout_b", vector_shape(op.b)), None][
            : len(op.operands)
        ]
    a, b = derive.dpas_operands(layout, vector_shape(op.a)[1], _k_data(op, known))
    return [a, b, layout][: len(op.operands)]


def _k_data(op: DpasOp, known: Known) -> int:
    """Return the blocks of K: those of the operands, if every sub-group owns all of K of both in equal blocks."""
    depth = vector_shape(op.a)[1]
    a = known.get(op.a) or stated(op, "layout_a", vector_shape(op.a))
    b = known.get(op.b) or stated(op, "layout_b", vector_shape(op.b))
    if a is None or b is None:
        return depth
    of_a, of_b = a.axes[1], b.axes[0]
    whole = not of_a.needs(depth) and not of_b.needs(depth)
    return of_a.data if whole and of_a.data == of_b.data else depth


def _lower(op: DpasOp, work: Work) -> None:
    a, b = _by_rounds(work, op.a), _by_rounds(work, op.b)
    k_blocks = work.layout(op.a).rounds(vector_shape(op.a))[1]
    properties = {
        name: layout
        for name in ("layout_a", "layout_b", "layout_cd")
        if (layout := within_subgroup(layout_attribute(op, name))) is not None
    }
    kind = part_type(op.d, work.layout(op.d).data)
    parts: list[SSAValue] = []
    for number, (m, n) in enumerate(work.blocks(op.d)):
        total = work.parts[op.c][number] if op.c is not None else None
        for k in range(k_blocks):
            product = DpasOp(a[m, k], b[k, n], total, kind, dict(properties))
            product.attributes.update(plain_attributes(op))
            total = work.insert(product).d
        assert total is not None
        parts.append(total)
    work.replace(op, parts)


def _by_rounds(work: Work, value: SSAValue) -> dict[Ints, SSAValue]:
    return dict(zip(work.blocks(value), work.parts[value], strict=True))


PRODUCTS: dict[type[Operation], Rule] = {DpasOp: Rule(_lower, derive=_derive, operands=_operands)}
