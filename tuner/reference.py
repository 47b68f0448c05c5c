"""Inputs of a problem, what C must be in float64, and how far from that f32 accumulation may be."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from codegen import DType, GemmProblem
from hal import Buffer

Float64 = NDArray[np.float64]

WHOLE_MULTIPLY_ADDS = 2**32
"""Up to here C is computed once, whole, and kept."""

# A sum of K products in f32: each addition errs by at most 2^-24 of the partial sum, twice that where hardware
# truncates. Inputs are independent with mean 0, so a partial sum stays below six standard deviations of the last,
# |a||b| / sqrt(K) in 2-norms, but for one element in a hundred million. Times K additions: 12 * 2^-24 * sqrt(K) |a||b|.
_F32_ROUNDING = 2.0**-24
_TRUNCATION, _DEVIATIONS = 2, 6

# Rounding to nearest, relative; and half the distance of subnormal numbers. Source: IEEE 754; bfloat16 keeps 8 bits.
_OUTPUT_ROUNDING = {DType.F16: (2.0**-11, 2.0**-25), DType.BF16: (2.0**-8, 0.0), DType.F32: (2.0**-24, 0.0)}

_BF16_NAN = 0x7FC0


class Reference:
    """Inputs drawn with a seed, and C = A @ B of them in float64, computed where it is asked for.

    Row-major, one matrix. A is [M, lda], B is [K, ldb], C is [M, ldc]; what lies between rows is NaN.
    """

    def __init__(self, problem: GemmProblem, seed: int) -> None:
        self.problem = problem
        rng = np.random.default_rng(seed)
        p = problem
        self.a = _stored(rng, p.m, p.k, p.pitch_a, p.k**-0.5, p.dtype_a)
        self.b = _stored(rng, p.k, p.n, p.pitch_b, 1.0, p.dtype_b)
        self._whole: Float64 | None = None
        self._bound_a = np.sqrt(_sums_of_squares(self.a, p.k, p.dtype_a, axis=1))
        self._bound_b = np.sqrt(_sums_of_squares(self.b, p.n, p.dtype_b, axis=0))

    def buffers(self) -> tuple[Buffer, Buffer, Buffer]:
        """A, B and a C that holds NaN everywhere."""
        p = self.problem
        return self.a, self.b, encode(np.full((p.m, p.pitch_c), np.nan, dtype=np.float32), p.dtype_c)

    def expected(self, rows: slice, columns: slice) -> Float64:
        """A part of C."""
        p = self.problem
        if p.m * p.n * p.k > WHOLE_MULTIPLY_ADDS:
            a = decode(self.a[rows, : p.k], p.dtype_a)
            return a.astype(np.float64) @ decode(self.b[:, : p.n][:, columns], p.dtype_b).astype(np.float64)
        if self._whole is None:
            a, b = decode(self.a[:, : p.k], p.dtype_a), decode(self.b[:, : p.n], p.dtype_b)
            self._whole = a.astype(np.float64) @ b.astype(np.float64)
        return self._whole[rows, columns]

    def bound(self, rows: slice, columns: slice) -> Float64:
        """The largest error of each element of a part of C that rounding explains."""
        p = self.problem
        norms = np.outer(self._bound_a[rows], self._bound_b[columns])
        accumulated = _TRUNCATION * _DEVIATIONS * _F32_ROUNDING * p.k**0.5 * norms
        relative, smallest = _OUTPUT_ROUNDING[p.dtype_c]
        return accumulated + relative * (np.abs(self.expected(rows, columns)) + accumulated) + smallest


def encode(values: NDArray[np.float32], dtype: DType) -> Buffer:
    """Values as stored, rounded to nearest even; bf16 is its bits in uint16."""
    if dtype is DType.F32:
        return values
    if dtype is DType.F16:
        return values.astype(np.float16)
    bits = values.view(np.uint32)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(values), np.uint16(_BF16_NAN), rounded)


def decode(stored: Buffer, dtype: DType) -> NDArray[np.float32]:
    """The values of what is stored; exact."""
    if dtype is DType.BF16:
        return (stored.astype(np.uint32) << 16).view(np.float32)
    return stored.astype(np.float32)


def _stored(rng: np.random.Generator, rows: int, columns: int, pitch: int, scale: float, dtype: DType) -> Buffer:
    values = np.full((rows, pitch), np.nan, dtype=np.float32)
    values[:, :columns] = (2 * rng.random((rows, columns), dtype=np.float32) - 1) * np.float32(scale)
    return encode(values, dtype)


def _sums_of_squares(stored: Buffer, columns: int, dtype: DType, axis: int) -> Float64:
    values = decode(stored[:, :columns], dtype)
    product: Callable[..., Float64] = np.einsum
    return product("ij,ij->i" if axis == 1 else "ij,ij->j", values, values, dtype=np.float64)
