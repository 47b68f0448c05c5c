"""Weights of GPTQ and AWQ checkpoints: the operands that they become stand for the same numbers."""

import numpy as np
import pytest
from numpy.typing import NDArray

from codegen import DType, GemmProblem, Quantization
from codegen.checkpoints import Weights, from_awq, from_gptq
from tuner.verify.weights import dequantised

K, N, GROUP = 96, 40, 32
GROUPS = K // GROUP
Ints = NDArray[np.int64]


def drawn(seed: int, least: int = 0, most: int = 15) -> tuple[Ints, Ints, NDArray[np.float16]]:
    """Codes [K, N], zero points and scales [groups, N]."""
    rng = np.random.default_rng(seed)
    scales = (rng.integers(1, 9, (GROUPS, N)) / 16).astype(np.float16)
    return rng.integers(0, 16, (K, N)), rng.integers(least, most + 1, (GROUPS, N)), scales


def word(eight: list[int]) -> int:
    """Eight codes as a signed word, the first in the lowest bits."""
    return int(np.array([sum(code << 4 * place for place, code in enumerate(eight))], np.uint32).view(np.int32)[0])


def gptq(codes: Ints, zeros: Ints) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Words as `QuantLinear.pack` of AutoGPTQ writes them: rows of qweight in words, zero points less one."""
    qweight = [[word([int(codes[8 * row + i, n]) for i in range(8)]) for n in range(N)] for row in range(K // 8)]
    less = zeros - 1 & 15
    qzeros = [[word([int(less[g, 8 * c + i]) for i in range(8)]) for c in range(N // 8)] for g in range(GROUPS)]
    return np.array(qweight, np.int32), np.array(qzeros, np.int32)


def awq(codes: Ints) -> NDArray[np.int32]:
    """Words as `WQLinear_GEMM` of AutoAWQ writes them: nibble i has column 8 c + (0, 2, 4, 6, 1, 3, 5, 7)[i]."""
    order = (0, 2, 4, 6, 1, 3, 5, 7)
    return np.array([[word([int(row[8 * c + i]) for i in order]) for c in range(N // 8)] for row in codes], np.int32)


def numbers(found: Weights, transpose: bool, zero: int | None) -> NDArray[np.float32]:
    """The values [K, N] that a kernel multiplies."""
    quantization = Quantization(GROUP, zero=zero or 0, zeros=zero is None)
    p = GemmProblem(16, N, K, dtype_b=DType.U4, transpose_b=transpose, quantization=quantization)
    for operand, memory in zip((p.operands[1], *p.operands[3:]), found, strict=False):
        assert memory is not None
        assert memory.shape == (operand.rows, operand.columns)
        assert memory.flags.c_contiguous
    words = found.B.T if transpose else found.B
    return dequantised(p, words, found.B_scale.astype(np.float16), found.B_zero, slice(0, K))


def meant(codes: Ints, zeros: Ints, scales: NDArray[np.float16]) -> NDArray[np.float64]:
    """(code - zero) * scale, element by element."""
    return np.array(
        [[(codes[k, n] - zeros[k // GROUP, n]) * float(scales[k // GROUP, n]) for n in range(N)] for k in range(K)]
    )


@pytest.mark.parametrize("transpose", [False, True])
def test_a_gptq_layer_keeps_its_numbers(transpose: bool) -> None:
    codes, zeros, scales = drawn(1)
    qweight, qzeros = gptq(codes, zeros)
    found = from_gptq(qweight, qzeros, scales, np.arange(K) // GROUP, transpose=transpose)
    np.testing.assert_array_equal(numbers(found, transpose, None), meant(codes, zeros, scales))
    newer = from_gptq(qweight, qzeros, scales, zero_offset=0)
    np.testing.assert_array_equal(numbers(newer, False, None), meant(codes, zeros - 1 & 15, scales))


@pytest.mark.parametrize("transpose", [False, True])
def test_an_awq_layer_keeps_its_numbers(transpose: bool) -> None:
    codes, zeros, scales = drawn(2)
    found = from_awq(awq(codes), awq(zeros), scales, transpose=transpose)
    np.testing.assert_array_equal(numbers(found, transpose, None), meant(codes, zeros, scales))


def test_one_zero_point_needs_no_operand() -> None:
    codes, zeros, scales = drawn(3, least=8, most=8)
    found = from_gptq(*gptq(codes, zeros), scales, zero=8)
    assert found.B_zero is None
    np.testing.assert_array_equal(numbers(found, False, 8), meant(codes, zeros, scales))
    with pytest.raises(ValueError, match="expected zero points of 7 alone, got 8: tune a problem with stored ones"):
        from_awq(awq(codes), awq(zeros), scales, zero=7)


def test_rows_in_the_order_of_activations_are_refused() -> None:
    codes, zeros, scales = drawn(4)
    order = np.random.default_rng(4).permutation(np.arange(K) // GROUP)
    with pytest.raises(ValueError, match=r"g_idx: expected groups of neighbouring rows, .* desc_act=False"):
        from_gptq(*gptq(codes, zeros), scales, order)


def test_shapes_that_do_not_fit_are_refused() -> None:
    codes, zeros, scales = drawn(5)
    qweight, qzeros = gptq(codes, zeros)
    with pytest.raises(ValueError, match=r"\[groups, 40\], got \[3, 40\] and \[2, 40\]"):
        from_gptq(qweight, qzeros, scales[:2])
    with pytest.raises(ValueError, match=r"words of 32 bits, got .* of int64"):
        from_gptq(qweight.astype(np.int64), qzeros, scales)


@pytest.mark.parametrize("wrong", [2.0**101, -(2.0**101), np.inf, np.nan])
def test_scales_beyond_what_kernels_multiply_are_refused(wrong: float) -> None:
    codes, zeros, scales = drawn(9, least=1)
    scales = scales.astype(np.float32)
    scales[0, 5] = 2.0**100
    from_gptq(*gptq(codes, zeros), scales)
    scales[1, 7] = wrong
    with pytest.raises(ValueError, match=r"scales: expected at most 2\^100 in magnitude.* for group 1: quantise"):
        from_gptq(*gptq(codes, zeros), scales)
