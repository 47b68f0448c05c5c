"""Arithmetic and functions on vectors of f32, as instructions: no call, so that registers are kept.

Errors are those that tests hold the functions to, over all of f32. Unless said otherwise NaN gives NaN.
"""

import math
from dataclasses import dataclass

from codegen.cpu.emit.writer import (
    Function,
    f32,
    splat,
)

# exp(r) for |r| <= ln(2) / 2, within 4e-9 of it: a polynomial fitted to the relative error.
_EXP_SERIES = (1.0, 1.0, 0.49999994, 0.16666521, 0.04166839, 0.0083687175, 0.0013814596)
_EXP_LEAST, _EXP_MOST = -104.0, 89.0  # beyond, f32 has zero and infinity
# ln(2) in two parts, of which the first has few bits: its products with whole numbers are exact.
_LN2_HIGH, _LN2_LOW = 0.693359375, -2.12194440e-4
# tanh(x) / x = 1 + z p(z), z = x^2 up to 0.625^2, within 1e-8.
_TANH_SERIES = (-0.33333284, 0.13331491, -0.053743497, 0.020650579, -0.005717037)
_TANH_BY_SERIES = 0.625
# erfc(y) = exp(-y^2) t p(t), t = 1 / (1 + bend y), for y of 0 to 10 within 1.4e-7 of it.
_ERFC_BEND = 0.3275911
_ERFC_SERIES = (
    0.18504123,
    0.18088597,
    0.20503482,
    0.027929386,
    0.44902420,
    -0.40177813,
    0.49450988,
    -0.14064723,
)
_ERFC_ZERO = 16.0  # erfc of this over sqrt(2) is zero in f32
_GELU_TANH = (math.sqrt(2 / math.pi), 0.044715)


@dataclass(frozen=True, slots=True)
class Floats:
    """Vectors of `lanes` f32 in one function; `scales` says that one instruction multiplies by a power of two."""

    f: Function
    lanes: int
    scales: bool

    @property
    def type(self) -> str:
        """LLVM's type."""
        return f"<{self.lanes} x float>"

    @property
    def integers(self) -> str:
        """LLVM's type of as many i32."""
        return f"<{self.lanes} x i32>"

    @property
    def suffix(self) -> str:
        """The type in names of intrinsics."""
        return f"v{self.lanes}f32"

    def constant(self, value: float) -> str:
        """All lanes the same."""
        return splat("float", f32(value))

    def add(self, a: str, b: str) -> str:
        """a + b."""
        return self.f.op(f"fadd {self.type} {a}, {b}")

    def sub(self, a: str, b: str) -> str:
        """a - b."""
        return self.f.op(f"fsub {self.type} {a}, {b}")

    def mul(self, a: str, b: str) -> str:
        """a b."""
        return self.f.op(f"fmul {self.type} {a}, {b}")

    def div(self, a: str, b: str) -> str:
        """a / b."""
        return self.f.op(f"fdiv {self.type} {a}, {b}")

    def fma(self, a: str, b: str, c: str) -> str:
        """a b + c, rounded once."""
        kind = self.type
        return self.f.call(kind, f"llvm.fma.{self.suffix}", [(kind, a), (kind, b), (kind, c)])

    def negative(self, a: str) -> str:
        """-a."""
        return self.f.op(f"fneg {self.type} {a}")

    def size(self, a: str) -> str:
        """|a|."""
        return self.f.call(self.type, f"llvm.fabs.{self.suffix}", [(self.type, a)])

    def whole(self, a: str) -> str:
        """The nearest whole number, of two the even one."""
        return self.f.call(self.type, f"llvm.roundeven.{self.suffix}", [(self.type, a)])

    def select(self, predicate: str, a: str, b: str, then: str, otherwise: str) -> str:
        """`then` where a comparison of a and b holds, else `otherwise`."""
        holds = self.f.op(f"fcmp {predicate} {self.type} {a}, {b}")
        return self.f.op(f"select <{self.lanes} x i1> {holds}, {self.type} {then}, {self.type} {otherwise}")

    def at_least(self, a: str, least: float) -> str:
        """The greater of a and a constant; NaN stays."""
        bound = self.constant(least)
        return self.select("olt", a, bound, bound, a)

    def at_most(self, a: str, most: float) -> str:
        """The lesser of a and a constant; NaN stays."""
        bound = self.constant(most)
        return self.select("ogt", a, bound, bound, a)

    def series(self, x: str, factors: tuple[float, ...]) -> str:
        """The polynomial with these factors, of the zeroth power first."""
        value = self.constant(factors[-1])
        for factor in reversed(factors[:-1]):
            value = self.fma(value, x, self.constant(factor))
        return value


