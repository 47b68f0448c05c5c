"""run_kernel: arguments of every kind, launches of three dimensions, and the functions that kernels call."""

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from codegen.simulate import (
    SimulationRefused,
    run_kernel,
)
from tests.codegen.ir_snippets import per_lane

SCALED = """
define spir_kernel void @k(ptr addrspace(1) %x, i64 %address, float %scale, half %more, i32 %count, i1 %on) {
entry:
  %item = call spir_func i64 @_Z13get_global_idj(i32 0)
  %limit = sext i32 %count to i64
  %inside = icmp slt i64 %item, %limit
  %go = and i1 %inside, %on
  br i1 %go, label %work, label %done
work:
  %to = inttoptr i64 %address to ptr addrspace(1)
  %from.at = getelementptr float, ptr addrspace(1) %x, i64 %item
  %to.at = getelementptr float, ptr addrspace(1) %to, i64 %item
  %value = load float, ptr addrspace(1) %from.at, align 4
  %scaled = fmul float %value, %scale
  %wide = fpext half %more to float
  %sum = fadd float %scaled, %wide
  store float %sum, ptr addrspace(1) %to.at, align 4
  br label %done
done:
  ret void
}
"""


def _scaled(*args: Any) -> None:
    run_kernel(SCALED, "k", (2, 1, 1), (32, 1, 1), args)


def test_arguments_are_arrays_addresses_and_numbers() -> None:
    x, out = np.arange(64, dtype=np.float32), np.full(64, -1, np.float32)
    x.flags.writeable = False
    _scaled(x, out, 2.5, np.float16(0.5), 45, True)
    assert out.tolist() == [2.5 * i + 0.5 if i < 45 else -1 for i in range(64)]
    _scaled(x, out, 1, 0.0, np.int32(-1), False)
    assert out[63] == -1


X = np.zeros(64, np.float32)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((X, X, 1.0, 1.0, 4), "expected 6 arguments for (ptr addrspace(1) %x, i64 %address"),
        ((1.5, X, 1.0, 1.0, 4, True), "expected an array for ptr addrspace(1), got 1.5"),
        ((X, X, X, 1.0, 4, True), "expected a number for float, got an array of float32"),
        ((X, X, 1.0, 1.0, 4.0, True), "expected an integer for i32, got 4.0"),
        ((X, X, True, 1.0, 4, True), "expected a number for float, got True"),
        ((X, X, 1.0, 1.0, 1 << 32, True), "4294967296 does not fit in i32"),
        ((X[::2], X, 1.0, 1.0, 4, True), "buffers must be contiguous"),
        ((X.astype(object), X, 1.0, 1.0, 4, True), "expected an array of numbers, got one of object"),
    ],
)
def test_arguments_that_a_kernel_does_not_take_are_refused(args: tuple[Any, ...], message: str) -> None:
    with pytest.raises(SimulationRefused, match=re.escape(message)):
        _scaled(*args)


def test_the_same_array_twice_is_the_same_memory() -> None:
    """As the allocated and the aligned pointer of a memref are."""
    text = """
define spir_kernel void @k(ptr addrspace(1) %a, ptr addrspace(1) %b) {
  %same = icmp eq ptr addrspace(1) %a, %b
  %number = zext i1 %same to i32
  store i32 %number, ptr addrspace(1) %b, align 4
  ret void
}
"""
    a, b = np.full(2, 7, np.int32), np.full(2, 7, np.int32)
    run_kernel(text, "k", (1, 1, 1), (16, 1, 1), [a, a])
    run_kernel(text, "k", (1, 1, 1), (16, 1, 1), [a, b])
    assert (a.tolist(), b.tolist()) == ([1, 7], [0, 7])


