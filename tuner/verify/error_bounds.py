"""Values in float64 with bounds of the error of f32 arithmetic, propagated through the steps of an epilogue.

A function scales an error by at most its largest slope. If nothing was rounded yet and the result is an f32
number, the error is zero: exact sums and products must be exact.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codegen.problem.epilogue import (
    EpilogueKind,
    EpilogueStep,
)

Float64 = NDArray[np.float64]

HALF_ULP = 2.0**-24
"""Rounding of f32 to nearest, relative. Source: IEEE 754."""
_ULP = 2 * HALF_ULP
_SMALLEST_NORMAL = 2.0**-126  # smaller numbers may be flushed to zero

# Relative to the result. Source: OpenCL C 3.0, table "ULP values for single precision built-in math functions".
_EXP, _DIVIDE, _ERF, _TANH = 3 * _ULP, 2.5 * _ULP, 16 * _ULP, 5 * _ULP
# exp may be computed as 2 to the power of x log2(e), whose rounding grows with x: two roundings, relative.
_EXP_OF = 2 * _ULP
# tanh may be computed from exp, with cancellation near 0: absolute.
_TANH_BY_EXP = 2 * (_EXP + _ULP + _DIVIDE)
# 1 + erf, by a function or by a series within 1.5e-7, and 1 + tanh of a cubic whose five roundings move it by at most
# 0.45 of them each: absolute.
_ONE_AND_ERF = _ERF + 2 * _ULP
_ONE_AND_TANH = _TANH + _TANH_BY_EXP + 4 * _ULP

# Largest slopes, found numerically and rounded up.
_SLOPE_GELU, _SLOPE_SILU, _SLOPE_SIGMOID = 1.13, 1.1, 0.25

_SUM_DEVIATIONS = 6  # sums of random roundings stay below that many standard deviations


@dataclass(frozen=True, slots=True)
class Approximate:
    """Exact values, and the largest distance of each from the f32 result."""

    value: Float64
    error: Float64

    def rounded(self) -> "Approximate":
        """Return the values after one more rounding to f32."""
        nearest = self.value.astype(np.float32).astype(np.float64)
        size = np.abs(self.value)
        exact = (self.error == 0) & (nearest == self.value) & ((size >= _SMALLEST_NORMAL) | (size == 0))
        error = self.error + np.where(exact, 0.0, HALF_ULP * (size + self.error) + _SMALLEST_NORMAL)
        beyond = np.isinf(nearest)
        return Approximate(np.where(beyond, nearest, self.value), np.where(beyond, 0.0, error))


def exactly(value: NDArray[np.generic]) -> Approximate:
    """Return stored values, without error."""
    return Approximate(value.astype(np.float64), np.zeros(value.shape))


def added(x: Approximate, y: Approximate) -> Approximate:
    """Return x + y in f32."""
    return Approximate(x.value + y.value, x.error + y.error).rounded()


def scaled(x: Approximate, by: Float64 | float) -> Approximate:
    """Return x * by in f32, `by` without error."""
    return Approximate(x.value * by, x.error * np.abs(by)).rounded()


def multiplied(x: Approximate, y: Approximate) -> Approximate:
    """Return x * y in f32: each error is scaled by the largest size of the other factor."""
    error = x.error * np.abs(y.value) + y.error * (np.abs(x.value) + x.error)
    return Approximate(x.value * y.value, error).rounded()


def elementwise(step: EpilogueStep, x: Approximate) -> Approximate:
    """Apply a step that reads only x."""
    value, size = x.value, np.abs(x.value)
    match step.kind:
        case EpilogueKind.ALPHA | EpilogueKind.SCALE:
            return scaled(x, constant(step.value))
        case EpilogueKind.RELU:
            return Approximate(np.maximum(value, 0.0), x.error)
        case EpilogueKind.LEAKY_RELU:
            slope = constant(step.value)
            below = scaled(x, slope)
            error = np.where(value > 0, x.error * max(1.0, abs(slope)), below.error + x.error * (abs(slope) < 1))
            return Approximate(np.where(value > 0, value, below.value), error)
        case EpilogueKind.CLIP:
            return Approximate(np.clip(value, constant(step.value), constant(step.high)), x.error)
        case EpilogueKind.SIGMOID:
            result, relative = _sigmoid(value)
            return _curve(x, result, _SLOPE_SIGMOID, result * relative)
        case EpilogueKind.SILU:
            sigmoid, relative = _sigmoid(value)
            return _curve(x, value * sigmoid, _SLOPE_SILU, size * sigmoid * relative)
        case EpilogueKind.TANH:
            return _curve(x, np.tanh(value), 1.0, np.full(value.shape, _TANH_BY_EXP))
        case EpilogueKind.GELU:
            result = 0.5 * value * (1 + _erf(value / math.sqrt(2)))
            return _curve(x, result, _SLOPE_GELU, 0.5 * size * _ONE_AND_ERF)
        case EpilogueKind.GELU_TANH:
            inner = math.sqrt(2 / math.pi) * (value + 0.044715 * value**3)
            result = 0.5 * value * (1 + np.tanh(inner))
            return _curve(x, result, _SLOPE_GELU, 0.5 * size * _ONE_AND_TANH)
        case _:
            raise AssertionError(f"{step.kind} is no step on elements alone")


def summed(x: Approximate, axis: int) -> Approximate:
    """Return sums along an axis in f32, in any order; exact while whole numbers stay below 2^24."""
    count = x.value.shape[axis]
    value, size = x.value.sum(axis), np.abs(x.value).sum(axis)
    error = x.error.sum(axis)
    whole = (x.value == np.rint(x.value)).all(axis) & (error == 0) & (size <= 2.0**24)
    rounding = HALF_ULP * min(count, _SUM_DEVIATIONS * math.sqrt(count)) * (size + error)
    return Approximate(value, np.where(whole, 0.0, error + rounding + count * _SMALLEST_NORMAL))


def constant(number: float | None) -> float:
    """Return a step's constant as the kernel uses it: in f32."""
    assert number is not None  # guaranteed by the step's own check
    return float(np.float32(number))


