"""Sampling of kernel times, and the rules that stop it."""

import time
from bisect import insort
from collections.abc import Callable

from hal.device import Timing
from hal.errors import DeviceTimedOut

_HOPELESS_AFTER = 3  # samples; fewer may all be disturbed
_BEHIND_AFTER = 7
_PAUSE_S = 0.02  # longer than other processes hold a CPU at a stretch


def sample(
    launch_us: Callable[[int], float],
    timing: Timing,
    timeout_s: float,
    clock: Callable[[], float] = time.monotonic,
    warm: Callable[[], None] = lambda: None,
    pause: Callable[[float], None] = time.sleep,
) -> tuple[tuple[float, ...], bool]:
    """Return the times in microseconds in order of sampling, and whether the kernel was given up as hopeless.

    `launch_us` runs the kernel once, takes the number of the launch, and returns its time; `warm` is called
    between warm-up and sampling. A kernel that looks hopeless gets another sample after `pause`, called with
    seconds: a disturbance is over by then.

    Raises:
        DeviceTimedOut: `timeout_s` passed between two launches.
    """
    started = clock()
    warmed_up = 0
    while warmed_up < timing.warmup and clock() - started < timing.max_time_s:
        launch_us(warmed_up)
        warmed_up += 1

    warm()
    sampling = clock()
    times: list[float] = []
    ordered: list[float] = []
    paused = False
    while True:
        times.append(launch_us(warmed_up + len(times)))
        insort(ordered, times[-1])
        is_lost = _is_lost(ordered, timing)
        if is_lost and paused:
            return tuple(times), True
        now = clock()
        enough = len(times) >= timing.min_samples and now - sampling >= timing.min_time_s
        if enough or now - sampling >= timing.max_time_s:
            return tuple(times), False
        if now - started >= timeout_s:
            raise DeviceTimedOut(f"{len(times)} samples took {timeout_s:g} s, the time limit of the run")
        if is_lost:
            pause(_PAUSE_S)
            paused = True


def _is_lost(ordered: list[float], timing: Timing) -> bool:
    """Return whether further samples, besides those in order of time, could not make a kernel one of the best."""
    least_us, median_us = ordered[0], ordered[(len(ordered) - 1) // 2]
    if timing.behind_us is not None and least_us <= timing.behind_us:
        return False  # a single sample may be the only undisturbed one
    if timing.hopeless_us is not None and len(ordered) >= _HOPELESS_AFTER and median_us > timing.hopeless_us:
        return True
    return timing.behind_us is not None and len(ordered) >= _BEHIND_AFTER
