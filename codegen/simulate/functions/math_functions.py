"""Mathematics that kernels call: LLVM's intrinsics and OpenCL's functions, element by element.

Floats are computed in their own precision, half in float32 and rounded once. The approximate functions of
OpenCL are as exact as the others.
"""

import math
from collections.abc import Callable

import numpy as np

from codegen.simulate.functions.call import Call
from codegen.simulate.llvm_ir.mangling import (
    parameter_types,
    unmangled,
)
from codegen.simulate.values import (
    Array,
    bf16_to_f32,
    f32_to_bf16,
    unsigned,
)
from codegen.xe.bf16_conversions import FROM_BITS, TO_BITS

Function = Callable[..., Array]


def _each(function: Callable[[float], float]) -> Function:
    """Apply a Python function to each element."""
    apply = np.frompyfunc(function, 1, 1)

    def rule(a: Array) -> Array:
        return np.asarray(apply(a.astype(np.float64)), a.dtype)

    return rule


def _in_double(function: Callable[[Array], Array]) -> Function:
    def rule(a: Array) -> Array:
        return function(a.astype(np.float64)).astype(a.dtype)

    return rule


def _power_of_integer(a: Array, exponent: Array) -> Array:
    return np.power(a.astype(np.float64), exponent).astype(a.dtype)


def _scaled(a: Array, exponent: Array) -> Array:
    return np.ldexp(a, exponent).astype(a.dtype)


def _same(a: Array) -> Array:
    return a


def _absolute(a: Array, *_: Array) -> Array:
    return np.abs(a)


def _bytes_swapped(a: Array) -> Array:
    return a.byteswap()


def _fused(a: Array, b: Array, c: Array) -> Array:
    """Fused multiply-add: float and half products are exact in double, doubles are summed in extended precision."""
    wide = np.longdouble if a.dtype == np.float64 else np.float64
    return (a.astype(wide) * b + c).astype(a.dtype)


def _round_half_away(a: Array) -> Array:
    magnitude = np.abs(a)
    down = np.floor(magnitude)
    return np.copysign(down + (magnitude - down >= 0.5), a).astype(a.dtype)


def _as_unsigned(function: Callable[[Array, Array], Array]) -> Function:
    def rule(a: Array, b: Array) -> Array:
        return function(unsigned(a), unsigned(b)).view(a.dtype)

    return rule


def _saturated(function: Callable[[Array, Array], Array], signed: bool) -> Function:
    def apply(a: Array, b: Array) -> Array:
        kind = a.dtype if signed else unsigned(a).dtype
        limits = np.iinfo(kind)
        exact = function(a.view(kind).astype(object), b.view(kind).astype(object))
        return np.clip(exact, int(limits.min), int(limits.max)).astype(kind).view(a.dtype)

    return apply


def _bit_count(a: Array) -> Array:
    return np.bitwise_count(unsigned(a)).astype(a.dtype)


def _leading_zeros(a: Array, *_: Array) -> Array:
    bits, value = a.dtype.itemsize * 8, unsigned(a).copy()
    shift = 1
    while shift < bits:
        value |= value >> value.dtype.type(shift)
        shift *= 2
    return (bits - np.bitwise_count(value)).astype(a.dtype)


def _trailing_zeros(a: Array, *_: Array) -> Array:
    value = unsigned(a)
    lowest = value & (~value + value.dtype.type(1))
    return np.where(value == 0, a.dtype.itemsize * 8, np.bitwise_count(lowest - value.dtype.type(1))).astype(a.dtype)


def _funnel(left: bool) -> Function:
    def apply(high: Array, low: Array, amount: Array) -> Array:
        upper, lower = unsigned(high), unsigned(low)
        bits = upper.dtype.type(high.dtype.itemsize * 8)
        up = unsigned(amount) % bits
        up = up if left else (bits - up) % bits
        whole = np.where(up == 0, upper if left else lower, (upper << up) | (lower >> ((bits - up) % bits)))
        return whole.astype(upper.dtype).view(high.dtype)

    return apply


def _to_bf16_bits(a: Array) -> Array:
    return f32_to_bf16(a).view(np.int16)


def _from_bf16_bits(a: Array) -> Array:
    return bf16_to_f32(a.view(np.uint16))


_FLOAT: dict[str, Function] = {
    "fma": _fused,
    "fmuladd": _fused,
    "mad": _fused,
    "fabs": np.abs,
    "sqrt": np.sqrt,
    "rsqrt": _in_double(lambda a: 1 / np.sqrt(a)),
    "recip": _in_double(lambda a: 1 / a),
    "divide": np.divide,
    "exp": np.exp,
    "exp2": np.exp2,
    "exp10": _in_double(lambda a: np.power(10.0, a)),
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "pow": np.power,
    "powr": np.power,
    "powi": _power_of_integer,
    "pown": _power_of_integer,
    "ldexp": _scaled,
    "cbrt": np.cbrt,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "erf": _each(math.erf),
    "erfc": _each(math.erfc),
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "round": _round_half_away,
    "roundeven": np.rint,
    "rint": np.rint,
    "nearbyint": np.rint,
    "copysign": np.copysign,
    "fmod": np.fmod,
    "fmax": np.fmax,
    "fmin": np.fmin,
    "maxnum": np.fmax,
    "minnum": np.fmin,
    "maximumnum": np.fmax,
    "minimumnum": np.fmin,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "canonicalize": _same,
}

_INTEGER: dict[str, Function] = {
    "abs": _absolute,
    "ctpop": _bit_count,
    "popcount": _bit_count,
    "ctlz": _leading_zeros,
    "clz": _leading_zeros,
    "cttz": _trailing_zeros,
    "ctz": _trailing_zeros,
    "bswap": _bytes_swapped,
    "fshl": _funnel(left=True),
    "fshr": _funnel(left=False),
    "smax": np.maximum,
    "smin": np.minimum,
    "umax": _as_unsigned(np.maximum),
    "umin": _as_unsigned(np.minimum),
    "sadd.sat": _saturated(np.add, signed=True),
    "ssub.sat": _saturated(np.subtract, signed=True),
    "uadd.sat": _saturated(np.add, signed=False),
    "usub.sat": _saturated(np.subtract, signed=False),
}

# OpenCL's names of these, by whether the mangled parameters are unsigned, signed or floats.
_OVERLOADED = {
    ("max", "u"): _INTEGER["umax"],
    ("max", "s"): _INTEGER["smax"],
    ("max", "f"): np.fmax,
    ("min", "u"): _INTEGER["umin"],
    ("min", "s"): _INTEGER["smin"],
    ("min", "f"): np.fmin,
}
_CONVERSIONS: dict[str, Function] = {TO_BITS: _to_bf16_bits, FROM_BITS: _from_bf16_bits}
_PREFIXES = ("__spirv_ocl_", "native_", "half_")


def math_function(call: Call, intrinsic: str) -> Function | None:
    """Return the called function, None if unknown. `intrinsic` is LLVM's name, empty for OpenCL's."""
    name = intrinsic or unmangled(call.instruction.detail)
    if not intrinsic:
        if name == call.instruction.detail:
            return None
        if name in _CONVERSIONS:
            return _CONVERSIONS[name]
        for prefix in _PREFIXES:
            name = name.removeprefix(prefix)
        letter = parameter_types(call.instruction.detail)[-1:]
        sort = "u" if letter in "htjm" else "f" if letter in "fdDh" else "s"
        if (name, sort) in _OVERLOADED:
            return _OVERLOADED[name, sort]
    if name in _INTEGER:
        return _INTEGER[name]
    return _FLOAT.get(name)
