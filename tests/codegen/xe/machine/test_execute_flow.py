"""Branches of threads and of channels, barriers, and threads that go different ways."""

import numpy as np
import pytest

from codegen.simulate import RaceDetected, SimulationRefused
from tests.codegen.xe.machine.execute_support import run

LANES = np.arange(16, dtype=np.int32)
SIGNAL = "(W) send.gtwy (1|M0) null r50 null:0 0x0 0x02000004 {$1}"
BARRIER = f"{SIGNAL}\n(W) sync.bar null"
NO_NAME = {50: np.zeros(16, np.uint32)}


def listing(*lines: str) -> str:
    """Lines with labels: `name:` alone stands for the label of the next instruction, and `@name` for it."""
    offset, names, out = 0, dict[str, str](), list[str]()
    for line in lines:
        if line.endswith(":"):
            names[line[:-1]] = f"L{offset}"
            out.append(f"L{offset}:")
        else:
            out.append(line)
            offset += 16
    text = "\n".join(out)
    for name, label in names.items():
        text = text.replace(f"@{name}", label)
    return text


def test_a_loop_of_each_thread_ends_on_its_own() -> None:
    ran = run(
        listing(
            "(W) mov (1|M0) r9.0<1>:d 0:w",
            "again:",
            "(W) add (1|M0) r9.0<1>:d r9.0<0;1,0>:d 3:w",
            "(W) add (1|M0) r127.1<1>:d r9.0<0;1,0>:d 0:w",
            "(W) cmp (1|M0) (lt)f0.0 null<1>:d r9.0<0;1,0>:d r2.0<0;1,0>:d",
            "(W&f0.0) jmpi @again",
            "(W) add (1|M0) r9.1<1>:d r9.0<0;1,0>:d 100:w",
        ),
        {2: np.array([[1], [10], [5], [100]], np.int32)},
        threads=4,
    )
    assert [ran.get(9, "i4", thread)[0] for thread in range(4)] == [3, 12, 6, 102]
    assert [ran.get(9, "i4", thread)[1] for thread in range(4)] == [103, 112, 106, 202]


def test_threads_that_find_their_work_in_turn_do_it_together() -> None:
    work = 200 * ["(W) add (1|M0) r9.1<1>:d r9.1<0;1,0>:d 1:w"]
    ran = run(
        listing(
            "(W) mov (1|M0) r9.0<1>:d 0:w",
            "again:",
            "(W) cmp (1|M0) (ne)f0.0 null<1>:d r9.0<0;1,0>:d r2.0<0;1,0>:d",
            "(W&f0.0) jmpi @next",
            *work,
            "next:",
            "(W) add (1|M0) r9.0<1>:d r9.0<0;1,0>:d 1:w",
            "(W) cmp (1|M0) (lt)f0.0 null<1>:d r9.0<0;1,0>:d 16:w",
            "(W&f0.0) jmpi @again",
        ),
        {2: np.arange(16, dtype=np.int32)[:, None], 9: np.zeros(16, np.int32)},
        threads=16,
    )
    assert [ran.get(9, "i4", thread)[:2].tolist() for thread in range(16)] == [[16, len(work)]] * 16
    assert len(work) < ran.instructions < 2 * len(work)


def test_channels_part_and_join() -> None:
    ran = run(
        listing(
            "cmp (16|M0) (lt)f0.0 null<1>:d r2.0<1;1,0>:d 5:w",
            "(~f0.0) goto (16|M0) @other @other",
            "mov (16|M0) r9.0<1>:d 1:w",
            "cmp (16|M0) (eq)f0.1 null<1>:d r2.0<1;1,0>:d 3:w",
            "(f0.1) goto (16|M0) @inner @inner",
            "mov (16|M0) r9.0<1>:d 2:w",
            "inner:",
            "join (16|M0) @other",
            "mov (16|M0) r10.0<1>:d 4:w",
            "goto (16|M0) @other @end",
            "other:",
            "join (16|M0) @end",
            "mov (16|M0) r9.0<1>:d 7:w",
            "end:",
            "join (16|M0) @after",
            "after:",
            "add (16|M0) r10.0<1>:d r10.0<1;1,0>:d 1:w",
            "(W) mov (16|M0) r11.0<1>:d 8:w",
        ),
        {2: LANES, 9: np.zeros(16, np.int32), 10: np.zeros(16, np.int32)},
    )
    assert ran.get(9, "i4").tolist() == [2, 2, 2, 1, 2] + [7] * 11
    assert ran.get(10, "i4").tolist() == [5] * 5 + [1] * 11
    assert ran.get(11, "i4").tolist() == [8] * 16


