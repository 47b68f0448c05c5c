"""Memory layout of operands: rounding to each type, matrices in a buffer, and poison around them."""

import numpy as np
import pytest

from codegen import DType, GemmProblem
from tuner.verify.memory_layout import (
    decode,
    encode,
    is_poison,
    matrices,
    outside_is_poison,
    poisoned,
)


def test_bf16_rounds_to_nearest_even() -> None:
    values = np.array([1.0, 1 + 2**-8, 1 + 3 * 2**-8, -(2.0**-130), np.nan, np.inf], dtype=np.float32)
    rounded = decode(encode(values, DType.BF16), DType.BF16)
    assert rounded[:4].tolist() == [1.0, 1.0, 1 + 4 * 2**-8, -(2.0**-130)]
    assert np.isnan(rounded[4])
    assert rounded[5] == np.inf


def test_tf32_keeps_ten_bits_to_nearest_even() -> None:
    values = np.array([1 + 2**-11, 1 + 3 * 2**-11, 1 + 2**-11 + 2**-20, -3.5], dtype=np.float32)
    assert encode(values, DType.TF32).tolist() == [1.0, 1 + 2**-9, 1 + 2**-10, -3.5]


@pytest.mark.parametrize(
    ("dtype", "least", "most"), [(DType.S8, -128, 127), (DType.U8, 0, 255), (DType.I32, -(2**31), 2**31 - 1)]
)
def test_integers_round_to_even_saturate_and_have_no_nan(dtype: DType, least: int, most: int) -> None:
    stored = encode(np.array([0.5, 1.5, 2.49, 1e30, -1e30, np.inf, np.nan]), dtype)
    assert stored.tolist() == [0, 2, 2, most, least, most, 0]


def test_f16_overflows_to_infinity() -> None:
    assert encode(np.array([65519.0, 65520.0, -1e30]), DType.F16).tolist() == [65504.0, np.inf, -np.inf]


@pytest.mark.parametrize("dtype", [kind for kind in DType if kind.bits > 8 or kind in (DType.S8, DType.U8)])
def test_poison_is_told_from_results(dtype: DType) -> None:
    operand = GemmProblem(24, 40, 56, dtype_a=dtype, dtype_b=dtype, lda=64).operands[0]
    memory = poisoned(operand, 1)
    assert memory.nbytes == operand.nbytes(1)
    assert is_poison(memory, dtype).all()
    assert np.isnan(decode(memory, dtype)).all() != dtype.is_integer
    computed_nan = encode(np.array([0.0 if dtype.is_integer else np.nan]), dtype)
    assert not is_poison(computed_nan, dtype).any()


def test_matrices_lie_in_their_memory() -> None:
    p = GemmProblem(2, 3, 5, batch=2, ldc=4, batch_stride_c=10)
    memory = poisoned(p.c, 2)
    view = matrices(memory, p.c, 2)
    assert view.shape == (2, 2, 3)
    view[...] = np.arange(12).reshape(2, 2, 3)
    nan = np.nan
    expected = [0, 1, 2, nan, 3, 4, 5, nan, nan, nan, 6, 7, 8, nan, 9, 10, 11, nan]
    np.testing.assert_array_equal(memory, np.array(expected, np.float32))
    assert outside_is_poison(memory, p.c, 2)
    memory[9] = np.nan
    assert not outside_is_poison(memory, p.c, 2)


def test_a_matrix_that_a_batch_shares_is_there_once() -> None:
    operand = GemmProblem(2, 3, 5, batch=4, batch_stride_b=0).operands[1]
    assert matrices(poisoned(operand, 4), operand, 4).shape == (1, 5, 3)
