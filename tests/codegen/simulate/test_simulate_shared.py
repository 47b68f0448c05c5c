"""Shared local memory, barriers, and the races between sub-groups that barriers must prevent."""

import pickle
import re

import numpy as np
import pytest
from numpy.typing import NDArray

from codegen.simulate import (
    RaceDetected,
    SimulationRefused,
    SimulationReport,
    run_kernel,
)

SUBGROUPS, GROUPS = 3, 2
ITEMS = SUBGROUPS * 16
BARRIER = "  call spir_func void @_Z7barrierj(i32 1)"

HEAD = """
@slm = internal addrspace(3) global [512 x i8] undef, align 64
@table = internal unnamed_addr addrspace(3) global [4 x [8 x float]] undef, align 16

define spir_kernel void @k(ptr addrspace(1) %out) {
entry:
  %group = call spir_func i64 @_Z12get_group_idj(i32 0)
  %item = call spir_func i64 @_Z12get_local_idj(i32 0)
  %subgroup = call spir_func i32 @_Z16get_sub_group_id()
  %lane = call spir_func i32 @_Z22get_sub_group_local_id()
  %mine = getelementptr i32, ptr addrspace(3) @slm, i64 %item
  %hundreds = mul i64 %group, 100
  %value64 = add i64 %hundreds, %item
  %value = trunc i64 %value64 to i32
  %turned = sub i64 47, %item
  %theirs = getelementptr i32, ptr addrspace(3) @slm, i64 %turned
  %start = mul i64 %group, 48
  %at = add i64 %start, %item
  %to = getelementptr i32, ptr addrspace(1) %out, i64 %at
"""

WRITE = "  store i32 %value, ptr addrspace(3) %mine, align 4"
READ = "  %got = load i32, ptr addrspace(3) %theirs, align 4"
RESULT = "  store i32 %got, ptr addrspace(1) %to, align 4\n  ret void"


def _run(*lines: str, detect_races: bool = True) -> tuple[NDArray[np.int32], SimulationReport]:
    out = np.full((GROUPS, ITEMS), -1, np.int32)
    text = HEAD + "\n".join(lines) + "\n}\n"
    report = run_kernel(text, "k", (GROUPS, 1, 1), (ITEMS, 1, 1), [out], detect_races=detect_races)
    return out, report


def _race(*lines: str) -> RaceDetected:
    with pytest.raises(RaceDetected) as caught:
        _run(*lines)
    return caught.value


def test_work_groups_exchange_values_within_themselves() -> None:
    out, report = _run(WRITE, BARRIER, READ, RESULT)
    np.testing.assert_array_equal(out, [[100 * g + 47 - i for i in range(ITEMS)] for g in range(GROUPS)])
    assert report.executed == GROUPS
    assert report.races_checked == 2 * GROUPS * ITEMS


def test_a_missing_barrier_is_a_race() -> None:
    race = _race(WRITE, READ, RESULT)
    assert race.where == READ.strip()
    assert race.other == WRITE.strip()
    assert race.subgroups == (0, 2)  # the sub-group in the middle reads what it wrote itself
    assert race.address == 4 * 47
    assert "with no barrier between" in str(race)


def test_lanes_of_one_subgroup_do_not_race() -> None:
    out, _ = _run(
        WRITE,
        "  %across = xor i64 %item, 15",
        "  %beside = getelementptr i32, ptr addrspace(3) @slm, i64 %across",
        READ.replace("%theirs", "%beside"),
        RESULT,
    )
    assert out[1].tolist() == [100 + (i ^ 15) for i in range(ITEMS)]


def test_a_race_is_found_even_if_the_numbers_come_out_right() -> None:
    """Lock step writes before it reads; hardware may not."""
    out, _ = _run(WRITE, READ, RESULT, detect_races=False)
    assert out[0].tolist() == [47 - i for i in range(ITEMS)]
    _race(WRITE, READ, RESULT)


def test_a_write_after_another_ones_read_is_a_race() -> None:
    again = "  store i32 7, ptr addrspace(3) %mine, align 4"
    race = _race(WRITE, BARRIER, READ, again, RESULT)
    assert (race.where, race.other) == (again.strip(), READ.strip())
    assert race.subgroups[0] != race.subgroups[1]
    out, _ = _run(WRITE, BARRIER, READ, BARRIER, again, RESULT)
    assert out[0, 0] == 47