def test_a_pointer_to_shared_memory_takes_its_size() -> None:
    text = """
define spir_kernel void @k(ptr addrspace(1) %out, ptr addrspace(3) %slm) {
  %item = call spir_func i64 @_Z12get_local_idj(i32 0)
  %mine = getelementptr i32, ptr addrspace(3) %slm, i64 %item
  %number = trunc i64 %item to i32
  store i32 %number, ptr addrspace(3) %mine, align 4
  call spir_func void @_Z7barrierj(i32 1)
  %other = xor i64 %item, 31
  %theirs = getelementptr i32, ptr addrspace(3) %slm, i64 %other
  %got = load i32, ptr addrspace(3) %theirs, align 4
  %to = getelementptr i32, ptr addrspace(1) %out, i64 %item
  store i32 %got, ptr addrspace(1) %to, align 4
  ret void
}
"""
    out = np.zeros(32, np.int32)
    run_kernel(text, "k", (1, 1, 1), (32, 1, 1), [out, 128])
    assert out.tolist() == list(range(31, -1, -1))
    with pytest.raises(SimulationRefused, match="touches bytes 124 to 128 of the 124 bytes of %slm"):
        run_kernel(text, "k", (1, 1, 1), (32, 1, 1), [out, 124])
    with pytest.raises(SimulationRefused, match="expected the bytes of shared memory"):
        run_kernel(text, "k", (1, 1, 1), (32, 1, 1), [out, out])


def test_constants_of_the_module_are_read() -> None:
    text = """
@table = private unnamed_addr addrspace(1) constant [4 x i32] [i32 10, i32 20, i32 30, i32 40], align 4
@zero = private unnamed_addr addrspace(1) constant [16 x i8] zeroinitializer, align 4
@letters = private unnamed_addr addrspace(1) constant [4 x i8] c"ab\\0A\\00", align 4

define spir_kernel void @k(ptr addrspace(1) %out) {
  %a = load i32, ptr addrspace(1) getelementptr inbounds ([4 x i32], ptr addrspace(1) @table, i64 0, i64 2), align 4
  %b = load i32, ptr addrspace(1) @zero, align 4
  %c = load i32, ptr addrspace(1) @letters, align 4
  %s = add i32 %a, %b
  store i32 %s, ptr addrspace(1) %out, align 4
  %next = getelementptr { i8, i32, [2 x i16] }, ptr addrspace(1) %out, i64 0, i32 1
  store i32 %c, ptr addrspace(1) %next, align 4
  ret void
}
"""
    out = np.zeros(2, np.int32)
    run_kernel(text, "k", (1, 1, 1), (16, 1, 1), [out])
    assert out.tolist() == [30, int.from_bytes(b"ab\n\0", "little")]


PLACES = """
define spir_kernel void @k(ptr addrspace(1) %out) {
  %lx = call spir_func i64 @_Z12get_local_idj(i32 0)
  %ly = call spir_func i64 @_Z12get_local_idj(i32 1)
  %lz = call spir_func i64 @_Z12get_local_idj(i32 2)
  %gx = call spir_func i64 @_Z13get_global_idj(i32 0)
  %gy = call spir_func i64 @_Z13get_global_idj(i32 1)
  %gz = call spir_func i64 @_Z13get_global_idj(i32 2)
  %sx = call spir_func i64 @_Z15get_global_sizej(i32 0)
  %sy = call spir_func i64 @_Z15get_global_sizej(i32 1)
  %hy = call spir_func i64 @_Z14get_local_sizej(i32 1)
  %nz = call spir_func i64 @_Z14get_num_groupsj(i32 2)
  %sg = call spir_func i32 @_Z16get_sub_group_id()
  %sgs = call spir_func i32 @_Z18get_num_sub_groups()
  %lane = call spir_func i32 @_Z22get_sub_group_local_id()
  %row = mul i64 %gz, %sy
  %rows = add i64 %row, %gy
  %start = mul i64 %rows, %sx
  %at = add i64 %start, %gx
  %a = mul i64 %lz, 10
  %b = add i64 %a, %ly
  %c = mul i64 %b, 10
  %d = add i64 %c, %lx
  %e = trunc i64 %d to i32
  %f = mul i32 %e, 10
  %g = add i32 %f, %sg
  %h = mul i32 %g, 100
  %i = add i32 %h, %lane
  %j = mul i32 %i, 10
  %k = add i32 %j, %sgs
  %l = mul i32 %k, 10
  %hy32 = trunc i64 %hy to i32
  %m = add i32 %l, %hy32
  %n = mul i32 %m, 10
  %nz32 = trunc i64 %nz to i32
  %o = add i32 %n, %nz32
  %to = getelementptr i32, ptr addrspace(1) %out, i64 %at
  store i32 %o, ptr addrspace(1) %to, align 4
  ret void
}
"""


