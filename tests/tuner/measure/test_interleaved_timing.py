"""Interleaved timing: changes of the machine do not decide which is faster; a window that drifted is repeated."""

import math
from collections.abc import Callable

import pytest

from tuner.measure.interleaved_timing import (
    DRIFT,
    WINDOWS,
    InterleavedTimes,
    TimeUs,
    measure_interleaved,
)


class Machine:
    """Kernels on a machine that is `slowness(run)` times as slow in its run of that number; a run takes a second."""

    def __init__(self, slowness: Callable[[int], float] = lambda _run: 1.0) -> None:
        self.slowness = slowness
        self.ran: list[float] = []

    def kernel(self, own_us: float, fails_at: float = math.inf) -> TimeUs:
        def run(left_s: float) -> float | None:
            assert left_s <= 100
            number = len(self.ran)
            self.ran.append(own_us)
            return None if number >= fails_at or left_s < 1 else own_us * self.slowness(number)

        return run

    def turns(self, *others: TimeUs, left_s: float = 100.0) -> InterleavedTimes | None:
        return measure_interleaved(self.kernel(200.0), others, left_s, lambda: float(len(self.ran)))


def test_the_reference_comes_first_and_last_and_between() -> None:
    machine = Machine()
    turns = machine.turns(machine.kernel(100), machine.kernel(150))
    assert turns == InterleavedTimes(200.0, (0.5, 0.75), WINDOWS, 0)
    assert machine.ran == [200, 100, 150] * WINDOWS + [200]


def test_a_machine_that_slows_down_bit_by_bit_does_not_favour_who_comes_first() -> None:
    machine = Machine(lambda run: 1 + run * 0.01)
    turns = machine.turns(machine.kernel(190), machine.kernel(181))
    assert turns is not None
    assert turns.drifted == 0
    # Without the reference, 190 on the faster machine would seem 4 % better than it is beside 181.
    assert turns.ratios == (pytest.approx(0.95, rel=0.006), pytest.approx(0.905, rel=0.006))


def test_a_window_in_which_the_reference_drifted_is_measured_again_and_does_not_count() -> None:
    # The machine becomes twice as slow right after the first run of the other.
    machine = Machine(lambda run: 1.0 if run < 2 else 2.0)
    turns = machine.turns(machine.kernel(100))
    assert turns is not None
    assert (turns.windows, turns.drifted) == (WINDOWS, 1)
    assert turns.ratios == (0.5,)
    assert turns.reference_us == 400.0
    assert len(machine.ran) == 2 * (WINDOWS + 1) + 1


def test_what_is_just_below_drift_counts_and_just_above_does_not() -> None:
    for part, drifted in ((DRIFT - 0.01, 0), (DRIFT + 0.01, 1)):
        machine = Machine(lambda run, part=part: 1.0 if run < 2 else 1.0 + part)
        turns = machine.turns(machine.kernel(100))
        assert turns is not None
        assert turns.drifted == drifted


def test_a_machine_that_never_rests_ends_with_its_steadiest_windows() -> None:
    machine = Machine(lambda run: (1.0, 1.3, 1.8, 2.6, 3.0, 4.0, 5.0)[run // 2])
    turns = machine.turns(machine.kernel(100))
    assert turns is not None
    assert (turns.windows, turns.drifted) == (WINDOWS, 6)
    assert len(machine.ran) == 2 * 6 + 1


def test_no_window_is_begun_that_does_not_fit() -> None:
    machine = Machine()
    turns = machine.turns(machine.kernel(100), left_s=6.5)
    assert turns is not None
    assert turns.windows == 2
    assert len(machine.ran) == 5
    machine = Machine()
    assert machine.turns(machine.kernel(100), left_s=2.5) is None


def test_a_kernel_that_fails_once_is_left_out_and_the_others_go_on() -> None:
    machine = Machine()
    turns = machine.turns(machine.kernel(100, fails_at=4), machine.kernel(150))
    assert turns is not None
    assert turns.ratios == (None, 0.75)
    assert machine.ran.count(100) == 2


def test_a_reference_that_fails_ends_it() -> None:
    for fails_at, left in ((0, None), (3, InterleavedTimes(200.0, (0.5,), 1, 0))):
        machine = Machine()
        reference = machine.kernel(200, fails_at)
        assert measure_interleaved(reference, [machine.kernel(100)], 50, lambda m=machine: float(len(m.ran))) == left