def exp(v: Floats, x: str) -> str:
    """e^x, within a unit of the last place."""
    x = v.at_most(v.at_least(x, _EXP_LEAST), _EXP_MOST)
    power = v.whole(v.mul(x, v.constant(1 / math.log(2))))
    rest = v.fma(power, v.constant(-_LN2_HIGH), x)
    rest = v.fma(power, v.constant(-_LN2_LOW), rest)
    return _scaled(v, v.series(rest, _EXP_SERIES), power)


def sigmoid(v: Floats, x: str) -> str:
    """1 / (1 + e^-x), within 2.5 units of the last place where that is a normal number."""
    return v.div(v.constant(1.0), v.add(exp(v, v.negative(x)), v.constant(1.0)))


def tanh(v: Floats, x: str) -> str:
    """The hyperbolic tangent, within 1.5 units of the last place."""
    size = v.size(x)
    square = v.mul(x, x)
    near = v.fma(v.mul(x, square), v.series(square, _TANH_SERIES), x)
    part = v.div(v.constant(2.0), v.add(exp(v, v.add(size, size)), v.constant(1.0)))
    far = v.f.call(v.type, f"llvm.copysign.{v.suffix}", [(v.type, v.sub(v.constant(1.0), part)), (v.type, x)])
    return v.select("olt", size, v.constant(_TANH_BY_SERIES), near, far)


def gelu(v: Floats, x: str) -> str:
    """x (1 + erf(x / sqrt 2)) / 2 as max(x, 0) - |x| erfc(|x| / sqrt 2) / 2, within 3e-7 |x|; 0 of minus infinity."""
    size = v.at_most(v.size(x), _ERFC_ZERO)
    bent = v.fma(size, v.constant(_ERFC_BEND * math.sqrt(0.5)), v.constant(1.0))
    t = v.div(v.constant(1.0), bent)
    series = v.mul(v.series(t, _ERFC_SERIES), t)
    falling = exp(v, v.mul(v.mul(size, size), v.constant(-0.5)))
    below = v.mul(v.mul(size, v.constant(0.5)), v.mul(series, falling))
    return v.sub(v.at_least(x, 0.0), below)


def gelu_tanh(v: Floats, x: str) -> str:
    """x (1 + tanh(y)) / 2 of y = sqrt(2 / pi) (x + 0.044715 x^3), as x times the sigmoid of 2 y; within 2e-7 |x|."""
    factor, cubic = _GELU_TANH
    inner = v.mul(x, v.fma(v.mul(x, x), v.constant(cubic), v.constant(1.0)))
    return v.mul(x, sigmoid(v, v.mul(inner, v.constant(2 * factor))))


def silu(v: Floats, x: str) -> str:
    """x times its sigmoid, within 3 units of the last place where that is a normal number."""
    return v.mul(x, sigmoid(v, x))


def _scaled(v: Floats, value: str, power: str) -> str:
    """value * 2^power, of whole numbers -150 to 128."""
    if v.scales:
        arguments = [(v.type, value), (v.type, power), (v.type, value), ("i16", "-1"), ("i32", "4")]
        return v.f.call(v.type, "llvm.x86.avx512.mask.scalef.ps.512", arguments)
    # 2^128 and powers below 2^-126 are not normal numbers, so half of the power at a time.
    whole = v.f.op(f"fptosi {v.type} {power} to {v.integers}")
    half = v.f.op(f"ashr {v.integers} {whole}, {splat('i32', 1)}")
    other = v.f.op(f"sub {v.integers} {whole}, {half}")
    return v.mul(v.mul(value, _power_of_two(v, half)), _power_of_two(v, other))


def _power_of_two(v: Floats, exponent: str) -> str:
    biased = v.f.op(f"add {v.integers} {exponent}, {splat('i32', 127)}")
    shifted = v.f.op(f"shl {v.integers} {biased}, {splat('i32', 23)}")
    return v.f.op(f"bitcast {v.integers} {shifted} to {v.type}")
