"""Kernels measured in turns with a reference, so that what the machine does meanwhile falls on all of them alike.

A window is the reference, each of the others, and the reference again. A time of another counts as its ratio to the
mean of the two; a window between whose references the machine changed is measured again.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

WINDOWS = 3
"""Windows that count; of an odd number the median is one of them."""

DRIFT = 0.05
"""Two times of the reference that differ by more than this part of the lesser one are drift."""

_AGAIN = 3  # windows that may be measured again; a machine that never rests must not keep a job

TimeUs = Callable[[float], float | None]
"""Measures a kernel within so many seconds; None where that gives no time."""


@dataclass(frozen=True, slots=True)
class Turns:
    """What windows gave: microseconds of the reference, and the time of each other over the reference's.

    A ratio is None where a kernel gave no time. `drifted` counts the windows in which the reference drifted, of all
    that were measured; those that `windows` counts are the steadiest.
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


def measure_in_turns(
    reference: TimeUs, others: Sequence[TimeUs], left_s: float, clock: Callable[[], float] = time.monotonic
) -> Turns | None:
    """Measure until WINDOWS windows are steady, up to 3 are measured again, or `left_s` seconds do not hold another.

    None when not one window was completed.
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


def _summed_up(windows: list[_Window], others: int) -> Turns:
    steadiest = sorted(windows, key=lambda window: window.drift)[:WINDOWS]
    ratios: list[float | None] = []
    for number in range(others):
        # A kernel that failed once is none to ship, whatever its other times are.
        given = [w.others_us[number] for w in windows]
        own = [us / w.reference_us for w in steadiest if (us := w.others_us[number]) is not None]
        ratios.append(None if None in given else median(own))
    return Turns(
        reference_us=median(window.reference_us for window in steadiest),
        ratios=tuple(ratios),
        windows=len(steadiest),
        drifted=sum(window.drift > DRIFT for window in windows),
    )
