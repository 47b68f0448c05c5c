"""Sampling of kernel times: warm-up until the clock is steady, and the rules that stop sampling."""

import time
from bisect import insort
from collections.abc import Callable

import numpy as np

from hal.device import Timing
from hal.errors import DeviceTimedOut

_HOPELESS_AFTER = 3  # samples; fewer may all be disturbed
_BEHIND_AFTER = 7
_CONFIRMED_S = 0.02  # longer than other processes hold a CPU at a stretch
_LONGEST_WARM_UP = 10  # times the least: a clock that does not settle must not take the job's time
_STEADY = 0.01  # relative difference between the times of two quarters of the warm-up
_NEXT_LOOK = 1.5  # times as much warm-up


def sample(
    launch_us: Callable[[int], float],
    timing: Timing,
    timeout_s: float,
    clock: Callable[[], float] = time.monotonic,
    warm: Callable[[], None] = lambda: None,
) -> tuple[tuple[float, ...], bool]:
    """Return the times in microseconds in order of sampling, and whether the kernel was given up as hopeless.

    `launch_us` runs the kernel once, takes the number of the launch, and returns its time; `warm` is called
    between warm-up and sampling. Launches follow each other without a pause, which would lower the clock. A
    kernel that looks hopeless is given up if it still does a little later: a disturbance is over by then.

    Raises:
        DeviceTimedOut: `timeout_s` passed between two launches.
    """
    started = clock()
    warmed_up = _warm_up(launch_us, timing, started + timeout_s, clock)

    warm()
    sampling = clock()
    times: list[float] = []
    ordered: list[float] = []
    lost_since: float | None = None
    while True:
        times.append(launch_us(warmed_up + len(times)))
        insort(ordered, times[-1])
        now = clock()
        if not _is_lost(ordered, timing):
            lost_since = None
        elif lost_since is None:
            lost_since = now
        elif now - lost_since >= _CONFIRMED_S:
            return tuple(times), True
        enough = len(times) >= timing.min_samples and now - sampling >= timing.min_time_s
        if (enough and lost_since is None) or now - sampling >= timing.max_time_s:
            return tuple(times), False
        if now - started >= timeout_s:
            raise DeviceTimedOut(f"{len(times)} samples took {timeout_s:g} s, the time limit of the run")


def _warm_up(launch_us: Callable[[int], float], timing: Timing, until: float, clock: Callable[[], float]) -> int:
    """Launch for `warmup_s` and until times are steady, at most ten times as long; return the number of launches."""
    begun, times = clock(), list[float]()
    longest_s = min(_LONGEST_WARM_UP * timing.warmup_s, timing.max_time_s)
    look_s = timing.warmup_s
    while True:
        times.append(launch_us(len(times)))
        now = clock()
        if now - begun >= longest_s:
            return len(times)
        if now >= until:
            raise DeviceTimedOut(f"{len(times)} launches of the warm-up took as long as the run may take")
        if now - begun >= look_s:
            if _is_steady(times):
                return len(times)
            look_s = _NEXT_LOOK * (now - begun)


def _is_steady(times: list[float]) -> bool:
    """Return whether the third and the last quarter of the launches took equally long."""
    quarter = len(times) // 4
    if quarter == 0:
        return False
    before, last = np.median(times[-2 * quarter : -quarter]), np.median(times[-quarter:])
    return bool(abs(last - before) <= _STEADY * before)


def _is_lost(ordered: list[float], timing: Timing) -> bool:
    """Return whether further samples, besides those in order of time, could not make a kernel one of the best."""
    least_us, median_us = ordered[0], ordered[(len(ordered) - 1) // 2]
    if timing.behind_us is not None and least_us <= timing.behind_us:
        return False  # a single sample may be the only undisturbed one
    if timing.hopeless_us is not None and len(ordered) >= _HOPELESS_AFTER and median_us > timing.hopeless_us:
        return True
    return timing.behind_us is not None and len(ordered) >= _BEHIND_AFTER
