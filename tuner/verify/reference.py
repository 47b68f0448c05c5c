"""Reference results: inputs of a problem, its outputs in float64, and bounds of the error of f32 arithmetic."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import numpy as np

from codegen import Axis, DType, EpilogueKind, GemmProblem
from codegen.problem.gemm import SCALE_B, ZERO_B, Operand
from hal import Buffer
from tuner.errors import TooLargeToProve
from tuner.verify.error_bounds import (
    HALF_ULP,
    Approximate,
    added,
    constant,
    elementwise,
    exactly,
    multiplied,
    scaled,
    summed,
)
from tuner.verify.freivalds import SignedSums
from tuner.verify.inputs import (
    WHOLE,
    Inputs,
)
from tuner.verify.memory_layout import (
    Columns,
    Float32,
    Float64,
    columns_of_products,
    decode,
    encode,
    matrices,
)
from tuner.verify.weights import dequantised, scales_of

WHOLE_MULTIPLY_ADDS = 2**32
"""Multiply-adds up to which all sums are computed once, and cached."""

# A sum of K products in f32: each addition errs by at most 2^-24 of the partial sum, twice that where hardware
# truncates. Inputs are independent with mean 0, so a partial sum stays below six standard deviations of the last,
# |a||b| / sqrt(K) in 2-norms, but for one element in a hundred million. Times K additions: 12 * 2^-24 * sqrt(K) |a||b|.
_TRUNCATION, _DEVIATIONS = 2, 6
# Where each addition rounds to nearest, errors are independent with mean 0, too (Higham and Mary, "A new approach to
# probabilistic rounding error analysis", 2019): by Hoeffding's inequality six times the root of the sum of their
# squares bounds them. With partial sums as above that is 36 * 2^-24 * |a||b|, whatever K is.
_NEAREST = _DEVIATIONS**2
# Products of f32 are rounded too if not fused with the addition: in total by at most 2^-24 |a||b|.
_ROUNDED_PRODUCTS = 2

# Where small whole numbers meet, f32 adds without rounding in any order while K is at most this, so that sums
# must be exact: the other bound grows with sqrt(K), and would eventually hide an omitted K.
_EXACT_K = 2**24 // WHOLE**2

_CHUNK = 2**20  # elements of C for which steps are computed at a time
_KEPT_BOUNDS = 2**23  # elements whose bounds are cached for the next candidate
_BOUNDS_BYTES = 3 * 8
_A, _B, _C = 0, 1, 2
_SAMPLED_BYTES = 2**29  # of inputs, their doubles and bounds of a sample of tiles
_MEMINFO = Path("/proc/meminfo")

Part = tuple[int, slice, slice]
"""A part of C: matrix of the batch, rows and columns."""


@dataclass(frozen=True)
class Bounds:
    """Bounds of an output: `low` to `high`, and the exact `value`; floats are not rounded to the output's type."""

    value: Float64
    low: Float64
    high: Float64

    def holds(self, got: Float64) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        """Return which elements are within their bounds."""
        return ((got >= self.low) & (got <= self.high)) | (np.isnan(got) & np.isnan(self.value))

    def width(self) -> Float64:
        """Return the largest error of each element that rounding explains."""
        with np.errstate(invalid="ignore"):
            return np.nan_to_num(np.maximum(self.high - self.value, self.value - self.low), posinf=0.0)

    @cached_property
    def widest(self) -> float:
        """The largest of these errors."""
        return float(self.width().max())