def test_work_items_of_three_dimensions_know_their_places() -> None:
    block, grid = (8, 2, 4), (3, 1, 2)
    out = np.zeros((grid[2] * block[2], grid[1] * block[1], grid[0] * block[0]), np.int32)
    report = run_kernel(PLACES, "k", grid, block, [out])
    assert (report.executed, report.total) == (6, 6)
    for z, y, x in np.ndindex(out.shape):
        lx, ly, lz = x % 8, y % 2, z % 4
        linear = lx + 8 * (ly + 2 * lz)  # x is first in sub-groups
        place = ((lz * 10 + ly) * 10 + lx) * 10 + linear // 16
        expected = (((place * 100 + linear % 16) * 10 + 4) * 10 + 2) * 10 + 2
        assert out[z, y, x] == expected


def test_a_work_group_must_be_whole_subgroups() -> None:
    with pytest.raises(SimulationRefused, match="whole sub-groups of 16"):
        run_kernel(PLACES, "k", (1, 1, 1), (5, 3, 1), [np.zeros(15, np.int32)])


VALUES = np.array([0.1, 0.7, 1.0, 1.5, 2.5, 3.2, 0.01, 0.9, 4.4, 5.5, 0.3, 0.45, 1.1, 7.25, 9.0, 0.6], np.float32)


@pytest.mark.parametrize(
    ("call", "oracle"),
    [
        ("@_Z3erff(float %x)", math.erf),
        ("@_Z4erfcf(float %x)", math.erfc),
        ("@_Z3expf(float %x)", math.exp),
        ("@_Z22__spirv_ocl_native_expf(float %x)", math.exp),
        ("@_Z11native_log2f(float %x)", math.log2),
        ("@_Z5rsqrtf(float %x)", lambda x: 1 / math.sqrt(x)),
        ("@_Z4tanhf(float %x)", math.tanh),
        ("@_Z4fmaxff(float %x, float 1.250000e+00)", lambda x: max(x, 1.25)),
        ("@_Z3minff(float %x, float 1.250000e+00)", lambda x: min(x, 1.25)),
        ("@_Z3powff(float %x, float 1.500000e+00)", lambda x: x**1.5),
        ("@_Z5roundf(float %x)", lambda x: math.floor(x + 0.5)),
        ("@llvm.roundeven.f32(float %x)", round),
        ("@llvm.floor.f32(float %x)", math.floor),
        ("@llvm.ceil.f32(float %x)", math.ceil),
        ("@llvm.sin.f32(float %x)", math.sin),
        ("@llvm.atan.f32(float %x)", math.atan),
        ("@llvm.log.f32(float %x)", math.log),
        ("@llvm.log10.f32(float %x)", math.log10),
        ("@llvm.pow.f32(float %x, float 2.500000e-01)", lambda x: x**0.25),
        ("@llvm.powi.f32.i32(float %x, i32 3)", lambda x: x**3),
        ("@llvm.copysign.f32(float %x, float -1.0)", lambda x: -x),
        ("@llvm.fma.f32(float %x, float %x, float 1.0)", lambda x: x * x + 1),
    ],
    ids=lambda v: v.split("(")[0] if isinstance(v, str) else "",
)
def test_mathematics(call: str, oracle: Callable[[float], float]) -> None:
    got = per_lane(f"  %y = call float {call}", "float", "float", VALUES, np.zeros(16, np.float32))
    np.testing.assert_allclose(got.astype(np.float64), [oracle(float(x)) for x in VALUES], rtol=3e-7, atol=1e-7)


def test_mathematics_of_vectors() -> None:
    body = """
  %a = insertelement <2 x float> poison, float %x, i64 0
  %b = insertelement <2 x float> %a, float 5.000000e-01, i64 1
  %c = call <2 x float> @_Z3erfDv2_f(<2 x float> %b)
  %y = call float @llvm.vector.reduce.fadd.v2f32(float 1.000000e+00, <2 x float> %c)"""
    got = per_lane(body, "float", "float", VALUES, np.zeros(16, np.float32))
    np.testing.assert_allclose(got, [1 + math.erf(float(x)) + math.erf(0.5) for x in VALUES], rtol=1e-6)


INTEGERS = np.array([0, 1, -1, 7, -8, 255, 256, -(2**31), 2**31 - 1, 12, 96, -96, 1 << 20, 3, 5, -5], np.int32)
_MASK = 2**32 - 1