LOOP = """
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi i32 [ 0, %entry ], [ %got, %loop ]
  %buffer = and i64 %i, 1
  %first = mul i64 %buffer, 48
  %mine.at = add i64 %first, %item
  %mine.now = getelementptr i32, ptr addrspace(3) @slm, i64 %mine.at
  %i32 = trunc i64 %i to i32
  %new = add i32 %value, %i32
  store i32 %new, ptr addrspace(3) %mine.now, align 4
  call spir_func void @_Z7barrierj(i32 3)
  %theirs.at = add i64 %first, %turned
  %theirs.now = getelementptr i32, ptr addrspace(3) @slm, i64 %theirs.at
  %read = load i32, ptr addrspace(3) %theirs.now, align 4
  %got = add i32 %sum, %read
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, 5
  br i1 %more, label %loop, label %done
done:"""


def test_one_barrier_a_turn_is_enough_for_two_buffers() -> None:
    out, _ = _run(LOOP, RESULT)
    assert out[1, :2].tolist() == [5 * 147 + 10, 5 * 146 + 10]


def test_one_barrier_a_turn_is_not_enough_for_one_buffer() -> None:
    race = _race(LOOP.replace("and i64 %i, 1", "and i64 %i, 0"), RESULT)
    assert race.where.startswith("store i32 %new")
    assert race.other.startswith("%read = load")


def test_two_writers_of_different_values_race() -> None:
    shared = "  %one = getelementptr i32, ptr addrspace(3) @slm, i32 %lane"
    write = "  store i32 %subgroup, ptr addrspace(3) %one, align 4"
    race = _race(shared, write, "  ret void")
    assert "writes where the other wrote something else, sub-group 2" in str(race)
    assert (race.where, race.other) == (write.strip(), write.strip())
    _run(shared, write.replace("%subgroup", "%lane"), "  ret void")  # the same value: work that is shared


def test_a_later_writer_of_another_value_races() -> None:
    later = "  store i32 9, ptr addrspace(3) %theirs, align 4"
    race = _race(WRITE, later, "  ret void")
    assert (race.where, race.other) == (later.strip(), WRITE.strip())
    _run(WRITE, BARRIER, later, "  ret void")


def test_a_barrier_that_orders_only_global_memory_is_not_enough() -> None:
    _race(WRITE, BARRIER.replace("i32 1", "i32 2"), READ, RESULT)
    _run(WRITE, BARRIER.replace("i32 1", "i32 3"), READ, RESULT)


def test_bytes_beside_one_another_do_not_race() -> None:
    """The detector looks at words, and at bytes where a kernel does."""
    body = """
  %byte = getelementptr i8, ptr addrspace(3) @slm, i64 %item
  %narrow = trunc i64 %item to i8
  %mixed = mul i64 %item, 3
  %low = and i64 %mixed, 31
  store i8 %narrow, ptr addrspace(3) %byte, align 1
  ret void"""
    _run(body)
    word = "  %early = load i32, ptr addrspace(3) @slm, align 4"
    assert "store i8" in _race(word, body).where


SPLIT = {
    "arrive": "  call spir_func void @_Z31intel_work_group_barrier_arrivej(i32 1)",
    "wait": "  call spir_func void @_Z29intel_work_group_barrier_waitj(i32 1)",
}


def test_split_barriers_order_what_is_before_arriving_and_after_waiting() -> None:
    out, _ = _run(WRITE, SPLIT["arrive"], SPLIT["wait"], READ, RESULT)
    assert out[0].tolist() == [47 - i for i in range(ITEMS)]
    _race(SPLIT["arrive"], WRITE, SPLIT["wait"], READ, RESULT)
    _race(WRITE, SPLIT["arrive"], READ, SPLIT["wait"], RESULT)


def test_spirv_barriers_are_barriers() -> None:
    name = "_Z22__spirv_ControlBarrieriii"
    out, _ = _run(WRITE, f"  call spir_func void @{name}(i32 2, i32 2, i32 784)", READ, RESULT)
    assert out[0, 3] == 44
    _race(WRITE, f"  call spir_func void @{name}(i32 3, i32 3, i32 784)", READ, RESULT)  # of a sub-group


def test_a_wait_without_an_arrival_is_refused() -> None:
    with pytest.raises(SimulationRefused, match="wait for an arrival that never happens"):
        _run(SPLIT["wait"], "  ret void")


