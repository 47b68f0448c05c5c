"""Sampling ends when there is enough, when time is up, or when a kernel is hopeless."""

import pytest

from hal import DeviceTimedOut, Timing
from hal.sampling import sample


class Kernel:
    """A kernel whose launches take the given microseconds, the last one for ever after, on a clock of its own."""

    def __init__(self, *times_us: float) -> None:
        self.times_us = times_us
        self.launches: list[int] = []
        self.now_s = 100.0
        self.paused_s: list[float] = []

    def __call__(self, number: int) -> float:
        time_us = self.times_us[min(len(self.launches), len(self.times_us) - 1)]
        self.launches.append(number)
        self.now_s += time_us * 1e-6
        return time_us

    def sampled(self, timing: Timing, timeout_s: float = 1e9) -> tuple[tuple[float, ...], bool]:
        return sample(self, timing, timeout_s, lambda: self.now_s, pause=self.paused_s.append)


def test_the_warm_up_is_not_among_the_samples() -> None:
    kernel = Kernel(900, 800, 10, 11, 12)
    assert kernel.sampled(Timing(warmup=2, min_samples=3, min_time_s=0)) == ((10, 11, 12), False)
    assert kernel.launches == [0, 1, 2, 3, 4]  # so that buffers rotate on


def test_both_the_samples_and_the_time_must_be_reached() -> None:
    times, _ = Kernel(1000.0).sampled(Timing(warmup=0, min_samples=5, min_time_s=0.0115))
    assert len(times) == 12
    times, _ = Kernel(1000.0).sampled(Timing(warmup=0, min_samples=50, min_time_s=0.012))
    assert len(times) == 50


def test_the_longest_time_ends_sampling_and_warm_up() -> None:
    kernel = Kernel(1e6)
    times, stopped_early = kernel.sampled(Timing(warmup=10, min_samples=30, max_time_s=2))
    assert (len(times), stopped_early, len(kernel.launches)) == (2, False, 4)


def test_a_kernel_is_hopeless_by_its_median_of_three_or_more() -> None:
    timing = Timing(warmup=0, min_samples=6, min_time_s=0, hopeless_us=50)
    assert Kernel(100, 100, 100).sampled(timing) == ((100, 100, 100, 100), True)
    assert Kernel(100, 40, 40).sampled(timing) == ((100, 40, 40, 40, 40, 40), False)


def test_a_kernel_is_behind_when_even_its_least_of_seven_samples_is() -> None:
    timing = Timing(warmup=0, min_samples=9, min_time_s=0, hopeless_us=100, behind_us=60)
    kernel = Kernel(61, 90, 70)
    assert kernel.sampled(timing) == ((61, 90, 70, 70, 70, 70, 70, 70), True)
    assert len(kernel.paused_s) == 1
    times, stopped_early = Kernel(70, 70, 70, 70, 59, 70).sampled(timing)
    assert (len(times), stopped_early) == (9, False)  # one sample may be all that nothing disturbed


def test_a_kernel_that_one_disturbance_hit_is_measured_to_the_end() -> None:
    timing = Timing(warmup=0, min_samples=6, min_time_s=0, hopeless_us=100, behind_us=65)
    kernel = Kernel(360, 1585, 5701, 60)  # three launches while others had the processor
    assert kernel.sampled(timing) == ((360, 1585, 5701, 60, 60, 60), False)
    assert len(kernel.paused_s) == 1
    times, stopped_early = Kernel(60, 700, 800, 60).sampled(timing)
    assert (len(times), stopped_early) == (6, False)  # its least says that it is one of the best


def test_the_time_limit_is_an_error() -> None:
    with pytest.raises(DeviceTimedOut, match=r"1 samples took 0\.5 s"):
        Kernel(1e6).sampled(Timing(warmup=0), timeout_s=0.5)
