"""Reductions: within each sub-group, then across those that share a reduced dimension, in the order of their parts.

The partial results are exchanged in shared local memory; every sub-group that has a part gets the same
result.
"""

from collections.abc import Sequence
from math import prod
from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    VectorType,
)
from xdsl.dialects.vector import BroadcastOp, CombiningKindFlag, ExtractOp, ReductionOp
from xdsl.ir import Attribute, Operation, SSAValue

from codegen.xe.dialects.index_list import Index
from codegen.xe.dialects.maps import Ints
from codegen.xe.dialects.upstream.vector_ops import MultiReductionOp
from codegen.xe.passes.distribute import derive
from codegen.xe.passes.distribute.exchange import Exchange
from codegen.xe.passes.distribute.layout import Layout
from codegen.xe.passes.distribute.rule import (
    Known,
    Rule,
    element_of,
    shape_of,
    stated,
    vector_shape,
)
from codegen.xe.passes.distribute.work import Work

Reduction = MultiReductionOp | ReductionOp

_COMBINE: dict[CombiningKindFlag, tuple[type[Operation], type[Operation]]] = {
    CombiningKindFlag.ADD: (arith.AddiOp, arith.AddfOp),
    CombiningKindFlag.MUL: (arith.MuliOp, arith.MulfOp),
    CombiningKindFlag.MINSI: (arith.MinSIOp, arith.MinSIOp),
    CombiningKindFlag.MINUI: (arith.MinUIOp, arith.MinUIOp),
    CombiningKindFlag.MAXSI: (arith.MaxSIOp, arith.MaxSIOp),
    CombiningKindFlag.MAXUI: (arith.MaxUIOp, arith.MaxUIOp),
    CombiningKindFlag.AND: (arith.AndIOp, arith.AndIOp),
    CombiningKindFlag.OR: (arith.OrIOp, arith.OrIOp),
    CombiningKindFlag.XOR: (arith.XOrIOp, arith.XOrIOp),
    CombiningKindFlag.MINNUMF: (arith.MinnumfOp, arith.MinnumfOp),
    CombiningKindFlag.MAXNUMF: (arith.MaxnumfOp, arith.MaxnumfOp),
    CombiningKindFlag.MINIMUMF: (arith.MinimumfOp, arith.MinimumfOp),
    CombiningKindFlag.MAXIMUMF: (arith.MaximumfOp, arith.MaximumfOp),
}


def _dims(op: Reduction) -> Ints:
    return op.dims if isinstance(op, MultiReductionOp) else (0,)


def _source(op: Reduction) -> SSAValue:
    return op.source if isinstance(op, MultiReductionOp) else op.vector


def _derive(op: Reduction, known: Known) -> Layout | None:
    shape = shape_of(op.dest)
    if shape is None:
        return None
    source = known.get(_source(op))
    if source is not None:
        return derive.reduction_result(source, _dims(op))
    return stated(op, "layout_result_0", shape)


def _operands(op: Reduction, layout: Layout | None, known: Known) -> Sequence[Layout | None]:
    needed: list[Layout | None] = [None] * len(op.operands)
    if layout is not None:
        source = _source(op)
        if source not in known:
            needed[0] = derive.reduction_source(layout, vector_shape(source), _dims(op))
        needed[1] = layout
    return needed


def _lower(op: Reduction, work: Work) -> None:
    source, dims = _source(op), _dims(op)
    layout, shape = work.layout(source), vector_shape(source)
    kept = tuple(i for i in range(len(shape)) if i not in dims)
    own = _own_parts(op, work, kept)
    sharing = [i for i in dims if layout.axes[i].needs(shape[i])]
    if sharing:
        own = _across(op, work, own, kept, sharing)
    if op.acc is not None:
        accs = work.parts.get(op.acc, (op.acc,))
        own = [_combine(work, op, acc, part) for acc, part in zip(accs, own, strict=True)]
    if shape_of(op.dest) is None:
        op.dest.replace_all_uses_with(own[0])
        work.dead.append(op)
    else:
        work.replace(op, own)


def _own_parts(op: Reduction, work: Work, kept: Ints) -> list[SSAValue]:
    """Reduce the sub-group's own parts over their rounds, for each block of the result."""
    source = _source(op)
    blocks: dict[Ints, list[SSAValue]] = {}
    for rounds, part in zip(work.blocks(source), work.parts[source], strict=True):
        blocks.setdefault(tuple(rounds[i] for i in kept), []).append(part)
    results: list[SSAValue] = []
    for parts in blocks.values():
        whole = parts[0]
        for part in parts[1:]:
            whole = _combine(work, op, whole, part)
        data = work.layout(source).data
        acc = _neutral(work, op, tuple(data[i] for i in kept))
        results.append(work.insert(MultiReductionOp(op.kind, whole, acc, _dims(op))).dest)
    return results


