"""Expands operations that others express: each becomes a few of arith, vector, gpu, scf or XeGPU."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.builder import Builder
from xdsl.dialects import arith, scf, vector
from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerAttr, VectorType, i32
from xdsl.dialects.vector import BroadcastOp, ExtractOp, FMAOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineSymExpr,
)
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import PassFailedException

from codegen.xe.dialects import gpu
from codegen.xe.dialects.kernel_attributes import WORK_ITEMS
from codegen.xe.dialects.kinds import ReductionKind
from codegen.xe.dialects.upstream.affine_ops import ApplyOp
from codegen.xe.dialects.upstream.arith_ops import CmpiOp, SelectOp
from codegen.xe.dialects.upstream.math_ops import ClampfOp
from codegen.xe.dialects.upstream.vector_gather import GatherOp, ScatterOp
from codegen.xe.dialects.upstream.vector_ops import (
    ExtractStridedSliceOp,
    FromElementsOp,
    InsertStridedSliceOp,
    ShapeCastOp,
)
from codegen.xe.dialects.upstream.vector_products import DeinterleaveOp, InterleaveOp, OuterProductOp
from codegen.xe.locations import Rewriting
from codegen.xe.passes.forms import vector_memory
from codegen.xe.subgroup import subgroup_size

Expansion = Callable[[Builder, Any], Sequence[SSAValue]]
"""Builds other operations; returns the new results."""


def expand_ops(module: gpu.ModuleOp) -> None:
    """Expand the operations of a gpu.module that have an expansion.

    Raises:
        PassFailedException: an operation is of a form that has none.
    """
    for op in list(module.walk()):
        expansion = EXPANSIONS.get(type(op))
        if expansion is not None and not _is_memory_of_work_items(op):
            with Rewriting(op):
                _replace(op, expansion(Builder(InsertPoint.before(op)), op))


def _is_memory_of_work_items(op: Operation) -> bool:
    """True for a vector in memory at a place of a work-item's own, which is no block of its sub-group."""
    if not isinstance(op, vector.LoadOp | vector.StoreOp):
        return False
    function = op.parent_op()
    while function is not None and not isinstance(function, gpu.FuncOp):
        function = function.parent_op()
    return function is not None and WORK_ITEMS in function.attributes


def _replace(op: Operation, results: Sequence[SSAValue]) -> None:
    """Replace an operation; what makes its results has its attributes, layouts for example."""
    for old, new in zip(op.results, results, strict=True):
        new.name_hint = old.name_hint
        if isinstance(new.owner, Operation):
            new.owner.attributes.update(op.attributes)
    Rewriter.replace_op(op, [], list(results))


def _clamp(to: Builder, op: ClampfOp) -> Sequence[SSAValue]:
    least = to.insert(arith.MinimumfOp(op.value, op.max))
    return to.insert(arith.MaximumfOp(least, op.min)).results


def _interleave(to: Builder, op: InterleaveOp) -> Sequence[SSAValue]:
    """Insert both as columns of pairs, which in memory order are the elements in turn."""
    pairs: SSAValue = _splat(to, op.lhs, 2)
    column = to.insert(ShapeCastOp(op.rhs, _with_last(op.rhs, 1))).result
    rank = len(op.result.type.get_shape())
    pairs = to.insert(InsertStridedSliceOp(column, pairs, [*(0,) * rank, 1])).result
    return to.insert(ShapeCastOp(pairs, op.result.type)).results


def _splat(to: Builder, vector: SSAValue, times: int) -> SSAValue:
    """Return a vector with a further dimension along which it repeats."""
    column = to.insert(ShapeCastOp(vector, _with_last(vector, 1))).result
    return to.insert(BroadcastOp(column, _with_last(vector, times))).vector


def _with_last(vector: SSAValue, extent: int) -> VectorType:
    assert isinstance(vector.type, VectorType)
    return VectorType(vector.type.element_type, (*vector.type.get_shape(), extent))


