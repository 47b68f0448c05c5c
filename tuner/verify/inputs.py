"""Random inputs of a problem, with a seed, scaled so that errors in the results are visible.

Every other row of A and column of B holds small whole numbers, times a power of two for floats, and so do
every other element of vectors and row of matrices. Where these meet, f32 adds without rounding in any order,
so that a part of C must be exact.

Rows of A, columns of B and rows of the epilogue's matrices are drawn in blocks, each with a generator of its own, when
they are first needed: a part of C has the same inputs whether or not others are drawn.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from mmap import PAGESIZE

import numpy as np
from numpy.typing import NDArray

from codegen import DType, EpilogueKind, EpilogueStep, GemmProblem
from codegen.problem.experts import offsets
from codegen.problem.gemm import OFFSETS, SCALE_B, ZERO_B, Operand
from hal import Buffer
from tuner.verify.memory_layout import (
    STORED,
    Float32,
    Float64,
    columns_of_products,
    decode,
    encode,
    matrices,
    poison_gaps,
    poisoned,
    untouched,
)
from tuner.verify.weights import dequantised, packed, scales_of, values_of

WHOLE = 2
"""The largest of the small whole numbers."""

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
_MOST_SMALL_FLOAT = 8.0  # magnitude of weights of float types that are drawn
_POWER_BIAS = 127  # of e8m0
_LEAST_DENSITY, _LEAST_PRODUCTS = 1 / 8, 100  # nonzero integers: least share, and least products in a sum
# Magnitude of results at which few saturate and few round to zero.
_WANTED = {DType.S8: 48.0, DType.U8: 48.0, DType.F16: 1000.0, DType.I32: 1000.0}
_LEAST_F16_SUM = 2.0**-12  # numbers below 2^-14 lose digits
_OLD_INTEGERS = {DType.S8: (-64, 64), DType.U8: (0, 128), DType.I32: (-64, 64)}


# Lines that are drawn together, of about so many elements: even, as every other one holds whole numbers.
_BLOCK_ELEMENTS, _LEAST_LINES, _MOST_LINES = 2**15, 16, 2**12


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


class Inputs:
    """Memory of a problem's operands in `buffers`: inputs as far as drawn, C if it is read, and poison elsewhere.

    Inputs are read-only; what is not drawn takes no memory and reads as zeros. Not thread-safe.
    """

    def __init__(self, problem: GemmProblem, seed: int) -> None:
        p, size = problem, _sum_size(problem)
        self._problem = problem
        units = _units(p, size)
        self._lines: list[_Lines] = []
        self.buffers: list[Buffer] = []
        for number, operand in enumerate(p.operands):
            fill = _filler(p, number, size, units)
            sparse = operand.role == "input" and not operand.is_vector and operand.name not in (SCALE_B, ZERO_B)
            buffer = untouched(operand, p.batch) if sparse else poisoned(operand, p.batch)
            values = self._weights if operand.name == "B" and p.has_weights else None
            lines = None if fill is None else _Lines(p, operand, buffer, (seed, number), fill, values)
            if lines is not None and not sparse:
                lines.need_all()
            elif lines is not None:
                self._lines.append(lines)
            shown = buffer.view()
            shown.flags.writeable = operand.role != "input"
            self.buffers.append(shown)

    def need(self, entry: int, rows: slice, columns: slice) -> None:
        """Draw what affects this part of C, in one matrix of the batch."""
        for lines in self._lines:
            for part in self._lines_of(lines, rows, columns):
                lines.need(entry, part)

    def _lines_of(self, lines: "_Lines", rows: slice, columns: slice) -> Iterator[slice]:
        """Yield the lines of an operand that affect this part of C."""
        if not lines.along_n:
            yield rows
            return
        for part in columns_of_products(self._problem, columns):
            yield part if isinstance(part, slice) else slice(int(part[0]), int(part[-1]) + 1)

    @property
    def held_bytes(self) -> int:
        """Bytes of memory of what is drawn, and of the operands that are drawn at once."""
        whole = sum(buffer.nbytes for buffer in self.buffers) - sum(lines.nbytes for lines in self._lines)
        return whole + sum(lines.drawn_bytes for lines in self._lines)

    def need_all(self) -> None:
        """Draw everything."""
        for lines in self._lines:
            lines.need_all()

    def _weights(self, stored: Buffer, matrix: int, columns: slice) -> Float32:
        """Return columns of B as they are multiplied, [columns, K], from those as stored."""
        p = self._problem
        scale, zero = (scales_of(p, self.buffers, matrix, name) for name in (SCALE_B, ZERO_B))
        of_scale, of_zero = (None if all_ is None else all_[:, columns] for all_ in (scale, zero))
        return dequantised(p, stored.T, of_scale, of_zero, slice(0, p.k)).T

    @property
    def norms(self) -> tuple[Float64, Float64]:
        """2-norms of rows of A and of columns of B, [matrices, lines], of those that are drawn."""
        a, b = (lines.norms for lines in self._lines[:2])
        return a, b


class _Lines:
    """Lines of an operand, drawn block by block: rows, or columns where these run along N and rows along K."""

    def __init__(
        self,
        p: GemmProblem,
        operand: Operand,
        buffer: Buffer,
        key: tuple[int, int],
        fill: "_Fill",
        values: Callable[[Buffer, int, slice], Float32] | None = None,
    ) -> None:
        self._values = values
        self.along_n = operand.name == "B"
        self._by_rows = operand.axes[0] not in ("k", "group")
        self._operand, self._batch, self._key, self._fill = operand, p.batch, key, fill
        stored = matrices(buffer, operand, p.batch)
        self._buffer = buffer
        self._matrices = stored if self._by_rows else stored.transpose(0, 2, 1)
        _, count, length = self._matrices.shape
        self._block = min(max(_LEAST_LINES, 1 << (_BLOCK_ELEMENTS // length).bit_length()), _MOST_LINES)
        self._drawn = np.zeros((len(self._matrices), -(-count // self._block)), np.bool_)
        self.norms = np.zeros((len(self._matrices), count))

    def need(self, entry: int, lines: slice) -> None:
        """Draw the blocks of these lines."""
        matrix = entry % len(self._matrices)
        for block in range(lines.start // self._block, -(-lines.stop // self._block)):
            if not self._drawn[matrix, block]:
                self._draw(matrix, block)

    @property
    def nbytes(self) -> int:
        """Bytes of the operand's memory, drawn or not."""
        return self._buffer.nbytes

    @property
    def drawn_bytes(self) -> int:
        """Bytes of the pages that drawn lines are in."""
        if self._by_rows:
            return round(self.nbytes * float(self._drawn.mean()))
        length = self._matrices.shape[2]
        pages = -(-self._block * self._buffer.itemsize // PAGESIZE)
        return min(self.nbytes, int(self._drawn.sum()) * length * pages * PAGESIZE)

    def need_all(self) -> None:
        for matrix in range(len(self._matrices)):
            self.need(matrix, slice(0, self._matrices.shape[1]))

    def _draw(self, matrix: int, block: int) -> None:
        here = slice(block * self._block, min((block + 1) * self._block, self._matrices.shape[1]))
        part = self._matrices[matrix, here]
        last = here.stop == self._matrices.shape[1]
        poison_gaps(self._buffer, self._operand, self._batch, matrix, here if self._by_rows else None, last)
        stored = self._fill(np.random.default_rng((*self._key, matrix, block)), part.shape)
        part[...] = stored
        if self._values is not None or not self._operand.dtype.is_integer:
            known = self._values
            values = decode(stored, self._operand.dtype) if known is None else known(stored, matrix, here)
            product: Callable[..., Float64] = np.einsum
            self.norms[matrix, here] = np.sqrt(product("ij,ij->i", values, values, dtype=np.float64))
        self._drawn[matrix, block] = True


_Fill = Callable[[np.random.Generator, tuple[int, ...]], Buffer]
"""Draws lines, [lines, length], as stored."""


def _filler(p: GemmProblem, number: int, size: float, units: Mapping[int | None, float]) -> _Fill | None:
    """Return the function that draws an operand; None for one that only a launch writes."""
    operand = p.operands[number]
    dtype = operand.dtype
    if operand.name == OFFSETS:
        return lambda _, shape: np.array(offsets(p.rows_of_experts), np.int32).reshape(shape)
    if p.has_weights and operand.name in ("A", "B", SCALE_B, ZERO_B):
        return _weights_filler(p, operand, size)
    if number < 2 and p.dtype_a.is_integer:
        integers = _integers(p, size)[number]
        return lambda rng, shape: _drawn_integers(rng, shape, integers).astype(STORED[dtype])
    if number < 2:
        scale = 2.0 ** -round(math.log2(p.k) / 2) if number == 0 else _power_of_two(size / _FLOAT_SUM)
        return lambda rng, shape: _drawn_floats(rng, shape, dtype, scale)
    if operand.role == "inout":
        if not dtype.is_integer:
            return lambda rng, shape: _drawn_floats(rng, shape, dtype, units[None])
        least, most = _OLD_INTEGERS[dtype]
        return lambda rng, shape: rng.integers(least, most, shape, endpoint=True).astype(STORED[dtype])
    if operand.role == "input" and operand.step is not None:
        kind, unit = p.epilogue[operand.step].kind, units[operand.step]
        factors = kind in (EpilogueKind.SCALE, EpilogueKind.MULTIPLY)
        return lambda rng, shape: _drawn_operand(rng, shape, operand, unit, factors)
    return None


def _weights_filler(p: GemmProblem, operand: Operand, size: float) -> _Fill:
    """Return the function that draws A, weights, their scales or zero points.

    Every other column has whole numbers, as far as the type has them, and one power of two as scale.
    """
    dtype, quantization = operand.dtype, p.quantization
    factor = size / _FLOAT_SUM
    of_weights = factor / float(np.abs(_codes(p)[1]).mean())
    if operand.name == "A":
        scale = 2.0 ** -round(math.log2(p.k) / 2 - (0 if quantization is not None else math.log2(of_weights)))
        return lambda rng, shape: _drawn_floats(rng, shape, dtype, scale)
    if operand.name == "B":
        return lambda rng, shape: _drawn_weights(p, rng, shape)
    if operand.name == ZERO_B:
        groups = p.quantization.groups(p.k) if p.quantization is not None else 0
        return lambda rng, shape: _drawn_zeros(p, rng, (shape[0], groups))
    exact, drawn = _power_of_two(factor / WHOLE), _power_of_two(of_weights)
    return lambda rng, shape: _drawn_scales(rng, shape, dtype, exact, drawn)


def _codes(p: GemmProblem) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """Return the codes of B that are drawn, and their values less the zero point."""
    values = values_of(p.dtype_b)
    codes = np.flatnonzero(np.abs(values) <= (_MOST_SMALL_FLOAT if not p.dtype_b.is_integer else np.inf))
    return codes.astype(np.uint8), values[codes] - np.float32(_zero(p))


def _zero(p: GemmProblem) -> int:
    """Return the zero point of the columns of whole numbers."""
    q = p.quantization
    return 0 if q is None else 1 << (p.dtype_b.bits - 1) if q.zeros else q.zero


def _drawn_weights(p: GemmProblem, rng: np.random.Generator, shape: tuple[int, ...]) -> Buffer:
    lines, length = shape[0], shape[1] * p.dtype_b.packed
    codes, values = _codes(p)
    drawn = codes[rng.integers(0, len(codes), (lines, length))]
    whole = codes[(np.abs(values) <= WHOLE) & (values == np.rint(values))]
    if len(whole):
        drawn[::2] = whole[rng.integers(0, len(whole), drawn[::2].shape)]
    return packed(drawn.T, p.dtype_b).T


def _drawn_zeros(p: GemmProblem, rng: np.random.Generator, shape: tuple[int, int]) -> Buffer:
    zeros = rng.integers(0, 1 << p.dtype_b.bits, shape, np.uint8)
    zeros[::2] = _zero(p)
    return packed(zeros.T, p.dtype_b).T


def _drawn_scales(rng: np.random.Generator, shape: tuple[int, ...], dtype: DType, exact: float, drawn: float) -> Buffer:
    values = np.float32(drawn) * (np.float32(0.5) + rng.random(shape, dtype=np.float32))
    values[::2] = exact
    if dtype is DType.E8M0:
        return (np.round(np.log2(values)) + _POWER_BIAS).astype(np.uint8)
    return encode(values, dtype)


def _sum_size(p: GemmProblem) -> float:
    """Return the target magnitude of sums of a product."""
    most = _size_of(p.k, *_largest(p)) if p.dtype_a.is_integer else _MOST_FLOAT_SUM
    if p.gate is not None:
        return min(_CURVED[p.gate.step.kind], most)
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
    wanted = _WANTED.get(p.dtype_c)
    is_held = p.dtype_c is DType.I32 if p.dtype_a.is_integer else p.dtype_c is DType.F16 and _fills_f16(gain)
    return None if wanted is None or is_held else wanted / gain


def _fills_f16(gain: float) -> bool:
    """Return whether f16 holds random floats after this gain, with most of its digits."""
    return _LEAST_F16_SUM <= _FLOAT_SUM * gain <= _WANTED[DType.F16]


def _is_scale_vector(step: EpilogueStep) -> bool:
    return step.kind is EpilogueKind.SCALE and step.axis is not None


def _units(p: GemmProblem, size: float) -> Mapping[int | None, float]:
    """Return the magnitude of each operand that the epilogue reads, by step, and of C under None: powers of two."""
    if p.gate is not None:
        size = size * size / 2  # about half of the first factors are small
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


def _drawn_integers(rng: np.random.Generator, shape: tuple[int, ...], integers: _Integers) -> NDArray[np.int16]:
    values = rng.integers(integers.least, integers.most, shape, np.int16, endpoint=True)
    if integers.density < 1:
        values[rng.random(shape, dtype=np.float32) >= integers.density] = 0
    return values


def _drawn_floats(rng: np.random.Generator, shape: tuple[int, ...], dtype: DType, scale: float) -> Buffer:
    values = _drawn(rng, shape, scale)
    values[::2] = _whole(rng, values[::2].shape, scale / WHOLE)
    return encode(values, dtype)


def _drawn_operand(
    rng: np.random.Generator, shape: tuple[int, ...], operand: Operand, unit: float, factors: bool
) -> Buffer:
    """Draw a vector or rows of a matrix; factors are never zero, and powers of two instead of whole numbers."""
    values = _drawn(rng, shape, unit)
    rows = values.T if operand.rows == 1 else values  # for a vector, every other element
    rows[::2] = _whole(rng, rows[::2].shape, unit / WHOLE)
    if factors:
        sign = rng.choice(np.array([-1, 1], np.float32), shape)
        values = sign * (np.float32(unit) + np.abs(values) / 2)
        rows = values.T if operand.rows == 1 else values
        rows[::2] = np.float32(unit) * np.exp2(_whole(rng, rows[::2].shape, 1 / WHOLE).round())
    return encode(values, operand.dtype)


def _drawn(rng: np.random.Generator, shape: tuple[int, ...], scale: float) -> Float32:
    return (2 * rng.random(shape, dtype=np.float32) - 1) * np.float32(scale)


def _whole(rng: np.random.Generator, shape: tuple[int, ...], scale: float) -> Float32:
    return rng.integers(-WHOLE, WHOLE, shape, np.int8, endpoint=True).astype(np.float32) * np.float32(scale)
