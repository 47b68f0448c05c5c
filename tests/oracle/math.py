"""The meaning of math's operations: floats are computed in float64 and rounded once."""

import math
from collections.abc import Callable

import numpy as np
from xdsl.ir import Operation

from tests.oracle.elements import (
    Array,
    as_signed,
    as_unsigned,
)
from tests.oracle.frame import (
    Frame,
    name_of,
)
from tests.oracle.registry import rule

_Unary = Callable[[Array], Array]


def _elementwise(function: Callable[[float], float]) -> _Unary:
    return np.vectorize(function, otypes=[np.float64])


def _away_from_zero(x: Array) -> Array:
    return np.copysign(np.where(np.abs(x) < 2.0**52, np.floor(np.abs(x) + 0.5), np.abs(x)), x)


_UNARY: dict[str, _Unary] = {
    "absf": np.abs,
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atanh": np.arctanh,
    "cbrt": np.cbrt,
    "ceil": np.ceil,
    "cos": np.cos,
    "cosh": np.cosh,
    "erf": _elementwise(math.erf),
    "erfc": _elementwise(math.erfc),
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "floor": np.floor,
    "log": np.log,
    "log10": np.log10,
    "log1p": np.log1p,
    "log2": np.log2,
    "round": _away_from_zero,
    "roundeven": np.rint,
    "rsqrt": lambda x: 1.0 / np.sqrt(x),
    "sin": np.sin,
    "sinh": np.sinh,
    "sqrt": np.sqrt,
    "tan": np.tan,
    "tanh": np.tanh,
    "trunc": np.trunc,
}

_BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "atan2": np.arctan2,
    "copysign": np.copysign,
    "powf": np.power,
}


@rule(*(f"math.{name}" for name in _UNARY))
def _unary(frame: Frame, op: Operation) -> None:
    values = frame.array(op.operands[0]).astype(np.float64)
    frame.set_rounded(op.results[0], _UNARY[name_of(op).removeprefix("math.")](values))


@rule(*(f"math.{name}" for name in _BINARY))
def _binary(frame: Frame, op: Operation) -> None:
    a, b = (frame.array(v).astype(np.float64) for v in op.operands)
    frame.set_rounded(op.results[0], _BINARY[name_of(op).removeprefix("math.")](a, b))


@rule("math.fma", "vector.fma")
def _fused(frame: Frame, op: Operation) -> None:
    a, b, c = (frame.array(v).astype(np.float64) for v in op.operands)
    frame.set_rounded(op.results[0], a * b + c)


@rule("math.clampf")
def _clamp(frame: Frame, op: Operation) -> None:
    value, low, high = map(frame.array, op.operands)
    frame.set(op.results[0], np.maximum(np.minimum(value, high), low))


@rule("math.fpowi")
def _power_of_float(frame: Frame, op: Operation) -> None:
    base, exponent = frame.array(op.operands[0]).astype(np.float64), as_signed(frame.array(op.operands[1]))
    frame.set_rounded(op.results[0], np.power(base, exponent.astype(np.float64)))


@rule("math.ipowi")
def _power_of_integer(frame: Frame, op: Operation) -> None:
    """By multiplication that wraps around; a negative exponent leaves what the integer quotient leaves."""
    base, exponent = (as_signed(frame.array(v)) for v in op.operands)
    bits = base.dtype.itemsize * 8
    powers = [_power(int(b), int(e), bits) for b, e in zip(base.reshape(-1), exponent.reshape(-1), strict=True)]
    frame.set_rounded(op.results[0], np.asarray(powers, np.uint64).reshape(base.shape))


def _power(base: int, exponent: int, bits: int) -> int:
    if exponent < 0:
        base, exponent = (base, exponent % 2) if base in (1, -1) else (0, 1)
    return pow(base, exponent, 1 << bits)


@rule("math.absi")
def _absolute(frame: Frame, op: Operation) -> None:
    frame.set_rounded(op.results[0], np.abs(as_signed(frame.array(op.operands[0]))))


@rule("math.ctpop", "math.ctlz", "math.cttz")
def _count_bits(frame: Frame, op: Operation) -> None:
    values = as_unsigned(frame.array(op.operands[0]))
    width = values.dtype.itemsize * 8
    count = _COUNTS[name_of(op)]
    counts = [count(int(v), width) for v in values.reshape(-1)]
    frame.set_rounded(op.results[0], np.asarray(counts).reshape(values.shape))


_COUNTS: dict[str, Callable[[int, int], int]] = {
    "math.ctpop": lambda value, width: value.bit_count(),
    "math.ctlz": lambda value, width: width - value.bit_length(),
    "math.cttz": lambda value, width: (value & -value).bit_length() - 1 if value else width,
}


@rule("math.isnan", "math.isinf", "math.isfinite")
def _classify(frame: Frame, op: Operation) -> None:
    function: Callable[[Array], Array] = getattr(np, name_of(op).removeprefix("math."))
    frame.set_rounded(op.results[0], function(frame.array(op.operands[0])))