def _deinterleave(to: Builder, op: DeinterleaveOp) -> Sequence[SSAValue]:
    shape = op.res1.type.get_shape()
    pairs = to.insert(ShapeCastOp(op.source, _with_last(op.res1, 2))).result
    halves: list[SSAValue] = []
    for half in range(2):
        column = to.insert(ExtractStridedSliceOp(pairs, [*(0,) * len(shape), half], [*shape, 1])).result
        halves.append(to.insert(ShapeCastOp(column, op.res1.type)).result)
    return halves


def _outer_product(to: Builder, op: OuterProductOp) -> Sequence[SSAValue]:
    type_, element = op.result.type, op.result.type.element_type
    lhs: SSAValue = op.lhs
    if isinstance(op.rhs.type, VectorType):
        lhs = _splat(to, op.lhs, op.rhs.type.get_shape()[0])
    rhs = to.insert(BroadcastOp(op.rhs, type_)).vector
    if op.acc is not None and op.combining == "add" and isinstance(element, AnyFloat):
        return to.insert(FMAOp.create(operands=[lhs, rhs, op.acc], result_types=[type_])).results
    product = to.insert((arith.MulfOp if isinstance(element, AnyFloat) else arith.MuliOp)(lhs, rhs)).result
    if op.acc is None:
        return (product,)
    return (_combined(to, ReductionKind(op.combining), product, op.acc),)


_COMBINE: Mapping[ReductionKind, Callable[[SSAValue, SSAValue], Operation]] = {
    ReductionKind.MINSI: arith.MinSIOp,
    ReductionKind.MINUI: arith.MinUIOp,
    ReductionKind.MAXSI: arith.MaxSIOp,
    ReductionKind.MAXUI: arith.MaxUIOp,
    ReductionKind.AND: arith.AndIOp,
    ReductionKind.OR: arith.OrIOp,
    ReductionKind.XOR: arith.XOrIOp,
    ReductionKind.MINNUMF: arith.MinnumfOp,
    ReductionKind.MAXNUMF: arith.MaxnumfOp,
    ReductionKind.MINIMUMF: arith.MinimumfOp,
    ReductionKind.MAXIMUMF: arith.MaximumfOp,
}


def _combined(to: Builder, kind: ReductionKind, a: SSAValue, b: SSAValue) -> SSAValue:
    element = a.type.element_type if isinstance(a.type, VectorType) else a.type
    floats = isinstance(element, AnyFloat)
    combine = _COMBINE.get(kind)
    if combine is None:
        add, multiply = (arith.AddfOp, arith.MulfOp) if floats else (arith.AddiOp, arith.MuliOp)
        combine = add if kind is ReductionKind.ADD else multiply
    return to.insert(combine(a, b)).results[0]


def _subgroup_reduce(to: Builder, op: gpu.SubgroupReduceOp) -> Sequence[SSAValue]:
    """Combine with work-items at growing distances, so that all have the result."""
    size, stride = op.cluster
    reach = (size or subgroup_size()) * stride
    if reach > subgroup_size():
        raise PassFailedException(
            f"rewrite-forms: gpu.subgroup_reduce: expected a cluster within {subgroup_size()} work-items, "
            f"got {size} of them with stride {stride}"
        )
    if not isinstance(op.value.type, VectorType):
        return (_reduced(to, op.kind, op.value, stride, reach),)
    (count,) = op.value.type.get_shape()
    elements = [to.insert(ExtractOp(op.value, [i], op.element)).result for i in range(count)]
    reduced = [_reduced(to, op.kind, element, stride, reach) for element in elements]
    return to.insert(FromElementsOp(reduced, op.value.type)).results


def _reduced(to: Builder, kind: ReductionKind, value: SSAValue, stride: int, reach: int) -> SSAValue:
    width = to.insert(arith.ConstantOp(IntegerAttr(subgroup_size(), i32))).result
    while stride < reach:
        distance = to.insert(arith.ConstantOp(IntegerAttr(stride, i32))).result
        other = to.insert(gpu.ShuffleOp(gpu.ShuffleMode.XOR, value, distance, width)).shuffle_result
        value = _combined(to, kind, value, other)
        stride *= 2
    return value


