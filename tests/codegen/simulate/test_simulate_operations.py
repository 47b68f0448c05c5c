"""Instructions of LLVM IR, lane by lane."""

import math
import struct
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from codegen.xe.bf16_conversions import FROM_BITS, TO_BITS
from tests.codegen.ir_snippets import per_lane, run

FLOATS = np.array(
    [
        0.0,
        -0.0,
        1.0,
        -1.5,
        3.14159,
        1e-3,
        65504.0,
        -7e4,
        1e-40,
        np.inf,
        -np.inf,
        np.nan,
        1.00390625,
        1.01171875,
        2.5,
        -2.5,
    ],
    np.float32,
)


def _rounded(value: float, keep: int) -> float:
    """`value` to `keep` significant bits, to nearest, ties to even; for normal numbers."""
    if value == 0 or not math.isfinite(value):
        return value
    fraction, exponent = math.frexp(value)
    return math.ldexp(round(fraction * 2**keep), exponent - keep)


def test_float_is_rounded_to_bf16() -> None:
    body = f"  %y = call spir_func i16 @_Z27{TO_BITS}f(float %x)"
    got = per_lane(body, "float", "i16", FLOATS, np.zeros(16, np.uint16))
    for value, bits in zip(FLOATS.tolist(), got.tolist(), strict=True):
        (back,) = struct.unpack("<f", struct.pack("<I", bits << 16))
        if math.isnan(value):
            assert math.isnan(back)
        elif abs(value) > 1e-30:
            assert back == _rounded(value, 8)


def test_bits_of_bf16_are_the_first_of_float() -> None:
    bits = (np.arange(16) * 4099 + 0x3F80).astype(np.uint16)
    body = f"  %y = call spir_func float @_Z27{FROM_BITS}s(i16 %x)"
    got = per_lane(body, "i16", "float", bits, np.zeros(16, np.float32))
    np.testing.assert_array_equal(got.view(np.uint32), bits.astype(np.uint32) << 16)


def test_float_is_rounded_to_half() -> None:
    got = per_lane("  %y = fptrunc float %x to half", "float", "half", FLOATS, np.zeros(16, np.float16))
    for value, half in zip(FLOATS.tolist(), got.tolist(), strict=True):
        if math.isnan(value):
            assert math.isnan(half)
        elif 1e-4 < abs(value) < 65504:
            assert half == _rounded(value, 11)
    assert got[7] == -np.inf


INTEGERS = np.array([0, 1, -1, 7, -7, 8, -8, 100, -100, 2**31 - 1, -(2**31), 5, -5, 16, 31, 33], np.int32)


