"""Control flow: sub-groups that part and meet, lanes that must not part, loops that must end."""

import numpy as np
import pytest

from codegen.simulate import SimulationTimedOut
from tests.codegen.ir_snippets import run

STORE = """
  %to = getelementptr i32, ptr addrspace(1) %B, i32 %subgroup
  store i32 %result, ptr addrspace(1) %to, align 4
  ret void"""


def _per_subgroup(body: str, subgroups: int) -> list[int]:
    out = np.full(subgroups, -1, np.int32)
    run(body + STORE, np.zeros(16, np.int32), out, subgroups)
    return out.tolist()


def test_subgroups_part_at_a_branch_and_meet_again() -> None:
    body = """
  %bit = and i32 %subgroup, 1
  %odd = icmp eq i32 %bit, 1
  %before = mul i32 %subgroup, 10
  br i1 %odd, label %one, label %two
one:
  %x = add i32 %before, 1000
  br label %joined
two:
  %y = sub i32 %before, 1000
  br label %joined
joined:
  %z = phi i32 [ %x, %one ], [ %y, %two ]
  %result = add i32 %z, %before"""
    assert _per_subgroup(body, 5) == [-1000, 1020, -960, 1060, -920]


def test_what_a_way_that_nobody_takes_gives_need_not_be_defined() -> None:
    body = """
  %bit = and i32 %subgroup, 1
  %odd = icmp eq i32 %bit, 1
  br i1 %odd, label %one, label %two
one:
  %never = icmp eq i32 %subgroup, 1000
  br i1 %never, label %three, label %joined
two:
  %y = sub i32 %subgroup, 1000
  br label %joined
three:
  %z = add i32 %subgroup, 7
  br label %joined
joined:
  %result = phi i32 [ %subgroup, %one ], [ %y, %two ], [ %z, %three ]"""
    assert _per_subgroup(body, 4) == [-1000, 1, -998, 3]


def test_subgroups_may_loop_a_different_number_of_times() -> None:
    body = """
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi i32 [ 7, %entry ], [ %more, %loop ]
  %last = phi i32 [ -1, %entry ], [ %i, %loop ]
  %more = add i32 %sum, %i
  %next = add i32 %i, 1
  %go.on = icmp ule i32 %next, %subgroup
  br i1 %go.on, label %loop, label %done
done:
  %weighted = mul i32 %last, 100
  %result = add i32 %weighted, %more"""
    expected = [100 * (s - 1) + 7 + sum(range(s + 1)) for s in range(6)]
    assert _per_subgroup(body, 6) == expected


def test_phis_change_places_at_once() -> None:
    body = """
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %a = phi i32 [ 1, %entry ], [ %b, %loop ]
  %b = phi i32 [ 2, %entry ], [ %a, %loop ]
  %next = add i32 %i, 1
  %go.on = icmp slt i32 %next, 4
  br i1 %go.on, label %loop, label %done
done:
  %tens = mul i32 %a, 10
  %result = add i32 %tens, %b"""
    assert _per_subgroup(body, 2) == [21, 21]


def test_private_memory_of_parted_subgroups_is_their_own() -> None:
    body = """
  %array = alloca [2 x i32], align 4
  store i32 5, ptr %array, align 4
  %some = icmp ugt i32 %subgroup, 1
  br i1 %some, label %write, label %joined
write:
  store i32 %subgroup, ptr %array, align 4
  br label %joined
joined:
  %result = load i32, ptr %array, align 4"""
    assert _per_subgroup(body, 4) == [5, 5, 2, 3]


def test_a_switch_takes_its_case() -> None:
    body = """
  switch i32 %subgroup, label %other [
    i32 1, label %one
    i32 3, label %three
  ]
one:
  br label %joined
three:
  br label %joined
other:
  br label %joined
joined:
  %result = phi i32 [ 11, %one ], [ 33, %three ], [ 99, %other ]"""
    assert _per_subgroup(body, 4) == [99, 11, 99, 33]


def test_an_endless_loop_ends_at_the_time_limit_with_the_blocks_that_ran() -> None:
    body = "  br label %loop\nloop:\n  br label %loop"
    with pytest.raises(SimulationTimedOut, match="time limit") as raised:
        run(body, np.zeros(4, np.int32), np.zeros(4, np.int32), time_limit_s=0.1)
    assert set(raised.value.running) == {"loop"}
