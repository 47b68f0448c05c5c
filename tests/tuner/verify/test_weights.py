"""Values of weights against ml_dtypes, which knows the same formats, and a quantised B against its definition."""

import ml_dtypes
import numpy as np
import pytest

from codegen import DType, GemmProblem
from codegen.problem.quantization import Quantization
from tuner.verify.memory_layout import decode
from tuner.verify.reference import Reference
from tuner.verify.weights import dequantised, numbers, packed, values_of

KNOWN = {
    DType.E4M3: ml_dtypes.float8_e4m3fn,
    DType.E5M2: ml_dtypes.float8_e5m2,
    DType.E2M1: ml_dtypes.float4_e2m1fn,
    DType.E8M0: ml_dtypes.float8_e8m0fnu,
    DType.S4: ml_dtypes.int4,
    DType.U4: ml_dtypes.uint4,
}


@pytest.mark.parametrize("dtype", KNOWN)
def test_every_code_has_the_value_of_its_format(dtype: DType) -> None:
    codes = np.arange(1 << dtype.bits, dtype=np.uint8)
    np.testing.assert_array_equal(values_of(dtype), codes.view(KNOWN[dtype]).astype(np.float32))


@pytest.mark.parametrize("dtype", [DType.U4, DType.S4, DType.E2M1])
def test_eight_rows_are_one_word_the_first_in_the_lowest_bits(dtype: DType) -> None:
    codes = np.random.default_rng(1).integers(0, 16, (24, 5), np.uint8)
    stored = packed(codes, dtype)
    assert stored.dtype == np.uint32
    assert stored[1, 3] == sum(int(codes[8 + place, 3]) << 4 * place for place in range(8))
    np.testing.assert_array_equal(numbers(stored, dtype), values_of(dtype)[codes])


@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("scale", [DType.F16, DType.BF16, DType.F32, DType.E8M0])
def test_a_quantised_b_is_its_definition(scale: DType, transpose: bool) -> None:
    quantization = Quantization(32, scale, zeros=True)
    p = GemmProblem(3, 6, 80, dtype_a=DType.BF16, dtype_b=DType.U4, transpose_b=transpose, quantization=quantization)
    a, b, _, scales, zeros = Reference(p, 7).buffers()
    words = b.reshape(6, 10).T if transpose else b.reshape(10, 6)
    scales, zeros = scales.reshape(3, 6), zeros.reshape(1, 6)
    expected = np.empty((80, 6), np.float32)
    for k in range(80):
        for n in range(6):
            code, zero = int(words[k // 8, n]) >> 4 * (k % 8) & 15, int(zeros[0, n]) >> 4 * (k // 32) & 15
            factor = scales[k // 32, n : n + 1]
            known = {DType.BF16: ml_dtypes.bfloat16, DType.E8M0: ml_dtypes.float8_e8m0fnu}.get(scale)
            number = np.float32((factor if known is None else factor.view(known))[0])
            expected[k, n] = np.float32(ml_dtypes.bfloat16(np.float32(code - zero) * number))
    np.testing.assert_array_equal(dequantised(p, words, scales, zeros, slice(0, 80)), expected)
    np.testing.assert_array_equal(dequantised(p, words, scales, zeros, slice(13, 70)), expected[13:70])
    sums = decode(a, DType.BF16).reshape(3, 80).astype(np.float64) @ expected
    np.testing.assert_allclose(Reference(p, 7).bounds_of_c(0, slice(0, 3), slice(0, 6)).value, sums, rtol=1e-12)


@pytest.mark.parametrize("dtype", [DType.U4, DType.S8, DType.E4M3, DType.E2M1])
def test_inputs_differ_in_what_a_wrong_kernel_would_mix_up(dtype: DType) -> None:
    zeros = dtype is DType.U4
    p = GemmProblem(4, 16, 256, dtype_b=dtype, quantization=Quantization(64, zeros=zeros))
    _, b, _, scales, *zero = Reference(p, 3).buffers()
    values = numbers(b.reshape(-1, 16), dtype)
    assert len(np.unique(values[:, 1])) > 10
    assert set(np.unique(values[:, 2] - 8 * zeros)) <= {-2.0, -1.0, 0.0, 1.0, 2.0}
    assert len(np.unique(scales.reshape(4, 16)[:, 1])) == 4
    assert np.isfinite(scales.astype(np.float32)).all()
    assert all(len(np.unique(z)) > 4 for z in zero)