class Reference:
    """Random inputs with a seed, and the outputs in float64, both computed on request.

    `sampled`: results are of the simulator or of executed machine code. These compute only some tiles of a large C, so
    that memory is not checked for all, and round sums to nearest; hardware may truncate them.

    Raises:
        TooLargeToProve: not enough memory to verify.
    """

    def __init__(self, problem: GemmProblem, seed: int, sampled: bool = False) -> None:
        self.problem, self.seed = problem, seed
        _check_memory(problem, sampled)
        self._inputs = Inputs(problem, seed)
        self._views = tuple(
            matrices(buffer, operand, problem.batch)
            for buffer, operand in zip(self._inputs.buffers, problem.operands, strict=True)
        )
        a, b = self._views[_A], self._views[_B]
        self._a = a.transpose(0, 2, 1) if problem.transpose_a else a
        self._b = b.transpose(0, 2, 1) if problem.transpose_b else b
        self._sums: dict[tuple[int, int], Float64] = {}
        self._bounds: dict[tuple[int, int, int, int, int], Bounds] = {}
        self._elements_kept = 0
        self._to_nearest = sampled
        # Rows of an expert are multiplied by its B alone, which parts of C do.
        self._keeps_sums = not sampled and problem.experts is None and problem.multiply_adds <= WHOLE_MULTIPLY_ADDS

    def buffers(self, parts: Iterable[Part] | None = None) -> tuple[Buffer, ...]:
        """Return memory of the problem's operands in order; outputs are poisoned, except a C that is read.

        Inputs are those of these parts of C, None for all; others may be zeros.
        """
        if parts is None:
            self._inputs.need_all()
        for part in parts or ():
            self._inputs.need(*part)
        return tuple(buffer.copy() if buffer.flags.writeable else buffer for buffer in self._inputs.buffers)

    @property
    def held_bytes(self) -> int:
        """Bytes of memory that are held: operands as far as drawn, sums, and bounds."""
        sums = sum(each.nbytes for each in self._sums.values())
        return self._inputs.held_bytes + sums + _BOUNDS_BYTES * self._elements_kept

    def before(self, number: int) -> Buffer:
        """Return the contents of an output's memory before a launch; not to be changed."""
        return self._inputs.buffers[number]

    def bounds_of_c(self, entry: int, rows: slice, columns: slice) -> Bounds:
        """Return the bounds of a part of C, in one matrix of the batch; the first parts requested are cached."""
        part = entry, rows.start, rows.stop, columns.start, columns.stop
        if (known := self._bounds.get(part)) is not None:
            return known
        with np.errstate(all="ignore"):
            bounds = self._rounded(self._after(entry, rows, columns, len(self.problem.epilogue)), self.problem.dtype_c)
        if self._elements_kept + bounds.value.size <= _KEPT_BOUNDS:
            self._bounds[part] = bounds
            self._elements_kept += bounds.value.size
        return bounds

    def bounds_of_sums(self, operand: Operand, entry: int, part: slice) -> Bounds:
        """Return the bounds of a part of a second output: sums along whole rows or columns."""
        p, step = self.problem, operand.step
        assert step is not None
        by_rows = p.epilogue[step].axis is Axis.ROW
        length = max(1, _CHUNK // (p.n if by_rows else p.m))
        parts: list[Approximate] = []
        with np.errstate(all="ignore"):
            for start in range(part.start, part.stop, length):
                some, whole = slice(start, min(start + length, part.stop)), slice(0, p.m if not by_rows else p.n)
                x = self._after(entry, *((some, whole) if by_rows else (whole, some)), step)
                parts.append(summed(x, 1 if by_rows else 0))
            value, error = np.concatenate([x.value for x in parts]), np.concatenate([x.error for x in parts])
            return self._rounded(Approximate(value, error), operand.dtype)

    def _rounded(self, x: Approximate, dtype: DType) -> Bounds:
        value, low, high = (
            decode(encode(v, dtype), dtype).astype(np.float64) for v in (x.value, x.value - x.error, x.value + x.error)
        )
        return Bounds(value if dtype.is_integer else x.value, low, high)

    def _after(self, entry: int, rows: slice, columns: slice, steps: int) -> Approximate:
        """Return a part of C after some steps of the epilogue."""
        p = self.problem
        self._inputs.need(entry, rows, columns)
        x = self._combined(entry, rows, columns)
        operands = {operand.step: number for number, operand in enumerate(p.operands)}
        for number, step in enumerate(p.epilogue[:steps]):
            if step.kind is EpilogueKind.REDUCE:
                continue
            if step.kind is EpilogueKind.BETA:
                old = exactly(self._stored(_C, entry, rows, columns)).rounded()
                x = added(x, scaled(old, constant(step.value)))
            elif number in operands:
                other = self._stored(operands[number], entry, rows, columns)
                factor = step.kind in (EpilogueKind.SCALE, EpilogueKind.MULTIPLY)
                x = scaled(x, other) if factor else added(x, exactly(other))
            else:
                x = elementwise(step, x)
        return x

    @cached_property
    def signed_sums(self) -> tuple[SignedSums, ...]:
        """Return the expected signed sums of each product of the batch, for Freivalds' check."""
        p, exact = self.problem, self.problem.dtype_a.is_integer
        self._inputs.need_all()
        norms_a, norms_b = self._inputs.norms
        return tuple(
            SignedSums(
                p,
                self._a[entry % len(self._a)],
                partial(self._of_b, entry, slice(0, p.columns_b)),
                None if exact else (norms_a[entry % len(norms_a)], norms_b[entry % len(norms_b)]),
                0.0 if exact else self._relative_error(),
                self.seed,
            )
            for entry in range(p.batch)
        )

    def _relative_error(self) -> float:
        """Return the bound of a float sum's error, over the 2-norms of its row and column."""
        p = self.problem
        added = _TRUNCATION * _DEVIATIONS * p.k**0.5
        added = min(added, _NEAREST) if self._to_nearest else added
        return (added + _ROUNDED_PRODUCTS * (p.dtype_a is DType.F32)) * HALF_ULP

    def _stored(self, number: int, entry: int, rows: slice, columns: slice) -> Float64:
        """Return the part of an operand that affects a part of C."""
        operand, view = self.problem.operands[number], self._views[number]
        matrix = view[entry % len(view)]
        part = matrix[rows if operand.rows > 1 else slice(None), columns if operand.columns > 1 else slice(None)]
        return decode(part, operand.dtype).astype(np.float64)

    def _combined(self, entry: int, rows: slice, columns: slice) -> Approximate:
        """Return a part of C before the epilogue: of a product, or of the gate of two."""
        p = self.problem
        products = [self._accumulated(entry, rows, of_b) for of_b in columns_of_products(p, columns)]
        if p.dtype_a.is_integer and (p.gate or p.epilogue or p.dtype_c in (DType.F16, DType.BF16)):
            products = [x.rounded() for x in products]
        return products[0] if p.gate is None else multiplied(elementwise(p.gate.step, products[0]), products[1])

    def _accumulated(self, entry: int, rows: slice, columns: Columns) -> Approximate:
        """Return the sums of products of rows of A and columns of B."""
        p = self.problem
        value = self._summed(entry, rows, columns)
        if p.dtype_a.is_integer:
            return exactly(value)
        norms_a, norms_b = self._inputs.norms
        norms = np.outer(norms_a[entry % len(norms_a)][rows], norms_b[entry % len(norms_b)][columns])
        error = self._relative_error() * norms
        if p.k <= _EXACT_K:
            error[rows.start % 2 :: 2, np.arange(p.columns_b)[columns] % 2 == 0] = 0.0
        return Approximate(value, error)

    def _summed(self, entry: int, rows: slice, columns: Columns) -> Float64:
        p = self.problem
        numbers = entry % len(self._a), entry % len(self._b)
        a, every = self._a[numbers[0]], slice(0, p.k)
        if not self._keeps_sums:
            return _doubles(a[rows], p.dtype_a) @ self._of_b(entry, columns, every).astype(np.float64)
        if numbers not in self._sums:
            self._inputs.need_all()
            of_b = self._of_b(entry, slice(0, p.columns_b), every).astype(np.float64)
            self._sums[numbers] = _doubles(a, p.dtype_a) @ of_b
        return self._sums[numbers][rows, columns]

    def _of_b(self, entry: int, columns: Columns, rows: slice) -> Float32:
        """Return these columns and rows of K of B, as they are multiplied."""
        p, b = self.problem, self._b[entry % len(self._b)][:, columns]
        if not p.has_weights:
            return decode(b[rows], p.dtype_b).astype(np.float32)
        found = (scales_of(p, self._inputs.buffers, entry, name) for name in (SCALE_B, ZERO_B))
        scale, zero = (None if all_ is None else all_[:, columns] for all_ in found)
        return dequantised(p, b, scale, zero, rows)


def _check_memory(p: GemmProblem, sampled: bool) -> None:
    """Check memory for verification: operands as generated, passed and returned, f32 and f64 of A and B, and sums."""
    outputs = p.batch * p.m * p.n
    sums = 8 * outputs * p.products if p.multiply_adds <= WHOLE_MULTIPLY_ADDS else outputs
    kept = _BOUNDS_BYTES * min(outputs, _KEPT_BOUNDS) + sums
    inputs = sum(o.nbytes(p.batch) for o in p.operands if o.role == "input")
    written = sum(o.nbytes(p.batch) for o in p.operands if o.role != "input")
    drawn = 3 * inputs + 12 * (p.m * p.k + (p.experts or 1) * p.k * p.columns_b)
    need = 3 * written + (min(drawn, _SAMPLED_BYTES) if sampled else drawn) + kept
    have = _available_bytes()
    if have is not None and need > have:
        raise TooLargeToProve(f"verifying {p} needs {need / 2**30:.1f} GiB; {have / 2**30:.1f} GiB are free here")


def _available_bytes() -> int | None:
    """Return the memory that Linux can give without swapping; None where it does not tell."""
    try:
        lines = _MEMINFO.read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    kib = (line.split()[1] for line in lines if line.startswith("MemAvailable:"))
    return next((int(number) * 1024 for number in kib), None)


def _doubles(stored: Buffer, dtype: DType) -> Float64:
    return decode(stored, dtype).astype(np.float64)
