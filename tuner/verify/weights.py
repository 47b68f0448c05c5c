"""Values of weights: elements of 4 and 8 bits, and those of a quantised B."""

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from codegen import DType, GemmProblem
from hal import Buffer
from tuner.verify.memory_layout import Float32, decode, encode, matrices

_FORMATS = {DType.E4M3: (4, 3), DType.E5M2: (5, 2), DType.E2M1: (2, 1)}  # bits of exponent and of fraction
_SIGNED = (DType.S4, DType.S8)
_POWER_BIAS, _POWER_NAN = 127, 255


@cache
def values_of(dtype: DType) -> Float32:
    """Return the value of each code of a type of 4 or 8 bits. Source: OCP 8-bit floating point, OCP microscaling."""
    codes = np.arange(1 << dtype.bits)
    if dtype is DType.E8M0:
        return np.where(codes == _POWER_NAN, np.nan, np.exp2(codes - float(_POWER_BIAS))).astype(np.float32)
    if dtype.is_integer:
        negative = (codes >> (dtype.bits - 1) > 0) & (dtype in _SIGNED)
        return (codes - (negative << dtype.bits)).astype(np.float32)
    exponents, fractions = _FORMATS[dtype]
    bias, sign = (1 << (exponents - 1)) - 1, np.where(codes >> (exponents + fractions), -1.0, 1.0)
    exponent, fraction = codes >> fractions & ((1 << exponents) - 1), codes & ((1 << fractions) - 1)
    normal = np.exp2(np.maximum(exponent, 1) - float(bias)) * ((exponent > 0) + fraction / (1 << fractions))
    if dtype is DType.E5M2:
        beyond = np.where(fraction > 0, np.nan, np.inf)
        normal = np.where(exponent == (1 << exponents) - 1, beyond, normal)
    if dtype is DType.E4M3:
        normal = np.where((codes & 0x7F) == 0x7F, np.nan, normal)
    return (sign * normal).astype(np.float32)


def numbers(stored: Buffer, dtype: DType) -> Float32:
    """Return the values of stored elements, [rows, columns]; words of eight become eight rows."""
    if dtype.packed == 1:
        return values_of(dtype)[stored.view(np.uint8)] if dtype.bits == 8 else decode(stored, dtype).astype(np.float32)
    places = np.arange(dtype.packed, dtype=np.uint32) * np.uint32(dtype.bits)
    codes = stored.view(np.uint32)[:, None, :] >> places[:, None] & np.uint32((1 << dtype.bits) - 1)
    return values_of(dtype)[codes.reshape(-1, stored.shape[1])]


def packed(codes: NDArray[np.uint8], dtype: DType) -> Buffer:
    """Return codes, [rows, columns], as stored: of 4-bit types eight rows in a word, the last ones zeros."""
    if dtype.packed == 1:
        return codes.view(np.int8) if dtype is DType.S8 else codes
    rows = -(-len(codes) // dtype.packed) * dtype.packed
    whole = np.zeros((rows, codes.shape[1]), np.uint32)
    whole[: len(codes)] = codes
    places = np.arange(dtype.packed, dtype=np.uint32) * np.uint32(dtype.bits)
    return np.bitwise_or.reduce(whole.reshape(-1, dtype.packed, codes.shape[1]) << places[:, None], axis=1)


def dequantised(p: GemmProblem, b: Buffer, scale: Buffer | None, zero: Buffer | None, rows: slice) -> Float32:
    """Return these rows of K of the B that is multiplied, from columns of B, scales and zero points as stored."""
    each = p.dtype_b.packed
    first = rows.start // each
    value = numbers(b[first : -(-rows.stop // each)], p.dtype_b)[rows.start - first * each : rows.stop - first * each]
    if p.quantization is None:
        return value
    assert scale is not None
    group = np.arange(rows.start, rows.stop) // (p.quantization.group or p.k)
    value = value - np.float32(p.quantization.zero)
    if zero is not None:
        value = value - numbers(zero, p.dtype_b)[group]
    return decode(encode(value * numbers(scale, p.quantization.scale)[group], p.dtype_a), p.dtype_a).astype(np.float32)


def scales_of(p: GemmProblem, buffers: Sequence[Buffer], entry: int, name: str) -> Buffer | None:
    """Return the scales or zero points of one matrix of the batch, [groups, N] as stored; None if there are none."""
    for number, operand in enumerate(p.operands):
        if operand.name == name:
            found = matrices(buffers[number], operand, p.batch)
            return found[entry % len(found)]
    return None