def _wrap(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ("add i32 %x, 2147483647", lambda x: x + 2**31 - 1),
        ("sub i32 5, %x", lambda x: 5 - x),
        ("mul i32 %x, 65537", lambda x: x * 65537),
        ("sdiv i32 %x, 3", lambda x: int(math.copysign(abs(x) // 3, x))),
        ("srem i32 %x, 3", lambda x: int(math.copysign(abs(x) % 3, x))),
        ("udiv i32 %x, 3", lambda x: x % 2**32 // 3),
        ("urem i32 %x, 10", lambda x: x % 2**32 % 10),
        ("shl i32 %x, 5", lambda x: x << 5),
        ("lshr i32 %x, 4", lambda x: x % 2**32 >> 4),
        ("ashr i32 %x, 4", lambda x: x >> 4),
        ("and i32 %x, 12", lambda x: x & 12),
        ("or disjoint i32 %x, 64", lambda x: x | 64),
        ("xor i32 %x, -1", lambda x: ~x),
        ("call i32 @llvm.umin.i32(i32 %x, i32 9)", lambda x: min(x % 2**32, 9)),
        ("call i32 @llvm.smax.i32(i32 %x, i32 -3)", lambda x: max(x, -3)),
    ],
    ids=lambda v: v.split("(")[0] if isinstance(v, str) else "",
)
def test_integers(operation: str, expected: Callable[[int], int]) -> None:
    got = per_lane(f"  %y = {operation}", "i32", "i32", INTEGERS, np.zeros(16, np.int32))
    assert got.tolist() == [_wrap(expected(x)) for x in INTEGERS.tolist()]


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        ("icmp slt i32 %x, 7", lambda x: x < 7),
        ("icmp samesign ult i32 %x, 7", lambda x: x % 2**32 < 7),
        ("icmp uge i32 %x, 100", lambda x: x % 2**32 >= 100),
        ("icmp ne i32 %x, -8", lambda x: x != -8),
    ],
)
def test_comparisons(predicate: str, expected: Callable[[int], bool]) -> None:
    body = f"  %c = {predicate}\n  %y = select i1 %c, i32 1, i32 0"
    got = per_lane(body, "i32", "i32", INTEGERS, np.zeros(16, np.int32))
    assert got.tolist() == [int(expected(x)) for x in INTEGERS.tolist()]


@pytest.mark.parametrize(
    ("predicate", "with_nan"), [("olt", 0), ("ult", 1), ("one", 0), ("une", 1), ("ord", 0), ("uno", 1), ("oge", 0)]
)
def test_comparisons_with_nan(predicate: str, with_nan: int) -> None:
    body = f"  %c = fcmp {predicate} float %x, 1.000000e+00\n  %y = zext i1 %c to i32"
    got = per_lane(body, "float", "i32", FLOATS, np.zeros(16, np.int32))
    assert got[11] == with_nan


@pytest.mark.parametrize(
    ("cast", "type_out", "expected"),
    [
        ("zext i8 %x to i32", "i32", [200, 5]),
        ("sext i8 %x to i32", "i32", [-56, 5]),
        ("uitofp i8 %x to float", "float", [200.0, 5.0]),
        ("sitofp i8 %x to float", "float", [-56.0, 5.0]),
    ],
)
def test_conversions_know_signs(cast: str, type_out: str, expected: list[float]) -> None:
    values = np.array([200, 5] * 8, np.uint8)
    dtype = np.float32 if type_out == "float" else np.int32
    got = per_lane(f"  %y = {cast}", "i8", type_out, values, np.zeros(16, dtype))
    assert got[:2].tolist() == expected


def test_vectors_are_taken_apart_and_put_together() -> None:
    body = """
  %v0 = insertelement <4 x i32> poison, i32 %x, i64 2
  %ten = add i32 %x, 10
  %v1 = insertelement <4 x i32> %v0, i32 %ten, i64 0
  %s = shufflevector <4 x i32> %v1, <4 x i32> <i32 5, i32 6, i32 7, i32 8>, <2 x i32> <i32 2, i32 7>
  %w = bitcast <2 x i32> %s to <4 x i16>
  %low = extractelement <4 x i16> %w, i64 0
  %last = extractelement <2 x i32> %s, i64 1
  %wide = sext i16 %low to i32
  %hundreds = mul i32 %wide, 100
  %y = add i32 %hundreds, %last"""
    values = np.arange(16, dtype=np.int32)
    got = per_lane(body, "i32", "i32", values, np.zeros(16, np.int32))
    assert got.tolist() == [100 * x + 8 for x in range(16)]


@pytest.mark.parametrize(
    ("call", "lane_of"),
    [
        ("@_Z23sub_group_shuffle_xorjj(i32 %x, i32 5)", lambda lane: lane ^ 5),
        ("@_Z19sub_group_broadcastjj(i32 %x, i32 9)", lambda lane: 9),
        ("@_Z17sub_group_shufflejj(i32 %x, i32 %reversed)", lambda lane: 15 - lane),
    ],
)
def test_lanes_exchange_values(call: str, lane_of: Callable[[int], int]) -> None:
    call = call.replace("_Z23", "_Z21")
    values = np.arange(100, 116, dtype=np.int32)
    body = f"  %reversed = sub i32 15, %lane32\n  %y = call spir_func i32 {call}"
    got = per_lane(body, "i32", "i32", values, np.zeros(16, np.int32))
    assert got.tolist() == [100 + lane_of(lane) for lane in range(16)]


def test_what_nothing_defines_is_not_zero() -> None:
    out = np.zeros(2, np.float32)
    body = """
  %array = alloca [4 x i32], align 4
  %unset = load i32, ptr %array, align 4
  store i32 %unset, ptr addrspace(1) %B, align 4
  %next = getelementptr float, ptr addrspace(1) %B, i64 1
  store float poison, ptr addrspace(1) %next, align 4
  ret void"""
    run(body, np.zeros(4, np.int32), out)
    assert out.view(np.uint32)[0] == 0xFFFFFFFF
    assert np.isnan(out[1])


def test_work_items_know_their_place() -> None:
    body = """
  %item = call spir_func i64 @_Z12get_local_idj(i32 0)
  %size = call spir_func i64 @_Z14get_local_sizej(i32 0)
  %count = call spir_func i32 @_Z18get_num_sub_groupsv()
  %wide = zext i32 %count to i64
  %scaled = mul i64 %size, 1000
  %x = add i64 %item, %scaled
  %tens = mul i64 %wide, 1000000
  %y = add i64 %x, %tens
  %to = getelementptr i64, ptr addrspace(1) %B, i64 %item
  store i64 %y, ptr addrspace(1) %to, align 8
  ret void"""
    out: NDArray[np.int64] = np.zeros(48, np.int64)
    run(body, np.zeros(4, np.int32), out, subgroups=3)
    assert out.tolist() == [3_048_000 + item for item in range(48)]
