"""Interleaved measurement of kernels with a reference, so that disturbances of the machine affect all of them alike.

A window is the reference, each of the others, and the reference again. The time of another kernel is taken as
its ratio to the mean of the two references. A window whose two references differ too much is repeated.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

WINDOWS = 3
"""Number of windows used; odd, so that the median is one of them."""

DRIFT = 0.05
"""Relative difference between two times of the reference, to the lesser one, that counts as drift."""

_AGAIN = 3  # windows that may be repeated; bounds the time on a machine that is never quiet

TimeUs = Callable[[float], float | None]
"""Measures a kernel within that many seconds; None if it has no time."""


@dataclass(frozen=True, slots=True)
class InterleavedTimes:
    """Result of interleaved windows: microseconds of the reference, and the ratio of each other kernel to it.

    A ratio is None if the kernel has no time. `drifted` counts the windows in which the reference drifted, of
    all that were measured; `windows` counts the steadiest ones, which are used.
    """

    reference_us: float
    ratios: tuple[float | None, ...]
    windows: int
    drifted: int


@dataclass(frozen=True, slots=True)
class _Window:
    before_us: float
    after_us: float
    others_us: tuple[float | None, ...]

    @property
    def reference_us(self) -> float:
        return (self.before_us + self.after_us) / 2

    @property
    def drift(self) -> float:
        return abs(self.after_us - self.before_us) / min(self.before_us, self.after_us)


def measure_interleaved(
    reference: TimeUs, others: Sequence[TimeUs], left_s: float, clock: Callable[[], float] = time.monotonic
) -> InterleavedTimes | None:
    """Measure until WINDOWS windows are steady, up to 3 are repeated, or `left_s` seconds are too few for another.

    Return None when no window was completed.
    """
    begun_s = clock()

    def remaining_s() -> float:
        return left_s - (clock() - begun_s)

    windows: list[_Window] = []
    failed: set[int] = set()
    before_us = reference(remaining_s())
    longest_s = 0.0
    while before_us is not None and len(windows) < WINDOWS + _AGAIN and remaining_s() > longest_s:
        if sum(window.drift <= DRIFT for window in windows) == WINDOWS:
            break
        window_s = clock()
        times: list[float | None] = []
        for number, other in enumerate(others):
            times.append(None if number in failed else other(remaining_s()))
            if times[-1] is None:
                failed.add(number)
        after_us = reference(remaining_s())
        if after_us is None:
            break
        windows.append(_Window(before_us, after_us, tuple(times)))
        before_us, longest_s = after_us, max(longest_s, clock() - window_s)
    return _summed_up(windows, len(others)) if windows else None


def _summed_up(windows: list[_Window], others: int) -> InterleavedTimes:
    steadiest = sorted(windows, key=lambda window: window.drift)[:WINDOWS]
    ratios: list[float | None] = []
    for number in range(others):
        # A kernel that failed once must not win, whatever its other times are.
        given = [w.others_us[number] for w in windows]
        own = [us / w.reference_us for w in steadiest if (us := w.others_us[number]) is not None]
        ratios.append(None if None in given else median(own))
    return InterleavedTimes(
        reference_us=median(window.reference_us for window in steadiest),
        ratios=tuple(ratios),
        windows=len(steadiest),
        drifted=sum(window.drift > DRIFT for window in windows),
    )