def _signed(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31


@pytest.mark.parametrize(
    ("call", "oracle"),
    [
        ("@llvm.abs.i32(i32 %x, i1 false)", lambda x: _signed(abs(x))),
        ("@llvm.ctpop.i32(i32 %x)", lambda x: (x & _MASK).bit_count()),
        ("@llvm.ctlz.i32(i32 %x, i1 false)", lambda x: 32 - (x & _MASK).bit_length()),
        ("@llvm.cttz.i32(i32 %x, i1 false)", lambda x: ((x & -x) & _MASK).bit_length() - 1 if x else 32),
        ("@llvm.sadd.sat.i32(i32 %x, i32 2147483000)", lambda x: min(x + 2147483000, 2**31 - 1)),
        ("@llvm.usub.sat.i32(i32 %x, i32 100)", lambda x: _signed(max((x & _MASK) - 100, 0))),
        ("@llvm.uadd.sat.i32(i32 %x, i32 -9)", lambda x: _signed(min((x & _MASK) + 2**32 - 9, _MASK))),
        ("@llvm.fshl.i32(i32 %x, i32 -2, i32 37)", lambda x: _signed((x << 5) | ((2**32 - 2) >> 27))),
        ("@llvm.fshr.i32(i32 %x, i32 -2, i32 4)", lambda x: _signed((x << 28) | ((2**32 - 2) >> 4))),
        ("@llvm.fshr.i32(i32 %x, i32 -2, i32 32)", lambda x: -2),
        ("@llvm.bswap.i32(i32 %x)", lambda x: int.from_bytes((x & _MASK).to_bytes(4, "big"), "little", signed=True)),
        ("@_Z3maxjj(i32 %x, i32 9)", lambda x: _signed(max(x & _MASK, 9))),
        ("@_Z3maxii(i32 %x, i32 9)", lambda x: max(x, 9)),
        ("@_Z20sub_group_reduce_addi(i32 %x)", lambda x: _signed(int(INTEGERS.astype(np.int64).sum()))),
        ("@_Z20sub_group_reduce_maxj(i32 %x)", lambda x: -1),
        ("@_Z20sub_group_reduce_maxi(i32 %x)", lambda x: 2**31 - 1),
        ("@_Z13sub_group_anyi(i32 %x)", lambda x: 1),
        ("@_Z13sub_group_alli(i32 %x)", lambda x: 0),
    ],
    ids=lambda v: v.split("(")[0] if isinstance(v, str) else "",
)
def test_integers(call: str, oracle: Callable[[int], int]) -> None:
    got = per_lane(f"  %y = call i32 {call}", "i32", "i32", INTEGERS, np.zeros(16, np.int32))
    assert got.tolist() == [oracle(x) for x in INTEGERS.tolist()]


@pytest.mark.parametrize(
    ("call", "lane_of"),
    [("@_Z20sub_group_shuffle_upij(i32 %x, i32 3)", -3), ("@_Z22sub_group_shuffle_downij(i32 %x, i32 5)", 5)],
)
def test_values_move_up_and_down(call: str, lane_of: int) -> None:
    values: NDArray[np.int32] = np.arange(100, 116, dtype=np.int32)
    got = per_lane(f"  %y = call i32 {call}", "i32", "i32", values, np.zeros(16, np.int32))
    expected = [100 + lane + lane_of if 0 <= lane + lane_of < 16 else -1 for lane in range(16)]
    assert got.tolist() == expected  # -1 is what is not defined


def test_masks_are_bits() -> None:
    body = """
  %a = insertelement <8 x i32> zeroinitializer, i32 %x, i64 1
  %c = icmp sgt <8 x i32> %a, splat (i32 6)
  %m = bitcast <8 x i1> %c to i8
  %back = bitcast i8 %m to <8 x i1>
  %bit = extractelement <8 x i1> %back, i64 1
  %one = zext i1 %bit to i32
  %wide = zext i8 %m to i32
  %tens = mul i32 %one, 10
  %y = add i32 %tens, %wide"""
    got = per_lane(body, "i32", "i32", INTEGERS, np.zeros(16, np.int32))
    assert got.tolist() == [12 if x > 6 else 0 for x in INTEGERS.tolist()]
