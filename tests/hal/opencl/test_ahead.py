"""Launches ahead keep a GPU busy, so that its clock stays up; each is timed and none is lost."""

from statistics import median

import pytest

from hal import Timing
from hal.opencl.ahead import LaunchesAhead
from hal.sampling import sample
from tests.hal.ramping_gpu import HOST_US, RampingGpu


def measured(gpu: RampingGpu, timing: Timing, *, alone: bool) -> float:
    """Return the median of the samples but the first tenth, as it is stored with a trial."""
    launches = LaunchesAhead(gpu.enqueue, alone=alone)
    times, _ = sample(launches.launch_us, timing, 100.0, lambda: gpu.now_s)
    return median(times[len(times) // 10 :])


@pytest.mark.parametrize("work_us", [40.0, 150.0, 800.0, 6000.0])
@pytest.mark.parametrize(("rise_s", "sink_s"), [(0.02, 0.01), (0.1, 0.005)])
def test_an_idle_gpu_is_measured_at_its_highest_clock(work_us: float, rise_s: float, sink_s: float) -> None:
    gpu = RampingGpu(work_us, rise_s, sink_s)
    assert measured(gpu, Timing(), alone=False) == pytest.approx(work_us, rel=0.01)


@pytest.mark.parametrize("work_us", [40.0, 150.0])
def test_launches_that_wait_for_each_other_let_the_clock_sink(work_us: float) -> None:
    assert measured(RampingGpu(work_us), Timing(), alone=True) > 1.03 * work_us


def test_three_launches_do_not_raise_the_clock_of_an_idle_gpu() -> None:
    short = Timing(warmup_s=0.0, min_samples=30, min_time_s=0.0)
    assert measured(RampingGpu(150.0), short, alone=False) > 1.5 * 150.0


def test_a_kernel_is_cut_off_only_when_the_clock_is_up() -> None:
    behind = Timing(hopeless_us=180.0, behind_us=120.0)
    gpu = RampingGpu(100.0)  # 250 us while the clock is low
    launches = LaunchesAhead(gpu.enqueue, alone=False)
    times, stopped_early = sample(launches.launch_us, behind, 100.0, lambda: gpu.now_s)
    assert not stopped_early
    assert max(times) < 102.0
    gpu = RampingGpu(150.0)
    times, stopped_early = sample(LaunchesAhead(gpu.enqueue, alone=False).launch_us, behind, 100.0, lambda: gpu.now_s)
    assert stopped_early


def test_a_pair_is_compared_at_one_clock() -> None:
    """Buffers are copied between two kernels, meanwhile the GPU idles."""
    gpu, times = RampingGpu(200.0), []
    for work_us in (200.0, 196.0, 200.0):
        gpu.work_us = work_us
        gpu.now_s += 0.3
        times.append(measured(gpu, Timing(), alone=False))
    before, other, after = times
    assert other / ((before + after) / 2) == pytest.approx(0.98, rel=0.003)


@pytest.mark.parametrize(("time_us", "ahead"), [(1.0, 16), (100.0, 10), (900.0, 1), (15_000.0, 1), (25_000.0, 0)])
def test_about_a_millisecond_is_enqueued_ahead(time_us: float, ahead: int) -> None:
    gpu = RampingGpu(time_us)
    gpu.level, gpu.free_s, gpu.rise_s = 1.0, gpu.now_s + HOST_US * 1e-6, 1e-9
    launches = LaunchesAhead(gpu.enqueue, alone=False)
    assert launches.launch_us(0) == pytest.approx(time_us, abs=1e-3)
    launches.launch_us(1)
    assert gpu.launches == launches.enqueued == 2 + ahead
    launches.finish()
    assert gpu.now_s >= gpu.free_s
    assert gpu.launches == 2 + ahead


def test_alone_there_is_one_launch_at_a_time() -> None:
    gpu = RampingGpu(50.0)
    launches = LaunchesAhead(gpu.enqueue, alone=True)
    for number in range(5):
        launches.launch_us(number)
        assert gpu.launches == number + 1
