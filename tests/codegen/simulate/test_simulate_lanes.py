"""Divergent lanes, atomic operations per lane, and memory indexed per lane."""

import re

import numpy as np
import pytest
from numpy.typing import NDArray

from codegen.simulate import SimulationRefused
from tests.codegen.ir_snippets import LANES, run

STORE = """
  %wide = zext i32 %subgroup to i64
  %row = mul i64 %wide, 16
  %at = add i64 %row, %lane
  %to = getelementptr i32, ptr addrspace(1) %B, i64 %at
  store i32 %result, ptr addrspace(1) %to, align 4
  ret void"""


def _per_lane(body: str, subgroups: int = 1) -> list[list[int]]:
    out = np.full((subgroups, LANES), -1, np.int32)
    run(body + STORE, np.arange(100, 164, dtype=np.int32), out, subgroups)
    return out.tolist()


def test_lanes_part_and_meet_again() -> None:
    body = """
  %some = icmp ult i32 %lane32, 5
  br i1 %some, label %one, label %two
one:
  %x = add i32 %lane32, 1000
  br label %joined
two:
  %y = mul i32 %lane32, 2
  br label %joined
joined:
  %z = phi i32 [ %x, %one ], [ %y, %two ]
  %result = call i32 @_Z21sub_group_shuffle_xorij(i32 %z, i32 1)"""  # needs all lanes: they have met
    expected = [1000 + i if i < 5 else 2 * i for i in range(LANES)]
    assert _per_lane(body) == [[expected[i ^ 1] for i in range(LANES)]]


def test_lanes_loop_a_different_number_of_times() -> None:
    body = """
  %count = add i32 %lane32, %subgroup
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi i32 [ 7, %entry ], [ %more, %loop ]
  %more = add i32 %sum, %i
  %next = add i32 %i, 1
  %go.on = icmp ule i32 %next, %count
  br i1 %go.on, label %loop, label %done
done:
  %result = call i32 @_Z21sub_group_shuffle_xorij(i32 %more, i32 15)"""
    expected = [[7 + sum(range(15 - lane + s + 1)) for lane in range(LANES)] for s in range(3)]
    assert _per_lane(body, 3) == expected


def test_only_some_subgroups_part() -> None:
    body = """
  %odd.bit = and i32 %subgroup, 1
  %limit = mul i32 %odd.bit, 7
  %some = icmp ult i32 %lane32, %limit
  br i1 %some, label %one, label %joined
one:
  %x = add i32 %lane32, 50
  br label %joined
joined:
  %result = phi i32 [ %x, %one ], [ %subgroup, %entry ]"""
    expected = [[lane + 50 if s == 1 and lane < 7 else s for lane in range(LANES)] for s in range(3)]
    assert _per_lane(body, 3) == expected


def test_guarded_accesses_touch_only_what_their_lanes_may() -> None:
    body = """
  %some = icmp ult i64 %lane, 3
  br i1 %some, label %one, label %joined
one:
  %far = getelementptr i32, ptr addrspace(1) %A, i64 %lane
  %last = getelementptr i32, ptr addrspace(1) %far, i64 61
  %loaded = load i32, ptr addrspace(1) %last, align 4
  store i32 5, ptr addrspace(1) %last, align 4
  br label %joined
joined:
  %result = phi i32 [ %loaded, %one ], [ -9, %entry ]"""
    a, out = np.arange(100, 164, dtype=np.int32), np.zeros((1, LANES), np.int32)
    run(body + STORE, a, out)
    assert out[0].tolist() == [161, 162, 163] + [-9] * 13
    assert a[60:].tolist() == [160, 5, 5, 5]


def test_private_memory_is_written_by_the_lanes_that_are_there() -> None:
    body = """
  %array = alloca i32, i32 4, align 4
  store i32 1, ptr %array, align 4
  %some = icmp ugt i32 %lane32, 9
  br i1 %some, label %one, label %joined
one:
  store i32 %lane32, ptr %array, align 4
  br label %joined
joined:
  %result = load i32, ptr %array, align 4"""
    assert _per_lane(body) == [[1] * 10 + list(range(10, 16))]


