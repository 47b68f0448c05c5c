"""Memory layout of operands: element types in numpy, matrices inside buffers, and poison around them."""

import mmap

import numpy as np
from numpy.typing import NDArray

from codegen import DType, GemmProblem
from codegen.problem.gemm import Operand
from hal import Buffer

Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]
Columns = slice | NDArray[np.int64]

STORED: dict[DType, type[np.generic]] = {
    DType.F16: np.float16,
    DType.BF16: np.uint16,  # as raw bits
    DType.TF32: np.float32,
    DType.F32: np.float32,
    DType.S8: np.int8,
    DType.U8: np.uint8,
    DType.I32: np.int32,
    **dict.fromkeys((DType.E4M3, DType.E5M2, DType.E8M0), np.uint8),
    **dict.fromkeys((DType.S4, DType.U4, DType.E2M1), np.uint32),
}
"""Stored elements in numpy: bf16 and small floats as their bits, types of 4 bits as words of eight."""
# Contents of memory before a kernel writes it: NaNs that no arithmetic produces, and integers that are rare results.
_POISON = {
    DType.F16: 0x7E5A,
    DType.BF16: 0x7FDA,
    DType.TF32: 0x7FDEAD5A,
    DType.F32: 0x7FDEAD5A,
    DType.S8: 0xA5,
    DType.U8: 0xA5,
    DType.I32: 0xA5A5A5A5,
    **dict.fromkeys((DType.E4M3, DType.E5M2, DType.E8M0), 0xA5),
    **dict.fromkeys((DType.S4, DType.U4, DType.E2M1), 0xA5A5A5A5),
}
_RANGES = {DType.S8: (-128, 127), DType.U8: (0, 255), DType.I32: (-(2**31), 2**31 - 1)}
_BITS = {1: np.uint8, 2: np.uint16, 4: np.uint32}
_BF16_NAN = 0x7FC0
_TF32_DROPPED_BITS = 13


def poisoned(operand: Operand, batch: int) -> Buffer:
    """Return memory for an operand, filled with poison."""
    bits = np.full(operand.elements(batch), _POISON[operand.dtype], _BITS[operand.dtype.nbytes])
    return bits.view(STORED[operand.dtype])


def untouched(operand: Operand, batch: int) -> Buffer:
    """Return memory for an operand that reads as zeros; only pages that are written take memory of the machine."""
    memory = mmap.mmap(-1, operand.nbytes(batch), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(memory, STORED[operand.dtype])


def poison_gaps(buffer: Buffer, operand: Operand, batch: int, matrix: int, rows: slice | None, last: bool) -> None:
    """Write poison around a matrix in `untouched` memory: after these rows, None for all where `last`, and after the
    last one.
    """
    poison = np.array(_POISON[operand.dtype], _BITS[buffer.itemsize])
    start = matrix * operand.batch_stride
    whole = bits_of(buffer)[start : start + operand.rows * operand.pitch].reshape(operand.rows, operand.pitch)
    if rows is not None or last:
        whole[slice(None) if rows is None else rows, operand.columns :] = poison
    count = operand.matrices(batch)
    if last and matrix + 1 < count:
        bits_of(buffer)[start + operand.rows * operand.pitch : start + operand.batch_stride] = poison


def is_poison(stored: Buffer, dtype: DType) -> NDArray[np.bool_]:
    """Return which elements hold poison, compared bitwise."""
    return bits_of(stored) == _POISON[dtype]


def bits_of(stored: Buffer) -> Buffer:
    """Return the elements as unsigned integers, for bitwise comparison, NaN included."""
    return stored.view(_BITS[stored.dtype.itemsize])


def matrices(buffer: Buffer, operand: Operand, batch: int) -> Buffer:
    """Return a view of the matrices in an operand's memory: [matrices, rows, columns], one matrix if the
    batch shares it.
    """
    count = operand.matrices(batch)
    strides = tuple(n * buffer.itemsize for n in (operand.batch_stride, operand.pitch, 1))
    return np.lib.stride_tricks.as_strided(buffer, (count, operand.rows, operand.columns), strides)


def outside_is_poison(buffer: Buffer, operand: Operand, batch: int) -> bool:
    """Return whether the memory between rows and between matrices is still poison."""
    if operand.pitch == operand.columns and operand.batch_stride in (0, operand.rows * operand.pitch):
        return True
    between = np.ones(buffer.shape, np.bool_)
    matrices(between, operand, batch)[...] = False
    return bool(is_poison(buffer[between], operand.dtype).all())


def columns_of_products(p: GemmProblem, columns: slice) -> list[Columns]:
    """Return the columns of B of which each product's columns of C are made."""
    if p.gate is None:
        return [columns]
    if p.gate.interleave is None:
        return [slice(columns.start + first, columns.stop + first) for first in (0, p.n)]
    block, of_c = p.gate.interleave, np.arange(columns.start, columns.stop)
    first = of_c // block * 2 * block + of_c % block
    return [first, first + block]


def encode(values: NDArray[np.generic], dtype: DType) -> Buffer:
    """Return values as stored: floats rounded to nearest even via f32, integers to nearest even and saturated."""
    if dtype.is_integer:
        whole = np.rint(values.astype(np.float64))
        return np.clip(np.where(np.isnan(whole), 0.0, whole), *_RANGES[dtype]).astype(STORED[dtype])
    with np.errstate(over="ignore"):
        single = values.astype(np.float32)
        if dtype is DType.F16:
            return single.astype(np.float16)
    if dtype is DType.BF16:
        return _without_low_bits(single, 16)[..., None].view(np.uint16)[..., 1]
    return _without_low_bits(single, _TF32_DROPPED_BITS) if dtype is DType.TF32 else single


def decode(stored: Buffer, dtype: DType) -> NDArray[np.float32 | np.float64]:
    """Return the values of stored elements; exact."""
    if dtype is DType.BF16:
        return (stored.astype(np.uint32) << 16).view(np.float32)
    return stored.astype(np.float64 if dtype is DType.I32 else np.float32)


def _without_low_bits(values: NDArray[np.float32], dropped: int) -> NDArray[np.float32]:
    """Round to nearest even, so that the lowest bits are zero."""
    bits = values.view(np.uint32)
    half, kept = np.uint32((1 << (dropped - 1)) - 1), np.uint32(0xFFFFFFFF << dropped & 0xFFFFFFFF)
    rounded = (bits + (half + ((bits >> dropped) & 1))) & kept
    nan = np.uint32(_BF16_NAN << 16)
    return np.where(np.isnan(values), nan, rounded).astype(np.uint32).view(np.float32)
