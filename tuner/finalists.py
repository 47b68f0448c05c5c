"""Default and best, measured in turns."""

import time
from collections.abc import Callable
from statistics import median

from codegen import AnyArtifact, AnyConfig
from tuner.measure import Bench, median_us
from tuner.native import Compilation
from tuner.result import Comparison
from tuner.trial import Trial

ROUNDS = 3


def compare_finalists(
    bench: Bench,
    baseline: Trial,
    best: Trial,
    kernel_of: Callable[[AnyConfig], AnyArtifact | Compilation],
    left_s: float,
) -> Comparison | None:
    """Compare within `left_s` seconds, by the trials' own times where that cannot be; None without a default time."""
    default_us = baseline.outcome.time_us if baseline.outcome is not None else None
    best_us = best.outcome.time_us if best.outcome is not None else None
    if default_us is None or best_us is None:
        return None
    as_tried = Comparison(default_us, best_us, remeasured=False)
    if bench.device is None or best.number == baseline.number:
        return as_tried
    pairs: list[tuple[float, float]] = []
    begun_s = time.monotonic()
    kernels = (kernel_of(baseline.config), kernel_of(best.config))
    for _ in range(ROUNDS):
        spent_s = time.monotonic() - begun_s
        # Another round only if it fits, taking the last for its length.
        if spent_s * (1 + 1 / len(pairs) if pairs else 1) >= left_s:
            break
        times = [median_us(bench, kernel, left_s - (time.monotonic() - begun_s)) for kernel in kernels]
        if times[0] is None or times[1] is None:
            break
        pairs.append((times[0], times[1]))
    if not pairs:
        return as_tried
    return Comparison(median(p[0] for p in pairs), median(p[1] for p in pairs), remeasured=True)