def test_a_blocks_order_in_the_text_does_not_matter() -> None:
    """The exit of the loop is written before its body: lanes that leave early still wait for the others."""
    body = """
  br label %loop
done:
  %result = call i32 @_Z21sub_group_shuffle_xorij(i32 %next, i32 15)
  br label %end
body:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %body ]
  %next = add i32 %i, 1
  %go.on = icmp ule i32 %next, %lane32
  br i1 %go.on, label %body, label %done
end:"""
    assert _per_lane(body) == [[16 - lane for lane in range(LANES)]]


def test_what_needs_all_lanes_is_refused_where_some_are_missing() -> None:
    body = """
  %some = icmp ult i32 %lane32, 5
  br i1 %some, label %one, label %two
one:
  %x = call i32 @_Z21sub_group_shuffle_xorij(i32 %lane32, i32 1)
  br label %two
two:
  ret void"""
    with pytest.raises(SimulationRefused, match=r"shuffle_xor.*diverged, and this call needs them all"):
        run(body, np.zeros(4, np.int32), np.zeros(4, np.int32))


def test_lanes_index_private_memory_and_vectors_by_themselves() -> None:
    body = """
  %array = alloca [16 x i32], align 64
  store <4 x i32> <i32 10, i32 11, i32 12, i32 13>, ptr %array, align 16
  %index = and i64 %lane, 3
  %place = getelementptr inbounds [16 x i32], ptr %array, i64 0, i64 %index
  %from = load i32, ptr %place, align 4
  %turned = xor i64 %index, 3
  %element = extractelement <4 x i32> <i32 0, i32 100, i32 200, i32 300>, i64 %turned
  %put = insertelement <4 x i32> zeroinitializer, i32 1000, i64 %index
  %second = extractelement <4 x i32> %put, i64 1
  %sum = add i32 %from, %element
  %result = add i32 %sum, %second"""
    expected = [10 + i % 4 + 100 * (3 - i % 4) + (1000 if i % 4 == 1 else 0) for i in range(LANES)]
    assert _per_lane(body) == [expected]


def test_a_pointer_is_chosen_lane_by_lane() -> None:
    body = """
  %some = icmp ult i64 %lane, 4
  %fourth = getelementptr i32, ptr addrspace(1) %A, i64 4
  %number = ptrtoint ptr addrspace(1) %fourth to i64
  %forward = add i64 %number, 8
  %sixth = inttoptr i64 %forward to ptr addrspace(1)
  %array = alloca [1 x i32], align 4
  store i32 77, ptr %array, align 4
  %private = addrspacecast ptr %array to ptr addrspace(4)
  %global = addrspacecast ptr addrspace(1) %sixth to ptr addrspace(4)
  %chosen = select i1 %some, ptr addrspace(4) %private, ptr addrspace(4) %global
  %result = load i32, ptr addrspace(4) %chosen, align 4
  store i32 -5, ptr addrspace(4) %chosen, align 4"""
    assert _per_lane(body) == [[77] * 4 + [106] * 12]