def _across(op: Reduction, work: Work, own: list[SSAValue], kept: Ints, sharing: list[int]) -> list[SSAValue]:
    """Combine the partial results of sub-groups that share the reduced dimensions."""
    source = _source(op)
    layout, shape, element = work.layout(source), vector_shape(source), element_of(source)
    counts = [layout.axes[i].owners(shape[i]) for i in sharing]
    which: Index = 0
    for i, count in zip(sharing, counts, strict=True):
        which = work.add(work.multiply(which, count), work.coordinate(layout.axes[i], shape[i], layout.first))
    to = tuple(shape[i] for i in kept) or (1,)
    result = derive.reduction_result(layout, _dims(op)) if kept else Layout.whole((1,))
    exchange = Exchange(work, (prod(counts), *to), element, op)
    places = [work.starts(result, to, rounds) for rounds in result.blocks(to)]
    one = (1, *result.data)
    written = [_one(work, part, one) for part in own]
    exchange.write((part, [which, *place]) for part, place in zip(written, places, strict=True))
    exchange.share()
    results: list[SSAValue] = []
    for place in places:
        read = [exchange.read(one, [number, *place]) for number in range(prod(counts))]
        whole = read[0]
        for part in read[1:]:
            whole = _combine(work, op, whole, part)
        flat = work.shape_cast(whole, result.data)
        results.append(flat if kept else work.insert(ExtractOp(flat, [0], element)).result)
    return results


def _one(work: Work, part: SSAValue, shape: Ints) -> SSAValue:
    """Add a leading dimension of extent 1 to a part."""
    if isinstance(part.type, VectorType):
        return work.shape_cast(part, shape)
    return work.insert(BroadcastOp(part, VectorType(part.type, shape))).vector


def _combine(work: Work, op: Reduction, left: SSAValue, right: SSAValue) -> SSAValue:
    kind = _COMBINE[op.kind.data][isinstance(element_of(_source(op)), AnyFloat)]
    return work.insert(cast(Any, kind)(left, right)).results[0]


def _neutral(work: Work, op: Reduction, shape: Ints) -> SSAValue:
    """Return the neutral element."""
    element = element_of(_source(op))
    number = _neutral_number(op.kind.data, element)
    if not shape:
        attribute: Attribute = (
            FloatAttr(number, element)
            if isinstance(element, AnyFloat)
            else IntegerAttr(int(number), cast(IntegerType, element))
        )
        return work.insert(arith.ConstantOp(cast(Any, attribute))).result
    kind = VectorType(element, shape)
    value: Any = number if isinstance(element, AnyFloat) else int(number)
    return work.insert(arith.ConstantOp(DenseIntOrFPElementsAttr.from_list(cast(Any, kind), [value]))).result


def _neutral_number(kind: CombiningKindFlag, element: Attribute) -> float:
    if isinstance(element, AnyFloat):
        infinity = float("inf")
        return {
            CombiningKindFlag.ADD: -0.0,
            CombiningKindFlag.MUL: 1.0,
            CombiningKindFlag.MINNUMF: infinity,
            CombiningKindFlag.MINIMUMF: infinity,
            CombiningKindFlag.MAXNUMF: -infinity,
            CombiningKindFlag.MAXIMUMF: -infinity,
        }[kind]
    bits = 64 if isinstance(element, IndexType) else cast(IntegerType, element).bitwidth
    return {
        CombiningKindFlag.ADD: 0,
        CombiningKindFlag.MUL: 1,
        CombiningKindFlag.MINSI: 2 ** (bits - 1) - 1,
        CombiningKindFlag.MINUI: -1,
        CombiningKindFlag.MAXSI: -(2 ** (bits - 1)),
        CombiningKindFlag.MAXUI: 0,
        CombiningKindFlag.AND: -1,
        CombiningKindFlag.OR: 0,
        CombiningKindFlag.XOR: 0,
    }[kind]


REDUCTIONS: dict[type[Operation], Rule] = {
    MultiReductionOp: Rule(_lower, derive=_derive, operands=_operands),
    ReductionOp: Rule(_lower, derive=_derive, operands=_operands),
}
