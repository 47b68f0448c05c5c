"""Random inputs of a problem, with a seed, scaled so that errors in the results are visible.

Every other row of A and column of B holds small whole numbers, times a power of two for floats, and so do
every other element of vectors and row of matrices. Where these meet, f32 adds without rounding in any order,
so that a part of C must be exact.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codegen import DType, EpilogueKind, EpilogueStep, GemmProblem
from codegen.problem.gemm import Operand
from hal import Buffer
from tuner.verify.memory_layout import (
    encode,
    matrices,
    poisoned,
)

WHOLE = 2
"""The largest of the small whole numbers."""

Float32 = NDArray[np.float32]

_FLOAT_SUM = 0.5  # standard deviation of a sum of products of random floats
_MOST_FLOAT_SUM, _MOST_SCALED = 2.0**10, 2.0**14
# Magnitudes at which the curves are neither linear nor saturated.
_CURVED = {
    EpilogueKind.SIGMOID: 2.0,
    EpilogueKind.TANH: 1.0,
    EpilogueKind.GELU: 4.0,
    EpilogueKind.GELU_TANH: 4.0,
    EpilogueKind.SILU: 4.0,
}
_STRAIGHT_ABOVE = (EpilogueKind.GELU, EpilogueKind.GELU_TANH, EpilogueKind.SILU)
_LEAST_DENSITY, _LEAST_PRODUCTS = 1 / 8, 100  # nonzero integers: least share, and least products in a sum
# Magnitude of results at which few saturate and few round to zero.
_WANTED = {DType.S8: 48.0, DType.U8: 48.0, DType.F16: 1000.0, DType.I32: 1000.0}
_OLD_INTEGERS = {DType.S8: (-64, 64), DType.U8: (0, 128), DType.I32: (-64, 64)}


@dataclass(frozen=True, slots=True)
class _Integers:
    """Integers of one operand: from `least` to `most`, zeros except a share `density`."""

    least: int
    most: int
    density: float = 1.0

    @property
    def mean(self) -> float:
        return (self.least + self.most) / 2

    @property
    def rms(self) -> float:
        return math.sqrt(self.mean**2 + (self.most - self.least) * (self.most - self.least + 2) / 12)


def draw(problem: GemmProblem, seed: int) -> tuple[Buffer, ...]:
    """Return memory for each of the problem's operands: inputs, C if it is read, and poison elsewhere.

    Inputs are read-only.
    """
    p, rng = problem, np.random.default_rng(seed)
    size, buffers = _sum_size(p), [poisoned(operand, p.batch) for operand in p.operands]
    views = [matrices(buffer, operand, p.batch) for buffer, operand in zip(buffers, p.operands, strict=True)]
    a = views[0].transpose(0, 2, 1) if p.transpose_a else views[0]
    b = views[1].transpose(0, 2, 1) if p.transpose_b else views[1]
    if p.dtype_a.is_integer:
        of_a, of_b = _integers(p, size)
        _fill_integers(rng, a, of_a)
        _fill_integers(rng, b, of_b)
    else:
        scale = 2.0 ** -round(math.log2(p.k) / 2)
        _fill_floats(rng, a, p.dtype_a, scale)
        _fill_floats(rng, b.transpose(0, 2, 1), p.dtype_b, _power_of_two(size / _FLOAT_SUM))
    units = _units(p, size)
    for operand, view in list(zip(p.operands, views, strict=True))[2:]:
        if operand.role == "inout":
            _fill_old(rng, view, operand, units[None])
        elif operand.role == "input" and operand.step is not None:
            kind = p.epilogue[operand.step].kind
            factors = kind in (EpilogueKind.SCALE, EpilogueKind.MULTIPLY)
            _fill_operand(rng, view, operand, units[operand.step], factors)
    for operand, buffer in zip(p.operands, buffers, strict=True):
        buffer.flags.writeable = operand.role != "input"
    return tuple(buffers)


def _sum_size(p: GemmProblem) -> float:
    """Return the target magnitude of sums."""
    most = _size_of(p.k, *_largest(p)) if p.dtype_a.is_integer else _MOST_FLOAT_SUM
    wanted = _wanted(p, 0)
    if wanted is not None:
        return min(max(wanted, 2.0**-8), most)
    if not p.dtype_a.is_integer:
        return _FLOAT_SUM
    return min(most, _MOST_SCALED) if any(_is_scale_vector(step) for step in p.epilogue) else most


def _wanted(p: GemmProblem, first: int) -> float | None:
    """Return the target magnitude before this step: where the next curve is nonlinear, or for C's type.

    None if any is suitable, or if a scale vector comes first, which can compensate.
    """
    gain, positive = 1.0, p.dtype_a is p.dtype_b is DType.U8
    for step in p.epilogue[first:]:
        match step.kind:
            case EpilogueKind.SCALE if step.axis is not None:
                return None
            case EpilogueKind.ALPHA | EpilogueKind.SCALE:
                gain *= abs(step.value or 1.0)
            case EpilogueKind.CLIP:
                return max(abs(step.value or 0.0), abs(step.high or 0.0), 2.0**-6) / gain
            case kind if kind in _CURVED and not (positive and kind in _STRAIGHT_ABOVE):
                return _CURVED[kind] / gain
            case _:
                pass
    wanted = _WANTED.get(p.dtype_c) if p.dtype_a.is_integer or p.dtype_c.is_integer else None
    return wanted / gain if wanted is not None and not (p.dtype_a.is_integer and p.dtype_c is DType.I32) else None


def _is_scale_vector(step: EpilogueStep) -> bool:
    return step.kind is EpilogueKind.SCALE and step.axis is not None


def _units(p: GemmProblem, size: float) -> Mapping[int | None, float]:
    """Return the magnitude of each operand that the epilogue reads, by step, and of C under None: powers of two."""
    units: dict[int | None, float] = {None: 1.0}
    for number, step in enumerate(p.epilogue):
        match step.kind:
            case EpilogueKind.BIAS | EpilogueKind.ADD:
                units[number] = _power_of_two(size)
            case EpilogueKind.BETA:
                units[None] = _power_of_two(size)
            case EpilogueKind.SCALE if step.axis is not None:
                wanted = _wanted(p, number + 1)
                units[number] = _power_of_two(wanted / size) if wanted is not None else 1.0
                size *= units[number]
            case EpilogueKind.MULTIPLY:
                units[number] = 1.0
            case EpilogueKind.ALPHA | EpilogueKind.SCALE:
                size *= abs(step.value or 1.0)
            case EpilogueKind.SIGMOID | EpilogueKind.TANH:
                size = min(size, 0.5)
            case EpilogueKind.CLIP:
                size = min(size, max(abs(step.value or 0.0), abs(step.high or 0.0), 2.0**-6))
            case _:
                pass
    return units


def _power_of_two(size: float) -> float:
    """Return the nearest power of two of which every float type can represent many multiples."""
    return 2.0 ** min(max(round(math.log2(size)), -10), 10)


def _largest(p: GemmProblem) -> tuple[_Integers, _Integers]:
    """Return the widest integers whose sums of products fit in i32."""
    return next(pair for pair in _choices(p) if p.k * _reach(pair[0]) * _reach(pair[1]) < 2**31)


def _integers(p: GemmProblem, size: float) -> tuple[_Integers, _Integers]:
    """Return integers of A and B whose sums have at most this magnitude; if small, most are zeros."""
    for a, b in _choices(p):
        if p.k * _reach(a) * _reach(b) < 2**31 and _size_of(p.k, a, b) <= size * 1.01:
            return a, b
    a, b = list(_choices(p))[-1]
    part = size / _size_of(p.k, a, b)
    # Sums of positive products grow with the density, others with its square root.
    density = max(part, 4 / p.k) if a.mean and b.mean else max(part**2, min(_LEAST_DENSITY, _LEAST_PRODUCTS / p.k))
    return _Integers(a.least, a.most, min(density, 1.0)), b


def _choices(p: GemmProblem) -> Iterator[tuple[_Integers, _Integers]]:
    """Yield ranges from the widest to the narrowest."""
    for most in (127, 64, 32, 16, 8, 4, 2, 1):
        of = {DType.S8: _Integers(-most - (most == 127), most), DType.U8: _Integers(0, 2 * most + (most == 127))}
        yield of[p.dtype_a], of[p.dtype_b]


def _reach(integers: _Integers) -> int:
    return max(-integers.least, integers.most)


def _size_of(k: int, a: _Integers, b: _Integers) -> float:
    """Return the magnitude of a sum of k products."""
    return k * a.mean * b.mean if a.mean > 0 and b.mean > 0 else math.sqrt(k) * a.rms * b.rms


def _fill_integers(rng: np.random.Generator, view: Buffer, integers: _Integers) -> None:
    for matrix in view:
        matrix[...] = rng.integers(integers.least, integers.most, matrix.shape, np.int16, endpoint=True)
        if integers.density < 1:
            matrix[rng.random(matrix.shape, dtype=np.float32) >= integers.density] = 0


def _fill_floats(rng: np.random.Generator, view: Buffer, dtype: DType, scale: float) -> None:
    for matrix in view:
        values = _drawn(rng, matrix.shape, scale)
        values[::2] = _whole(rng, values[::2].shape, scale / WHOLE)
        matrix[...] = encode(values, dtype)


def _fill_old(rng: np.random.Generator, view: Buffer, operand: Operand, unit: float) -> None:
    """Fill C with its old contents."""
    if not operand.dtype.is_integer:
        _fill_floats(rng, view, operand.dtype, unit)
        return
    least, most = _OLD_INTEGERS[operand.dtype]
    view[...] = rng.integers(least, most, view.shape, endpoint=True)


def _fill_operand(rng: np.random.Generator, view: Buffer, operand: Operand, unit: float, factors: bool) -> None:
    """Fill a vector or matrix; factors are never zero, and powers of two instead of whole numbers."""
    for matrix in view:
        values = _drawn(rng, matrix.shape, unit)
        rows = values.T if operand.rows == 1 else values  # for a vector, every other element
        rows[::2] = _whole(rng, rows[::2].shape, unit / WHOLE)
        if factors:
            sign = rng.choice(np.array([-1, 1], np.float32), matrix.shape)
            values = sign * (np.float32(unit) + np.abs(values) / 2)
            rows = values.T if operand.rows == 1 else values
            rows[::2] = np.float32(unit) * np.exp2(_whole(rng, rows[::2].shape, 1 / WHOLE).round())
        matrix[...] = encode(values, operand.dtype)


def _drawn(rng: np.random.Generator, shape: tuple[int, ...], scale: float) -> Float32:
    return (2 * rng.random(shape, dtype=np.float32) - 1) * np.float32(scale)


def _whole(rng: np.random.Generator, shape: tuple[int, ...], scale: float) -> Float32:
    return rng.integers(-WHOLE, WHOLE, shape, np.int8, endpoint=True).astype(np.float32) * np.float32(scale)