@pytest.mark.parametrize(
    ("operation", "type_", "start", "final", "olds"),
    [
        ("add", "i32", 5, 5 + sum(range(16)), [5 + sum(range(i)) for i in range(16)]),
        ("sub", "i32", 5, 5 - 120, [5 - sum(range(i)) for i in range(16)]),
        ("xchg", "i32", 5, 15, [5, *range(15)]),
        ("max", "i32", 3, 15, [max(3, i - 1) for i in range(16)]),
        ("min", "i32", 3, 0, [3] + [0] * 15),
        ("umax", "i32", -1, -1, [-1] * 16),
        ("or", "i32", 0, 15, [0, 0, 1, 3, 3, 7, 7, 7, 7] + [15] * 7),
        ("and", "i32", 12, 0, [12] + [0] * 15),
        ("xor", "i32", 0, 0, None),
        ("fadd", "float", 0.5, 120.5, [0.5 + sum(range(i)) for i in range(16)]),
        ("fmax", "float", 6.5, 15.0, None),
        ("fmin", "float", 6.5, 0.0, None),
        ("fsub", "double", 0.5, -119.5, None),
        ("fadd", "half", 0.5, 120.5, None),
        ("uinc_wrap", "i32", 0, 15, [0, *range(15)]),
    ],
)
def test_atomic_operations_go_from_lane_to_lane(
    operation: str, type_: str, start: float, final: float, olds: list[float] | None
) -> None:
    dtype = {"i32": np.int32, "float": np.float32, "double": np.float64, "half": np.float16}[type_]
    value = "%lane32" if type_ == "i32" else "%number"
    memory, out = np.full(4, start, dtype), np.zeros(LANES, dtype)
    run(
        f"""
  %number = uitofp i32 %lane32 to {type_ if type_ != "i32" else "float"}
  %one = getelementptr {type_}, ptr addrspace(1) %A, i64 2
  %old = atomicrmw {operation} ptr addrspace(1) %one, {type_} {value} syncscope("device") monotonic, align 4
  %to = getelementptr {type_}, ptr addrspace(1) %B, i64 %lane
  store {type_} %old, ptr addrspace(1) %to, align 2
  ret void""",
        memory,
        out,
    )
    assert memory.tolist() == [start, start, final, start]
    if olds is not None:
        assert out.tolist() == olds


def test_each_subgroup_and_lane_adds_to_its_place() -> None:
    totals = np.zeros(4, np.float32)
    body = """
  %place = and i64 %lane, 3
  %to = getelementptr float, ptr addrspace(1) %A, i64 %place
  %some = icmp ult i64 %lane, 6
  br i1 %some, label %one, label %two
one:
  %old = atomicrmw fadd ptr addrspace(1) %to, float 1.5 monotonic, align 4
  br label %two
two:
  ret void"""
    run(body, totals, np.zeros(4, np.int32), subgroups=5)
    assert totals.tolist() == [15, 15, 7.5, 7.5]


def test_a_loop_of_compare_and_exchange_multiplies() -> None:
    """An atomic operation that LLVM lacks is lowered to such a loop."""
    memory = np.array([1.5, 2.0], np.float32)
    body = """
  %place = and i64 %lane, 1
  %to = getelementptr float, ptr addrspace(1) %A, i64 %place
  %few = icmp ult i64 %lane, 6
  br i1 %few, label %start, label %done
start:
  %first = load i32, ptr addrspace(1) %to, align 4
  br label %try
try:
  %seen = phi i32 [ %first, %start ], [ %found, %try ]
  %number = bitcast i32 %seen to float
  %product = fmul float %number, 3.0
  %new = bitcast float %product to i32
  %pair = cmpxchg ptr addrspace(1) %to, i32 %seen, i32 %new acq_rel monotonic, align 4
  %found = extractvalue { i32, i1 } %pair, 0
  %won = extractvalue { i32, i1 } %pair, 1
  br i1 %won, label %done, label %try
done:
  ret void"""
    run(body, memory, np.zeros(4, np.int32))
    assert memory.tolist() == [1.5 * 27, 2.0 * 27]


def test_an_atomic_operation_on_an_input_is_refused() -> None:
    a = np.zeros(4, np.int32)
    a.flags.writeable = False
    with pytest.raises(SimulationRefused, match=re.escape("writes a buffer that is an input")):
        run(
            "  %x = atomicrmw add ptr addrspace(1) %A, i32 1 monotonic, align 4\n  ret void",
            a,
            np.zeros(4, np.int32),
        )


def test_bytes_are_copied_and_filled() -> None:
    a: NDArray[np.int32] = np.arange(8, dtype=np.int32)
    out = np.zeros(8, np.int32)
    body = """
  %array = alloca [8 x i32], align 4
  call void @llvm.memset.p0.i64(ptr %array, i8 1, i64 32, i1 false)
  call void @llvm.memcpy.p0.p1.i64(ptr %array, ptr addrspace(1) %A, i64 20, i1 false)
  call void @llvm.memcpy.p1.p0.i64(ptr addrspace(1) %B, ptr %array, i64 32, i1 false)
  ret void"""
    run(body, a, out)
    assert out.tolist() == [0, 1, 2, 3, 4, *([0x01010101] * 3)]
