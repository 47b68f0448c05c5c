"""Weights of GPTQ and AWQ checkpoints of 4 bits, as the operands of a kernel hold them.

Words of 32 bits hold eight codes of 4 bits, the first in the lowest bits; a code stands for (code - zero) * scale.

    GPTQ      qweight [K / 8, N]         neighbours along K
              qzeros [groups, N / 8]     neighbours along N; each is one less than the zero point (that itself in "v2")
    AWQ       qweight [K, N / 8]         columns 0, 2, 4, 6, 1, 3, 5, 7 of eight neighbours along N
              qzeros [groups, N / 8]     in the same order
    both      scales [groups, N]

    a kernel  B [K / 8, N]               neighbours along K; transposed: [N, K / 8]
              B_scale [groups, N]
              B_zero [ceil(groups / 8), N]    neighbours along the groups

Sources: AutoGPTQ 0.7, `QuantLinear.pack`; AutoAWQ 0.2, `WQLinear_GEMM` and `packing_utils`.

The functions need numpy alone; programs of host code have them too.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

AWQ_ORDER = (0, 2, 4, 6, 1, 3, 5, 7)


class Weights(NamedTuple):
    """Operands of a kernel: words of B, scales, and words of zero points, None if all are one number."""

    B: NDArray[np.uint32]
    B_scale: NDArray[np.floating]
    B_zero: NDArray[np.uint32] | None


def from_gptq(
    qweight: NDArray[np.integer],
    qzeros: NDArray[np.integer],
    scales: NDArray[np.floating],
    g_idx: NDArray[np.integer] | None = None,
    *,
    transpose: bool = False,
    zero: int | None = None,
    zero_offset: int = 1,
) -> Weights:
    """Return the operands of a GPTQ layer, for a kernel with `transpose`d B, and with one `zero` or stored ones.

    `zero_offset` is added to stored zero points, in 4 bits: 1, or 0 of checkpoints whose format is gptq_v2.

    Raises:
        ValueError: shapes that do not fit, scales beyond 2^100, rows in another order (act-order), or zero points that
            are not `zero`.
    """
    rows = unpacked(qweight, 0)
    if g_idx is not None:
        size = max(1, int(np.count_nonzero(g_idx == 0)))
        if not np.array_equal(g_idx, np.arange(len(rows)) // size):
            raise ValueError(
                "g_idx: expected groups of neighbouring rows, got another order (act-order): quantise with "
                "desc_act=False, or reorder the rows of B and the columns of A"
            )
    zeros = unpacked(qzeros, 1) + np.uint32(zero_offset) & np.uint32(15)
    return operands(rows, zeros, scales, transpose, zero)


def from_awq(
    qweight: NDArray[np.integer],
    qzeros: NDArray[np.integer],
    scales: NDArray[np.floating],
    *,
    transpose: bool = False,
    zero: int | None = None,
) -> Weights:
    """Return the operands of an AWQ layer (GEMM version), for a kernel with `transpose`d B, and with one `zero` or
    stored ones.

    Raises:
        ValueError: shapes that do not fit, scales beyond 2^100, or zero points that are not `zero`.
    """
    return operands(unpacked(qweight, 1, AWQ_ORDER), unpacked(qzeros, 1, AWQ_ORDER), scales, transpose, zero)


def unpacked(words: NDArray[np.integer], axis: int, order: tuple[int, ...] = tuple(range(8))) -> NDArray[np.uint32]:
    """Return the codes of words along an axis; `order` is the place of each among eight neighbours.

    Raises:
        ValueError: no matrix of words of 32 bits.
    """
    if words.ndim != 2 or words.dtype.itemsize != 4:
        raise ValueError(f"expected a matrix of words of 32 bits, got {words.shape} of {words.dtype}")
    found = np.empty((*words.shape, 8), np.uint32)
    for bits, place in enumerate(order):
        found[..., place] = words.astype(np.uint32) >> np.uint32(4 * bits) & np.uint32(15)
    rows, columns = words.shape
    if axis == 1:
        return found.reshape(rows, 8 * columns)
    return found.transpose(0, 2, 1).reshape(8 * rows, columns)


def packed(codes: NDArray[np.integer]) -> NDArray[np.uint32]:
    """Return codes [rows, columns] as words of eight along the rows; missing ones are zeros."""
    whole = np.zeros((-(-len(codes) // 8), 8, codes.shape[1]), np.uint32)
    whole.reshape(-1, codes.shape[1])[: len(codes)] = codes
    return np.bitwise_or.reduce(whole << np.arange(0, 32, 4, dtype=np.uint32)[:, None], axis=1)


def operands(
    codes: NDArray[np.uint32],
    zeros: NDArray[np.uint32],
    scales: NDArray[np.floating],
    transpose: bool,
    zero: int | None,
) -> Weights:
    """Return the operands of codes [K, N] with zero points and scales [groups, N].

    Raises:
        ValueError: shapes that do not fit, scales beyond 2^100, or zero points that are not `zero`.
    """
    if zeros.shape != scales.shape or scales.shape[1] != codes.shape[1]:
        raise ValueError(
            f"expected zero points and scales [groups, {codes.shape[1]}], got {list(zeros.shape)} and "
            f"{list(scales.shape)}"
        )
    beyond = ~(np.abs(scales.astype(np.float64)) <= 2.0**100)  # also NaN
    if beyond.any():
        raise ValueError(
            f"scales: expected at most 2^100 in magnitude, of which kernels compute multiples in f32, got "
            f"{float(scales[beyond][0])} for group {int(np.argwhere(beyond)[0][0])}: quantise these weights again"
        )
    if zero is not None and (other := zeros[zeros != zero]).size:
        raise ValueError(f"expected zero points of {zero} alone, got {int(other[0])}: tune a problem with stored ones")
    words = packed(codes)
    return Weights(
        np.ascontiguousarray(words.T) if transpose else words, scales, packed(zeros) if zero is None else None
    )
