"""Inputs of a problem, what C must be in float64, and how far from that f32 accumulation may be."""

import math
from collections.abc import Callable

import numpy as np
import psutil
from numpy.typing import NDArray

from codegen import DType, GemmProblem
from hal import Buffer
from tuner.errors import TooLargeToProve

Float64 = NDArray[np.float64]

WHOLE_MULTIPLY_ADDS = 2**32
"""Up to here C is computed once, whole, and kept."""

# A sum of K products in f32: each addition errs by at most 2^-24 of the partial sum, twice that where hardware
# truncates. Inputs are independent with mean 0, so a partial sum stays below six standard deviations of the last,
# |a||b| / sqrt(K) in 2-norms, but for one element in a hundred million. Times K additions: 12 * 2^-24 * sqrt(K) |a||b|.
_F32_ROUNDING = 2.0**-24
_TRUNCATION, _DEVIATIONS = 2, 6

# Every other row of A and column of B holds small whole numbers times a power of two. Where such a row meets such a
# column, f32 adds without rounding in any order, while K is at most this, so that C may only be off by its own
# rounding: the other bound grows with sqrt(K), and would one day hide a K that was left out.
_WHOLE = 2
_EXACT_K = 2**24 // _WHOLE**2

# Rounding to nearest, relative; and half the distance of subnormal numbers. Source: IEEE 754; bfloat16 keeps 8 bits.
_OUTPUT_ROUNDING = {DType.F16: (2.0**-11, 2.0**-25), DType.BF16: (2.0**-8, 0.0), DType.F32: (2.0**-24, 0.0)}

_BF16_NAN = 0x7FC0


class Reference:
    """Inputs drawn with a seed, and C = A @ B of them in float64, computed where it is asked for.

    Row-major, one matrix. A is [M, lda], B is [K, ldb], C is [M, ldc]; what lies between rows is NaN. A and B
    cannot be written.

    Raises:
        TooLargeToProve: the memory of this machine does not hold what a proof needs.
    """

    def __init__(self, problem: GemmProblem, seed: int) -> None:
        self.problem = problem
        _check_memory(problem)
        rng = np.random.default_rng(seed)
        p = problem
        scale = 2.0 ** -round(math.log2(p.k) / 2)
        a, b = _drawn(rng, (p.m, p.k), scale), _drawn(rng, (p.k, p.n), 1.0)
        a[::2] = _whole(rng, a[::2].shape, scale / _WHOLE)
        b[:, ::2] = _whole(rng, b[:, ::2].shape, 1.0 / _WHOLE)
        self.a, self.b = _stored(a, p.pitch_a, p.dtype_a), _stored(b, p.pitch_b, p.dtype_b)
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
        if p.k <= _EXACT_K:
            accumulated[rows.start % 2 :: 2, columns.start % 2 :: 2] = 0.0
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


def _check_memory(p: GemmProblem) -> None:
    """What a proof holds at one time: operands twice, C as stored, and C, its bound and its error in float64."""
    operands = p.m * p.pitch_a * p.dtype_a.nbytes + p.k * p.pitch_b * p.dtype_b.nbytes
    whole = p.m * p.n * p.k <= WHOLE_MULTIPLY_ADDS
    need = 2 * operands + 4 * (p.m * p.k + p.k * p.n) + p.m * p.pitch_c * (8 + (32 if whole else 1))
    have = psutil.virtual_memory().available
    if need > have:
        raise TooLargeToProve(
            f"comparing the numbers of {p} takes {need / 2**30:.1f} GiB; {have / 2**30:.1f} GiB are free here"
        )


def _drawn(rng: np.random.Generator, shape: tuple[int, ...], scale: float) -> NDArray[np.float32]:
    return (2 * rng.random(shape, dtype=np.float32) - 1) * np.float32(scale)


def _whole(rng: np.random.Generator, shape: tuple[int, ...], scale: float) -> NDArray[np.float32]:
    return rng.integers(-_WHOLE, _WHOLE, shape, np.int8, endpoint=True).astype(np.float32) * np.float32(scale)


def _stored(values: NDArray[np.float32], pitch: int, dtype: DType) -> Buffer:
    rows, columns = values.shape
    padded = np.full((rows, pitch), np.nan, dtype=np.float32)
    padded[:, :columns] = values
    stored = encode(padded, dtype)
    stored.flags.writeable = False
    return stored


def _sums_of_squares(stored: Buffer, columns: int, dtype: DType, axis: int) -> Float64:
    values = decode(stored[:, :columns], dtype)
    product: Callable[..., Float64] = np.einsum
    return product("ij,ij->i" if axis == 1 else "ij,ij->j", values, values, dtype=np.float64)
