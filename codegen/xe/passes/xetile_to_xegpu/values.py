"""Helpers of the lowering: constants, sums and products of indices, replacement."""

from functools import cache

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
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.hints import isa

from codegen.xe.dialects import creation
from codegen.xe.dialects.cache_hint import (
    HINTS,
    CachePolicy,
    TileCacheHint,
    XeGPUCacheHint,
)
from codegen.xe.dialects.index_list import (
    Index,
    index,
)


def value_of(number: Index, where: InsertPoint) -> SSAValue:
    """Return an index as an SSA value."""
    if isinstance(number, SSAValue):
        return number
    constant = arith.ConstantOp(IntegerAttr(number, index))
    constant.result.name_hint = f"c{number}"
    Rewriter.insert_op(constant, where)
    return constant.result


def add(a: Index, b: Index, where: InsertPoint) -> Index:
    """Return a sum, folded if possible."""
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    if a == 0 or b == 0:
        return b if a == 0 else a
    return _insert(arith.AddiOp(value_of(a, where), value_of(b, where)), where)


def multiply(a: Index, b: Index, where: InsertPoint) -> Index:
    """Return a product, folded if possible."""
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    if a == 1 or b == 1:
        return b if a == 1 else a
    if a == 0 or b == 0:
        return 0
    return _insert(arith.MuliOp(value_of(a, where), value_of(b, where)), where)


def constant(kind: Attribute, number: float, where: InsertPoint) -> SSAValue:
    """Return a constant, or a vector of equal constants."""
    return _insert(arith.ConstantOp(_attribute(kind, number)), where)


def hints(op: Operation) -> dict[str, Attribute]:
    """Return the cache hints of an XeTile operation in XeGPU's form."""
    given = {name: op.properties[name] for name in HINTS if name in op.properties}
    return {name: _hint(hint.data) for name, hint in given.items() if isinstance(hint, TileCacheHint)}


@cache
def _hint(policy: CachePolicy) -> XeGPUCacheHint:
    return XeGPUCacheHint(policy)


def replace(old: Operation, *new: Operation) -> None:
    """Replace an operation by others; its results become those of the last, or one of each if there are many."""
    results = new[-1].results if len(old.results) == len(new[-1].results) else [op.results[0] for op in new]
    for before, after in zip(old.results, results, strict=True):
        after.name_hint = before.name_hint
    creation.replace(old, results, new)


def _insert(op: Operation, where: InsertPoint) -> SSAValue:
    Rewriter.insert_op(op, where)
    return op.results[0]


def _attribute(kind: Attribute, number: float) -> IntegerAttr | FloatAttr | DenseIntOrFPElementsAttr:
    if isa(kind, VectorType[AnyFloat]):
        return DenseIntOrFPElementsAttr.from_list(kind, [number])
    if isa(kind, VectorType[IntegerType]) or isa(kind, VectorType[IndexType]):
        return DenseIntOrFPElementsAttr.from_list(kind, [int(number)])
    if isinstance(kind, AnyFloat):
        return FloatAttr(number, kind)
    assert isinstance(kind, IntegerType | IndexType)
    return IntegerAttr(int(number), kind)
