"""Values of the simulator: conversions by bits agree with numpy's own."""

import math

import numpy as np
import pytest

from codegen.simulate.values import f16_to_f32, f64_to_bf16

ALL = np.arange(2**16, dtype=np.uint16).reshape(16, 32, 128)


@pytest.mark.parametrize("some", [ALL, ALL[ALL & 0x7C00 != 0x7C00], ALL[:0]], ids=["all", "finite", "none"])
def test_every_half_is_widened_exactly(some: np.ndarray[tuple[int, ...], np.dtype[np.uint16]]) -> None:
    expected = some.view(np.float16).astype(np.float32)
    got = f16_to_f32(some.view(np.int16))
    assert got.dtype == np.float32
    is_nan = np.isnan(expected)
    assert (np.isnan(got) == is_nan).all()
    assert np.array_equal(got.view(np.uint32)[~is_nan], expected.view(np.uint32)[~is_nan])


@pytest.mark.parametrize("value", [1.00390625, 1.01171875, 1 + 2**-8 + 2**-30, -(1 + 2**-8 + 2**-30), 2.0**-140, 1e300])
def test_double_is_rounded_to_bf16_once(value: float) -> None:
    bits = f64_to_bf16(np.array([value]))
    mine = float((bits.astype(np.uint32) << 16).view(np.float32)[0])
    if math.isinf(mine):
        assert value > 2.0**127 * (2 - 2**-9)
        return
    exponent = max(math.frexp(value)[1] - 8, -133)
    assert mine == math.ldexp(round(value / 2.0**exponent), exponent)