def _curve(x: Approximate, result: Float64, slope: float, own: Float64) -> Approximate:
    """Return a function of x with its slope and its own error."""
    moved = slope * x.error
    return Approximate(result, moved + own + 2 * _ULP * np.abs(result) + _SMALLEST_NORMAL * (1 + np.abs(x.value)))


def _sigmoid(value: Float64) -> tuple[Float64, Float64]:
    """Return 1 / (1 + exp(-x)) and its relative error: from exp, as far as it contributes to the sum, the
    sum, and the division.
    """
    part = 1 / (1 + np.exp(value))
    return 1 / (1 + np.exp(-value)), _ULP + _DIVIDE + part * (_EXP + _EXP_OF * np.abs(value))


# erf between points where it and its slope are known, by cubics: within 1e-11.
_ERF_STEP, _ERF_END = 2.0**-8, 6.0
_ERF_AT = np.arange(0, _ERF_END + 2 * _ERF_STEP, _ERF_STEP)
_ERF_VALUES = np.array([math.erf(at) for at in _ERF_AT])
_ERF_SLOPES = 2 / math.sqrt(math.pi) * np.exp(-(_ERF_AT**2)) * _ERF_STEP


def _erf(value: Float64) -> Float64:
    place = np.nan_to_num(np.minimum(np.abs(value), _ERF_END)) / _ERF_STEP
    left = place.astype(np.int64)
    t = place - left
    y0, y1, s0, s1 = _ERF_VALUES[left], _ERF_VALUES[left + 1], _ERF_SLOPES[left], _ERF_SLOPES[left + 1]
    cubic = y0 + t * (s0 + t * (3 * (y1 - y0) - 2 * s0 - s1 + t * (2 * (y0 - y1) + s0 + s1)))
    return np.copysign(cubic, value)
