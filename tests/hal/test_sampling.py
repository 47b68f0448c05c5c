"""Warm-up ends when times are steady; sampling when there is enough, when time is up, or when a kernel is hopeless."""

import pytest

from hal import DeviceTimedOut, Timing
from hal.sampling import sample

COLD = 0.0
"""Seconds of a warm-up of one launch."""


class Kernel:
    """A kernel whose launches take the given microseconds, the last one for ever after, on a clock of its own."""

    def __init__(self, *times_us: float) -> None:
        self.times_us = times_us
        self.launches: list[int] = []
        self.now_s = 100.0

    def __call__(self, number: int) -> float:
        time_us = self.times_us[min(len(self.launches), len(self.times_us) - 1)]
        self.launches.append(number)
        self.now_s += time_us * 1e-6
        return time_us

    def sampled(self, timing: Timing, timeout_s: float = 1e9) -> tuple[tuple[float, ...], bool]:
        return sample(self, timing, timeout_s, lambda: self.now_s)


def test_the_warm_up_is_not_among_the_samples() -> None:
    kernel = Kernel(900, 10, 11, 12)
    assert kernel.sampled(Timing(COLD, min_samples=3, min_time_s=0)) == ((10, 11, 12), False)
    assert kernel.launches == [0, 1, 2, 3]  # so that buffers rotate on


def test_the_warm_up_lasts_its_time_where_the_clock_is_steady() -> None:
    kernel = Kernel(1000)
    kernel.sampled(Timing(0.05, min_samples=1, min_time_s=0))
    assert len(kernel.launches) == pytest.approx(51, abs=1)


def test_the_warm_up_goes_on_until_times_are_steady() -> None:
    rising = [2000 - 10 * min(launch, 80) for launch in range(81)]
    kernel = Kernel(*rising)
    times, _ = kernel.sampled(Timing(0.05, min_samples=5, min_time_s=0))
    assert times == (1200,) * 5
    assert len(kernel.launches) < 250


def test_the_warm_up_ends_even_where_times_never_are_steady() -> None:
    kernel = Kernel(*(1000 * 1.01**launch for launch in range(2000)))
    kernel.sampled(Timing(0.05, min_samples=1, min_time_s=0))
    assert kernel.now_s - 100.0 == pytest.approx(0.5, abs=0.02)


def test_a_long_launch_is_the_whole_warm_up() -> None:
    kernel = Kernel(600_000)
    times, _ = kernel.sampled(Timing(0.05, min_samples=2, min_time_s=0))
    assert (len(kernel.launches), len(times)) == (3, 2)


def test_both_the_samples_and_the_time_must_be_reached() -> None:
    times, _ = Kernel(1000.0).sampled(Timing(COLD, min_samples=5, min_time_s=0.0115))
    assert len(times) == 12
    times, _ = Kernel(1000.0).sampled(Timing(COLD, min_samples=50, min_time_s=0.012))
    assert len(times) == 50


def test_the_longest_time_ends_sampling_and_warm_up() -> None:
    kernel = Kernel(1e6)
    times, stopped_early = kernel.sampled(Timing(warmup_s=10.0, min_samples=30, max_time_s=2))
    assert (len(times), stopped_early, len(kernel.launches)) == (2, False, 4)


def test_a_kernel_is_hopeless_by_its_median_of_three_or_more() -> None:
    timing = Timing(COLD, min_samples=6, min_time_s=0, hopeless_us=50)
    times, stopped_early = Kernel(100).sampled(timing)
    assert stopped_early
    assert sum(times[3:]) >= 20_000 > sum(times[4:])  # still so when a disturbance would be over
    assert Kernel(100, 100, 40, 40).sampled(timing) == ((100, 40, 40, 40, 40, 40), False)


def test_a_slow_kernel_is_given_up_by_the_sample_after() -> None:
    timing = Timing(COLD, min_samples=6, min_time_s=0, max_time_s=100, hopeless_us=50)
    times, stopped_early = Kernel(30_000).sampled(timing)
    assert (len(times), stopped_early) == (4, True)


def test_a_kernel_is_behind_when_even_its_least_of_seven_samples_is() -> None:
    timing = Timing(COLD, min_samples=9, min_time_s=0, hopeless_us=100_000, behind_us=60_000)
    ms = (0.0, 61_000.0, 90_000.0, 70_000.0)
    assert Kernel(*ms).sampled(timing) == ((61_000, 90_000, *(70_000,) * 6), True)
    times, stopped_early = Kernel(70, 70, 70, 70, 70, 59, 70).sampled(Timing(COLD, 9, 0, behind_us=60))
    assert (len(times), stopped_early) == (9, False)  # one sample may be all that nothing disturbed


def test_a_kernel_that_one_disturbance_hit_is_measured_to_the_end() -> None:
    timing = Timing(COLD, min_samples=6, min_time_s=0, hopeless_us=100, behind_us=65)
    kernel = Kernel(60, 360, 1585, 5701, 60)  # three launches while others had the processor
    assert kernel.sampled(timing) == ((360, 1585, 5701, 60, 60, 60), False)
    times, stopped_early = Kernel(60, 60, 700, 800, 60).sampled(timing)
    assert (len(times), stopped_early) == (6, False)  # its least says that it is one of the best


def test_the_time_limit_is_an_error() -> None:
    with pytest.raises(DeviceTimedOut, match=r"1 samples took 1\.5 s"):
        Kernel(1e6).sampled(Timing(COLD), timeout_s=1.5)
    kernel = Kernel(100_000)
    with pytest.raises(DeviceTimedOut, match="2 launches of the warm-up"):
        kernel.sampled(Timing(0.05), timeout_s=0.15)
    assert len(kernel.launches) == 2
