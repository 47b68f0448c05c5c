"""Freivalds' check: verifies a whole product at the cost of a product with few vectors.

Groups of columns of C are added with random signs, and so are those of B: C x = A (B x) if C is the product.
A kernel cannot know the signs, so an error cancels only by chance. Rounding errors are random with respect to
the signs too: their sum is within a bound by Hoeffding's inequality.

Source: R. Freivalds, Probabilistic machines can use less running time, IFIP Congress 1977.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from codegen import DType, EpilogueKind, GemmProblem
from hal import Buffer
from tuner.verify.error_bounds import (
    HALF_ULP,
    constant,
)
from tuner.verify.memory_layout import (
    Float32,
    Float64,
    decode,
)

GROUP = 128
"""Number of columns that are added: fewer show smaller errors, and take more multiplications."""

_LINEAR = (EpilogueKind.ALPHA, EpilogueKind.SCALE)
_HALF_ULP = {DType.F32: HALF_ULP, DType.F16: 2.0**-11, DType.BF16: 2.0**-8, DType.I32: 0.0}
_SMALLEST = {DType.F32: 2.0**-126, DType.F16: 2.0**-24, DType.BF16: 2.0**-126, DType.I32: 0.0}
# Inputs are drawn so that C does not overflow up to there; scales of weights are at least 2^-10.
_MOST_F16_FACTOR, _MOST_F16_FACTOR_OF_WEIGHTS = 2.0**20, 2.0**14
_DEVIATIONS = 8.0  # 2 exp(-8^2 / 2): a correct sum exceeds its bound once in 10^13
_BAND = 2**22  # elements converted to doubles at a time


@dataclass(frozen=True, slots=True)
class SumWrong:
    """A signed sum beyond its bound: its row, columns and value, with the expected one."""

    row: int
    columns: slice
    got: float
    expected: float
    bound: float


def is_applicable(problem: GemmProblem) -> bool:
    """Return whether C is a multiple of the product, so that its sums are too."""
    if problem.gate is not None or problem.experts is not None:
        return False
    if problem.dtype_c is DType.I32 and problem.epilogue:
        return False  # rounded to whole numbers
    if problem.dtype_a.is_integer and problem.dtype_c not in (DType.I32, DType.F32):
        return False
    if problem.dtype_c not in _HALF_ULP or any(s.kind not in _LINEAR or s.axis is not None for s in problem.epilogue):
        return False
    most = _MOST_F16_FACTOR_OF_WEIGHTS if problem.has_weights else _MOST_F16_FACTOR
    return problem.dtype_c is not DType.F16 or abs(_factor(problem)) <= most


class SignedSums:
    """Expected signed sums of one product: [M, groups], from A [M, K] as stored and the values of rows of B [K, N].

    `norms` are those of A's rows and B's columns, `error` is the bound of an element's error over the product
    of its two norms. Without them, for integers, sums are exact.
    """

    def __init__(
        self,
        problem: GemmProblem,
        a: Buffer,
        b: Callable[[slice], Float32],
        norms: tuple[Float64, Float64] | None,
        error: float,
        seed: int,
    ) -> None:
        p = self._problem = problem
        self._signs = np.random.default_rng((seed, p.n)).choice((-1.0, 1.0), p.n)
        self._starts = np.arange(0, p.n, GROUP)
        factor = _factor(p)
        of_b = np.concatenate([self._added(b(band)) for band in _bands(p.k, p.n)])
        self._expected = factor * np.concatenate(
            [decode(a[band], p.dtype_a).astype(np.float64) @ of_b for band in _bands(p.m, p.k)]
        )
        self._variance = np.zeros_like(self._expected)
        if norms is not None:
            squares = np.add.reduceat(norms[1] ** 2, self._starts)
            self._variance = np.outer((factor * error * norms[0]) ** 2, squares)

    def check(self, c: Buffer) -> SumWrong | None:
        """Return the first sum of C, [M, N] as stored, beyond its bound."""
        p = self._problem
        # Rounding to C's type, and one in f32 for each step, of stored values.
        rounding = _HALF_ULP[p.dtype_c] + len(p.epilogue) * HALF_ULP * (not p.dtype_a.is_integer or bool(p.epilogue))
        for band in _bands(p.m, p.n):
            stored = decode(c[band], p.dtype_c).astype(np.float64)
            with np.errstate(invalid="ignore"):
                got = self._added(stored)
                squares = np.add.reduceat((rounding * np.abs(stored) + _SMALLEST[p.dtype_c]) ** 2, self._starts, axis=1)
                # Two kinds of error per element: (x + y)^2 <= 2 x^2 + 2 y^2.
                bound = _DEVIATIONS * np.sqrt(2 * (self._variance[band] + squares))
                wrong = ~(np.isfinite(got) & (np.abs(got - self._expected[band]) <= bound))
            if wrong.any():
                row, group = (int(place) for place in np.argwhere(wrong)[0])
                columns = slice(group * GROUP, min((group + 1) * GROUP, p.n))
                at = row, group
                expected = float(self._expected[band][at])
                return SumWrong(band.start + row, columns, float(got[at]), expected, float(bound[at]))
        return None

    def _added(self, values: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> Float64:
        return np.add.reduceat(values.astype(np.float64) * self._signs, self._starts, axis=1)


def first_wrong(sums: Sequence[SignedSums], c: Iterable[Buffer]) -> tuple[int, SumWrong] | None:
    """Return the first wrong sum in any matrix of a batch, with the index of the matrix."""
    for entry, matrix in enumerate(c):
        if (wrong := sums[entry].check(matrix)) is not None:
            return entry, wrong
    return None


def _factor(problem: GemmProblem) -> float:
    """Return the factor between the product and C, of steps that are scalars."""
    return math.prod(constant(step.value) for step in problem.epilogue)


def _bands(rows: int, columns: int) -> Iterator[slice]:
    length = max(1, _BAND // columns)
    return (slice(start, min(start + length, rows)) for start in range(0, rows, length))