def test_subgroups_wait_for_one_another() -> None:
    """The first sub-group writes late, after a loop of its own."""
    body = f"""
  %first = icmp eq i32 %subgroup, 0
  br i1 %first, label %slow, label %meet
slow:
  %i = phi i32 [ 0, %entry ], [ %next, %slow ]
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, 20
  br i1 %more, label %slow, label %meet
meet:
{WRITE}
{BARRIER}
{READ}
{RESULT}"""
    out, _ = _run(body)
    assert out[0].tolist() == [47 - i for i in range(ITEMS)]


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ("  ret void", r"not all sub-groups of work-group \(0, 0, 0\) come to this barrier: \[1, 2\] have ended"),
        (f"{BARRIER}\n  ret void", r"\[1, 2\] wait at `call spir_func void @_Z7barrierj"),
    ],
)
def test_a_barrier_that_not_all_come_to_is_refused(other: str, message: str) -> None:
    body = f"""
  %first = icmp eq i32 %subgroup, 0
  br i1 %first, label %some, label %others
some:
{BARRIER}
  ret void
others:
{other}"""
    with pytest.raises(SimulationRefused, match=message):
        _run(body)


def test_a_barrier_in_parted_lanes_is_refused() -> None:
    body = f"""
  %some = icmp ult i32 %lane, 3
  br i1 %some, label %one, label %two
one:
{BARRIER}
  br label %two
two:
  ret void"""
    with pytest.raises(SimulationRefused, match="diverged before this barrier"):
        _run(body)


@pytest.mark.parametrize(
    ("pointer", "message"),
    [
        ("getelementptr (i8, ptr addrspace(3) @slm, i64 509)", "touches bytes 509 to 513 of the 512 bytes of slm"),
        ("getelementptr (i8, ptr addrspace(3) @table, i64 -4)", "touches bytes -4 to 0 of the 128 bytes of table"),
        ("inttoptr (i32 4000 to ptr addrspace(3))", "touches bytes 4000 to 4004 of 640 bytes of shared memory"),
    ],
)
def test_an_access_outside_of_a_variable_is_refused(pointer: str, message: str) -> None:
    use = "  %used = load i32, ptr addrspace(3) @slm, align 4\n  %used.too = load i32, ptr addrspace(3) @table, align 4"
    with pytest.raises(SimulationRefused, match=re.escape(message)):
        _run(use, f"  %got = load i32, ptr addrspace(3) {pointer}, align 1", RESULT)


def test_nested_arrays_and_addresses_as_numbers() -> None:
    body = """
  %row = lshr i64 %item, 4
  %column = and i64 %item, 7
  %cell = getelementptr inbounds [4 x [8 x float]], ptr addrspace(3) @table, i64 0, i64 %row, i64 %column
  %number = uitofp i64 %item to float
  store float %number, ptr addrspace(3) %cell, align 4
  call spir_func void @_Z7barrierj(i32 1)
  %address = ptrtoint ptr addrspace(3) @table to i32
  %further = add i32 %address, 36
  %back = inttoptr i32 %further to ptr addrspace(3)
  %read = load float, ptr addrspace(3) %back, align 4
  %got = fptosi float %read to i32"""
    out, _ = _run(body, RESULT)
    assert out[0].tolist() == [25] * ITEMS  # row 1, column 1: work-items 17 and 25, the higher lane last


def test_shared_memory_holds_vectors_and_blocks() -> None:
    body = """
  %four = mul i64 %item, 2
  %place = getelementptr i32, ptr addrspace(3) @slm, i64 %four
  %one = insertelement <2 x i32> poison, i32 %value, i64 0
  %both = insertelement <2 x i32> %one, i32 %lane, i64 1
  store <2 x i32> %both, ptr addrspace(3) %place, align 8
  call spir_func void @_Z7barrierj(i32 1)
  %block = call spir_func <2 x i32> @_Z30intel_sub_group_block_read_ui2PU3AS3j(ptr addrspace(3) @slm)
  %got = extractelement <2 x i32> %block, i64 1"""
    out, _ = _run(body, RESULT)
    # The words from 16 on: values and lanes of work-items 8 to 15, in turns.
    assert out[1, :16].tolist() == [word for i in range(8, 16) for word in (100 + i, i)]


def test_a_race_travels_between_processes() -> None:
    race = _race(WRITE, READ, RESULT)
    again = pickle.loads(pickle.dumps(race))
    assert str(again) == str(race)
    assert (again.other, again.address, again.subgroups) == (race.other, race.address, race.subgroups)