def _apply(to: Builder, op: ApplyOp) -> Sequence[SSAValue]:
    operands, dims = tuple(op.mapOperands), op.map.data.num_dims
    return (_affine(to, op.map.data.results[0], operands[:dims], operands[dims:]),)


def _affine(to: Builder, expression: AffineExpr, dims: Sequence[SSAValue], symbols: Sequence[SSAValue]) -> SSAValue:
    match expression:
        case AffineConstantExpr():
            return _index(to, expression.value)
        case AffineDimExpr():
            return dims[expression.position]
        case AffineBinaryOpExpr():
            lhs, rhs = (_affine(to, side, dims, symbols) for side in (expression.lhs, expression.rhs))
            return _AFFINE[expression.kind](to, lhs, rhs)
        case AffineSymExpr():
            return symbols[expression.position]
        case _:
            raise PassFailedException(f"rewrite-forms: affine.apply: expected an affine expression, got {expression}")


def _modulo(to: Builder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """Return the remainder of division rounded down, which is never negative."""
    rest = to.insert(arith.RemSIOp(lhs, rhs)).result
    below = to.insert(CmpiOp(rest, _index(to, 0), "slt")).result
    return to.insert(SelectOp(below, to.insert(arith.AddiOp(rest, rhs)).result, rest)).result


def _index(to: Builder, number: int) -> SSAValue:
    return to.insert(arith.ConstantOp(IntegerAttr(number, IndexType()))).result


_AFFINE: Mapping[AffineBinaryOpKind, Callable[[Builder, SSAValue, SSAValue], SSAValue]] = {
    AffineBinaryOpKind.Add: lambda to, a, b: to.insert(arith.AddiOp(a, b)).result,
    AffineBinaryOpKind.Mul: lambda to, a, b: to.insert(arith.MuliOp(a, b)).result,
    AffineBinaryOpKind.FloorDiv: lambda to, a, b: to.insert(arith.FloorDivSIOp(a, b)).result,
    AffineBinaryOpKind.CeilDiv: lambda to, a, b: to.insert(arith.CeilDivSIOp(a, b)).result,
    AffineBinaryOpKind.Mod: _modulo,
}


def _switch(to: Builder, op: scf.IndexSwitchOp) -> Sequence[SSAValue]:
    """Compare with one case after the other."""
    types = list(op.result_types)
    otherwise, *regions = [op.detach_region(region) for region in (op.default_region, *op.case_regions)]
    cases = list(zip(op.cases.get_values(), regions, strict=True))
    for number, region in reversed(cases):
        block = Block()
        inner = Builder(InsertPoint.at_end(block))
        is_case = inner.insert(CmpiOp(op.arg, _index(inner, number), "eq")).result
        chosen = inner.insert(scf.IfOp(is_case, types, region, otherwise))
        inner.insert(scf.YieldOp(*chosen.results))
        otherwise = Region(block)
    results: Sequence[SSAValue] = ()
    for inside in list(otherwise.block.ops):
        inside.detach()
        if isinstance(inside, scf.YieldOp):
            results = tuple(inside.operands)
        else:
            to.insert(inside)
    return results


EXPANSIONS: Mapping[type[Operation], Expansion] = {
    ApplyOp: _apply,
    ClampfOp: _clamp,
    DeinterleaveOp: _deinterleave,
    InterleaveOp: _interleave,
    OuterProductOp: _outer_product,
    gpu.SubgroupReduceOp: _subgroup_reduce,
    scf.IndexSwitchOp: _switch,
    GatherOp: vector_memory.gather,
    ScatterOp: vector_memory.scatter,
    vector.LoadOp: vector_memory.load,
    vector.StoreOp: vector_memory.store,
}
