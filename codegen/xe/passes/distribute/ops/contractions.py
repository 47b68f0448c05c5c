"""vector.contract: each sub-group owns whole reduction dimensions, so each block of the result is one contraction."""

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap

from codegen.xe.dialects.maps import Ints
from codegen.xe.dialects.upstream.contract import ContractOp
from codegen.xe.passes.distribute.layout import (
    Axis,
    Layout,
)
from codegen.xe.passes.distribute.rule import (
    Known,
    Rule,
    refuse,
    stated,
    vector_shape,
)
from codegen.xe.passes.distribute.work import (
    Work,
    plain_attributes,
)


def _dims(map_: AffineMap) -> Ints:
    """Return the iteration dimension of each dimension of an operand."""
    dims = tuple(e.position for e in map_.results if isinstance(e, AffineDimExpr))
    if len(dims) < len(map_.results):
        raise refuse("maps of plain dimensions in vector.contract", map_)
    return dims


def _derive(op: ContractOp, known: Known) -> Layout | None:
    return stated(op, "layout_result_0", vector_shape(op.result)) or known.get(op.acc)


def _weak(op: ContractOp, known: Known) -> Layout | None:
    """Return the default layout: the result's dimensions in lhs as there, the others whole."""
    if op.lhs not in known:
        return None
    axes = dict(zip(_dims(op.maps[0]), known[op.lhs].axes, strict=True))
    shape = zip(_dims(op.maps[-1]), vector_shape(op.result), strict=True)
    return known[op.lhs].with_axes(tuple(axes.get(d, Axis.whole(extent)) for d, extent in shape))


def _operands(op: ContractOp, layout: Layout | None, known: Known) -> Sequence[Layout | None]:
    if layout is None:
        return [None] * len(op.operands)
    axes = dict(zip(_dims(op.maps[-1]), layout.axes, strict=True))
    needs = [
        layout.with_axes(
            tuple(axes.get(d, Axis.whole(extent)) for d, extent in zip(_dims(m), vector_shape(value), strict=True))
        )
        for value, m in zip((op.lhs, op.rhs), op.maps, strict=False)
    ]
    return [*needs, layout]


def _lower(op: ContractOp, work: Work) -> None:
    factors = [dict(zip(work.blocks(v), work.parts[v], strict=True)) for v in (op.lhs, op.rhs)]
    parts: list[SSAValue] = []
    for rounds, acc in zip(work.blocks(op.result), work.parts[op.acc], strict=True):
        at = dict(zip(_dims(op.maps[-1]), rounds, strict=True))
        lhs, rhs = (b[tuple(at.get(d, 0) for d in _dims(m))] for b, m in zip(factors, op.maps, strict=False))
        part = ContractOp.create(
            operands=[lhs, rhs, acc],
            result_types=[acc.type],
            properties=dict(op.properties),
            attributes=plain_attributes(op),
        )
        parts.append(work.insert(part).results[0])
    work.replace(op, parts)


CONTRACTIONS: dict[type[Operation], Rule] = {ContractOp: Rule(_lower, derive=_derive, weak=_weak, operands=_operands)}
