"""Systolic products equal those of matrices, for all types."""

import numpy as np
import pytest

from codegen.simulate.values import bf16_to_f32, f32_to_bf16
from codegen.xe.machine.refusal import NotRepresented
from tests.codegen.xe.machine.execute_support import Array, run


def packed(b: Array) -> Array:
    """Rows of B [K, 16], as many as fit into a dword interleaved."""
    each = 4 // b.itemsize
    return b.reshape(-1, each, 16).transpose(0, 2, 1).reshape(-1)


@pytest.mark.parametrize(("rows", "start"), [(8, 0), (3, 16)])
@pytest.mark.parametrize(
    ("type_", "dtype", "sums"), [("hf", "f2", "f"), ("tf32", "f4", "f"), ("b", "i1", "d"), ("ub", "u1", "d")]
)
def test_a_product_is_added(type_: str, dtype: str, sums: str, rows: int, start: int) -> None:
    rng, k = np.random.default_rng(4), 32 // np.dtype(dtype).itemsize
    low = 0 if dtype == "u1" else -8
    a, b = rng.integers(low, 9, (rows, k)).astype(dtype), rng.integers(low, 9, (k, 16)).astype(dtype)
    c = rng.integers(-100, 100, (rows, 16)).astype("f4" if sums == "f" else "i4")
    content = np.concatenate([np.zeros(start, dtype), a.reshape(-1)])
    line = f"dpas.8x{rows} (16|M0) r60:{sums} {{}}:{sums} r20:{type_} r30.{start}:{type_}"
    given = {20: packed(b), 30: content, 40: c.reshape(-1)}
    product = a.astype(np.int64) @ b.astype(np.int64)
    got = run(line.format("r40"), given).get(60, c.dtype.str, count=rows).reshape(rows, 16)
    np.testing.assert_array_equal(got, product + c)
    got = run(line.format("null"), given).get(60, c.dtype.str, count=rows).reshape(rows, 16)
    np.testing.assert_array_equal(got, product)


def test_bf16_and_its_sums() -> None:
    rng = np.random.default_rng(5)
    a, b, c = (f32_to_bf16(rng.integers(-8, 9, shape).astype(np.float32)) for shape in ((8, 16), (16, 16), (8, 16)))
    ran = run("dpas.8x8 (16|M0) r60:bf r40:bf r20:bf r30.0:bf", {20: packed(b), 30: a.reshape(-1), 40: c.reshape(-1)})
    expected = f32_to_bf16(bf16_to_f32(a) @ bf16_to_f32(b) + bf16_to_f32(c))
    np.testing.assert_array_equal(ran.get(60, "u2", count=4).reshape(8, 16), expected)


def test_low_bits_of_tf32_are_not_looked_at_and_sums_are_rounded_once() -> None:
    a = np.full((1, 8), 1 + 2**-10 + 2**-20, np.float32)
    b = np.zeros((8, 16), np.float32)
    b[0], b[1], b[2] = 2**24, 1, -(2**24)
    got = run("dpas.8x1 (16|M0) r60:f null:f r20:tf32 r30.0:tf32", {20: b.reshape(-1), 30: a.reshape(-1)}).get(60, "f4")
    assert (got == np.float32(1 + 2**-10)).all()


def test_the_dpas_of_one_register_that_begins_a_chain_changes_nothing() -> None:
    sums = np.arange(128, dtype=np.float32)
    void = "dpas.8x8 (16|M0) r60:f null:f r60:hf r60.0:hf {Atomic}\n"
    given = {20: np.zeros(256, np.float16), 30: np.zeros(128, np.float16), 60: sums}
    got = run(void + "dpas.8x8 (16|M0) r60:f r60:f r20:hf r30.0:hf", given).get(60, "f4", count=8)
    np.testing.assert_array_equal(got, sums)
    with pytest.raises(NotRepresented, match="does not begin a chain"):
        run(void + "dpas.8x8 (16|M0) r70:f r70:f r20:hf r30.0:hf", given)