def test_channels_that_end_a_loop_wait_behind_its_goto() -> None:
    ran = run(
        listing(
            "again:",
            "add (16|M0) r9.0<1>:d r9.0<1;1,0>:d 1:w",
            "add (16|M0) r10.0<1>:d r10.0<1;1,0>:d r9.0<1;1,0>:d",
            "(W) add (1|M0) r11.0<1>:d r11.0<0;1,0>:d 1:w",
            "cmp (16|M0) (lt)f0.0 null<1>:d r9.0<1;1,0>:d r2.0<1;1,0>:d",
            "(f0.0) goto.b (16|M0) @end @again",
            "end:",
            "join (16|M0) @after",
            "after:",
            "add (16|M0) r9.0<1>:d r9.0<1;1,0>:d 100:w",
        ),
        {2: np.array([LANES, LANES[::-1] // 3]), 9: np.zeros(16, np.int32), 10: LANES * 0, 11: LANES * 0},
        threads=2,
    )
    for thread, limits in enumerate((LANES, LANES[::-1] // 3)):
        turns = np.maximum(limits, 1)
        assert ran.get(9, "i4", thread).tolist() == (turns + 100).tolist()
        assert ran.get(10, "i4", thread).tolist() == (turns * (turns + 1) // 2).tolist()
        assert ran.get(11, "i4", thread)[0] == turns.max()


def test_an_instruction_of_the_upper_channels_obeys_their_mask() -> None:
    ran = run(
        listing(
            "cmp (16|M0) (lt)f0.0 null<1>:d r2.0<1;1,0>:d 11:w",
            "(f0.0) goto (16|M0) @end @end",
            "mov (8|M8) r9.8<1>:d 1:w",
            "mov (8|M0) r10.0<1>:d 1:w",
            "end:",
            "join (16|M0) @after",
            "after:",
            "nop",
        ),
        {2: LANES, 9: LANES * 0, 10: LANES * 0},
    )
    assert ran.get(9, "i4").tolist() == [0] * 11 + [1] * 5
    assert not ran.get(10, "i4").any()


def test_a_goto_that_ends_no_loop_is_not_represented() -> None:
    with pytest.raises(SimulationRefused, match=r"goto\.b that ends no loop"):
        run(listing("(f0.0) goto.b (16|M0) @end @end", "nop", "end:", "join (16|M0) @after", "after:", "nop"))


def test_a_thread_without_active_channels_skips_and_ignores_only_masked_work() -> None:
    ran = run(
        listing(
            "cmp (16|M0) (lt)f0.0 null<1>:d r2.0<1;1,0>:d 50:w",
            "(f0.0) goto (16|M0) @end @end",
            "(W) mov (1|M0) r9.0<1>:d 1:w",
            "end:",
            "join (16|M0) @after",
            "after:",
            "nop",
        ),
        {2: np.array([LANES, LANES + 40]), 9: np.zeros(16, np.int32)},
        threads=2,
    )
    assert [ran.get(9, "i4", thread)[0] for thread in range(2)] == [0, 1]


STORE = "(W) send.slm (1|M0) null r3 r4:1 0x0 0x02008504 {$2}"  # one dword at the address in r3
LOAD = "(W) send.slm (1|M0) r9 r5 null:0 0x0 0x02108500 {$3}"


@pytest.mark.parametrize("with_barrier", [True, False])
def test_a_barrier_orders_shared_memory_and_without_one_there_is_a_race(with_barrier: bool) -> None:
    threads = np.arange(3, dtype=np.uint32)[:, None]
    given = {**NO_NAME, 3: threads * 4, 4: threads + 10, 5: (threads + 1) % 3 * 4}
    lines = "\n".join((STORE, *([BARRIER] if with_barrier else []), LOAD))
    if with_barrier:
        ran = run(lines, given, threads=3, slm_bytes=64)
        assert [int(ran.get(9, "u4", thread)[0]) for thread in range(3)] == [11, 12, 10]
    else:
        with pytest.raises(RaceDetected, match="with no barrier between"):
            run(lines, given, threads=3, slm_bytes=64)


def test_a_barrier_that_not_all_threads_reach_is_refused() -> None:
    lines = listing(
        "(W) cmp (1|M0) (eq)f0.0 null<1>:ud r127.0<0;1,0>:ud 0x1:uw",
        "(W&f0.0) jmpi @end",
        BARRIER.split("\n")[0],
        BARRIER.split("\n")[1],
        "end:",
        "nop",
    )
    with pytest.raises(SimulationRefused, match="not all sub-groups of work-group"):
        run(lines, NO_NAME, threads=3)


NAMED = listing(
    "(W) cmp (1|M0) (eq)f0.0 null<1>:ud r127.0<0;1,0>:ud 0x2:uw",
    "(W&f0.0) jmpi @end",
    *(STORE, SIGNAL, "(W) sync.bar 0x3", LOAD),
    "end:",
    "nop",
)


def met(participants: int, waited: str = "0x3") -> list[int]:
    """Let threads 0 and 1 of three swap a dword around barrier 3 of so many participants; thread 2 takes no part."""
    threads = np.arange(3, dtype=np.uint32)[:, None]
    payload = np.zeros(16, np.uint32)
    payload[2] = 3 | participants << 16 | participants << 24
    given = {50: payload, 3: threads * 4, 4: threads + 10, 5: (1 - threads % 2) * 4, 9: threads * 0}
    ran = run(NAMED.replace("0x3", waited), given, threads=3, slm_bytes=64, named=True)
    return [int(ran.get(9, "u4", thread)[0]) for thread in range(3)]


def test_a_named_barrier_orders_the_threads_that_meet_there() -> None:
    assert met(participants=2) == [11, 10, 0]


@pytest.mark.parametrize(
    ("participants", "waited", "refused"),
    [(3, "0x3", "barrier 3"), (1, "0x3", "no barrier between"), (2, "0x4", "barrier 4")],
)
def test_a_named_barrier_of_other_participants_is_found(participants: int, waited: str, refused: str) -> None:
    with pytest.raises((SimulationRefused, RaceDetected), match=refused):
        met(participants, waited)


def test_a_thread_must_not_run_beyond_the_end() -> None:
    with pytest.raises(SimulationRefused, match="beyond the end"):
        run("nop", end="nop")
