"""Integer arithmetic that MLIR or the target lacks: powers, and double-width results."""

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from codegen.xe.dialects.upstream.arith_casts import (
    ExtSIOp,
    ExtUIOp,
    TruncIOp,
)
from codegen.xe.dialects.upstream.arith_ops import (
    CmpiOp,
    SelectOp,
)
from codegen.xe.passes.lanes.emitter import (
    Emitter,
    bits_of,
    chunk_type,
    element_of,
    length_of,
)
from codegen.xe.passes.lanes.lowering import Lowering

_WIDEST = 32
Pair = tuple[SSAValue, SSAValue]


def power(lowering: Lowering, op: Operation, operands: Sequence[SSAValue]) -> SSAValue:
    """Compute by squaring. With negative exponents, only 1 and -1 have nonzero powers."""
    emitter, (base, exponent) = lowering.emitter, operands
    zero, one = (_all(emitter, number, base) for number in (0, 1))
    is_negative = emitter.value(CmpiOp(exponent, zero, "slt"))
    rest = emitter.value(SelectOp(is_negative, emitter.value(arith.SubiOp(zero, exponent)), exponent))
    result, square = one, base
    for _ in range(bits_of(element_of(base)) - 1):
        is_odd = emitter.value(CmpiOp(emitter.value(arith.AndIOp(rest, one)), zero, "ne"))
        result = emitter.value(SelectOp(is_odd, emitter.value(arith.MuliOp(result, square)), result))
        square = emitter.value(arith.MuliOp(square, square))
        rest = emitter.value(arith.ShRUIOp(rest, one))
    # base is 1 or -1 if base + 1 is 2 or 0.
    least = emitter.value(arith.AddiOp(base, one))
    is_unit = emitter.value(CmpiOp(least, _all(emitter, 2, base), "ule"))
    is_unit = emitter.value(arith.AndIOp(is_unit, emitter.value(CmpiOp(least, one, "ne"))))
    vanishes = emitter.value(arith.AndIOp(is_negative, emitter.value(arith.XOrIOp(is_unit, _truths(emitter, base)))))
    return emitter.value(SelectOp(vanishes, zero, result))


def _sum(emitter: Emitter, a: SSAValue, b: SSAValue) -> Pair:
    """Return the sum and the carry."""
    total = emitter.value(arith.AddiOp(a, b))
    return total, emitter.value(CmpiOp(total, a, "ult"))


def _product(extend: Callable[[SSAValue, Attribute], Operation]) -> Callable[[Emitter, SSAValue, SSAValue], Pair]:
    """Return a function that computes the low and the high half of a product."""

    def halves(emitter: Emitter, a: SSAValue, b: SSAValue) -> Pair:
        bits = bits_of(element_of(a))
        if bits > _WIDEST:
            raise PassFailedException(f"lower-to-lanes: expected products of at most {_WIDEST} bits, got {bits}")
        wide = chunk_type(IntegerType(2 * bits), length_of(a))
        product = emitter.value(arith.MuliOp(emitter.value(extend(a, wide)), emitter.value(extend(b, wide))))
        high = emitter.value(arith.ShRUIOp(product, _all(emitter, bits, product)))
        low, high = (emitter.value(TruncIOp(half, a.type)) for half in (product, high))
        return low, high

    return halves


def _all(emitter: Emitter, number: int, like: SSAValue) -> SSAValue:
    return emitter.splat(emitter.constant(number, element_of(like)), length_of(like))


def _truths(emitter: Emitter, like: SSAValue) -> SSAValue:
    return emitter.splat(emitter.constant(1, IntegerType(1)), length_of(like))


EXTENDED: Mapping[str, Callable[[Emitter, SSAValue, SSAValue], Pair]] = {
    "arith.addui_extended": _sum,
    "arith.mulsi_extended": _product(ExtSIOp),
    "arith.mului_extended": _product(ExtUIOp),
}
"""Operations with two results."""
