"""Comparison of other shapes' kernels on one shape: verified and timed there, the fastest re-measured interleaved."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from codegen import KernelConfig
from tuner.errors import NoValidMeasurement
from tuner.measure.finalists import NEAR
from tuner.measure.interleaved_timing import WINDOWS, TimeUs, measure_interleaved
from tuner.measure.isa_check import Compilation
from tuner.measure.measure import Bench, Compiler, Limits, median_us
from tuner.measure.measure_configs import mean_s, try_configs
from tuner.measure.measurement_reuse import KnownTimes, Reuse
from tuner.search.method import OTHER_SHAPE
from tuner.session.history import History
from tuner.session.result import Comparison, Event, Stop
from tuner.session.trial import Outcome, ProofKind, Trial, TrialStore

_MOST_INTERLEAVED = 12  # kernels
_INTERLEAVED_SHARE = 0.5  # of the time, reserved for the interleaved measurement


class How(StrEnum):
    """Evidence of a time on a shape."""

    INTERLEAVED = "interleaved"
    TRIAL = "trial"
    PREDICTED = "predicted"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class KernelTime:
    """Time of a configuration on a shape, in microseconds; `reason` explains a missing one."""

    how: How
    time_us: float | None = None
    reason: str | None = None
    content_hash: str | None = None


@dataclass(frozen=True, slots=True)
class Compared:
    """Result on a shape: its best trial, its comparison with the default, and the time of each configuration.

    Without an interleaved comparison, `comparison` has the trials' own times; it is None when the default has
    none. `cancelled`: the job was asked to stop before all were tried.
    """

    best: Trial
    comparison: Comparison | None
    times: dict[KernelConfig, KernelTime]
    cancelled: bool = False


def compare_kernels(
    bench: Bench,
    store: TrialStore,
    pool: Compiler,
    configs: Sequence[KernelConfig],
    within: float,
    seconds: float,
    on_event: Callable[[Event], None] = lambda _: None,
    known: KnownTimes | None = None,
) -> Compared:
    """Try the configurations without a trial, then measure all that may be within `within` of the best interleaved.

    Trials belong to the shape's own job, so that an interrupted run can resume. Some time is reserved for the
    interleaved measurement. A kernel with a `known` time that cannot win is not measured by a trial; such a
    time counts only after an interleaved measurement.

    Raises:
        NoValidMeasurement: no configuration has a time on this shape.
        DeviceUnusable: the device failed repeatedly.
    """
    begun_s, history = time.monotonic(), History(store)
    until_s = begun_s + seconds * (1 - _INTERLEAVED_SHARE)
    reuse = Reuse(known)
    stop = try_configs(bench, history, store, pool, configs, until_s, on_event, reuse=reuse, proposer=OTHER_SHAPE)
    best, baseline = history.best, history.baseline
    if best is None:
        raise NoValidMeasurement(
            f"{len(history)} trials of {bench.problem} on {bench.spec.name} gave no time; the last ended with: "
            f"{history.last_reason() or 'nothing, the seconds of the set were spent'}"
        )
    found = Compared(best, None, {trial.config: _time_of(trial, outcome) for trial, outcome in history.ended()})
    default_us, best_us = None if baseline is None else _own_us(baseline), _own_us(best)
    if default_us is not None and best_us is not None:
        found = Compared(best, Comparison(default_us, best_us, remeasured=False), found.times)
    if stop is Stop.CANCELLED:
        return Compared(found.best, found.comparison, found.times, cancelled=True)
    if bench.device is None:
        return found
    near = max(NEAR, 1 + within + 0.1)
    return _interleaved(bench, pool, history, configs, found, near, seconds - (time.monotonic() - begun_s))


def _interleaved(
    bench: Bench,
    pool: Compiler,
    history: History,
    configs: Sequence[KernelConfig],
    found: Compared,
    near: float,
    left_s: float,
) -> Compared:
    """Re-measure the contenders, interleaved with the default if it has a time; their times replace those of trials."""
    reference = found.best if found.comparison is None else history.baseline
    assert reference is not None  # a comparison is with the default
    contenders = _contenders(history, {found.best.config, *configs}, found.best, reference, near)
    # As many as fit into all windows, with the reference between them; at least the best.
    fitting = int(left_s / WINDOWS / max(mean_s(history, lambda outcome: outcome.measure_s), 1e-3)) - 2
    contenders = contenders[: max(fitting, 1)]
    kernels: dict[KernelConfig, Compilation] = {}

    def timed(config: KernelConfig) -> TimeUs:
        def time_us(seconds: float) -> float | None:
            if config not in kernels:
                kernels[config] = pool.compile(bench.problem, config, bench.spec)
            return median_us(bench, kernels[config], Limits(seconds, seconds), found.times[config].content_hash)

        return time_us

    turns = measure_interleaved(timed(reference.config), [timed(trial.config) for trial in contenders], left_s)
    if turns is None:
        return found
    pairs = zip((1.0, *turns.ratios), (reference, *contenders), strict=True)
    measured = [(ratio * turns.reference_us, trial) for ratio, trial in pairs if ratio is not None]
    times = found.times | {
        trial.config: KernelTime(How.INTERLEAVED, time_us, None, found.times[trial.config].content_hash)
        for time_us, trial in measured
    }
    own = [(time_us, trial) for time_us, trial in measured if trial.source is None]  # never empty: it has the reference
    best_us, winner = min(own, key=lambda timed: (timed[0], timed[1].number))
    if found.comparison is None:
        return Compared(winner, None, times)
    return Compared(winner, Comparison(turns.reference_us, best_us, True, turns.windows, turns.drifted), times)


def _contenders(history: History, wanted: set[KernelConfig], best: Trial, reference: Trial, near: float) -> list[Trial]:
    """Return the wanted trials that are near the best, fastest first."""
    least_us = _own_us(best)
    assert least_us is not None  # the best has a time
    found = [
        (time_us, trial.number, trial)
        for trial, outcome in history.ended()
        if (time_us := trial.time_us) is not None and outcome.proof.kind is not ProofKind.NONE
        if trial.config in wanted and trial.number != reference.number and time_us <= near * least_us
    ]
    return [trial for *_, trial in sorted(found, key=lambda each: each[:2])[:_MOST_INTERLEAVED]]


def _time_of(trial: Trial, outcome: Outcome) -> KernelTime:
    if trial.source is not None:
        reason = f"not measured interleaved: its time is of trial {trial.source.number} of job {trial.source.job}"
        return KernelTime(How.NONE, None, reason, outcome.kernel_hash)
    if outcome.time_us is None:
        return KernelTime(How.NONE, None, outcome.reason, outcome.kernel_hash)
    how = How.TRIAL if outcome.measurement is not None else How.PREDICTED
    return KernelTime(how, outcome.time_us, None, outcome.kernel_hash)


def _own_us(trial: Trial) -> float | None:
    return None if trial.outcome is None else trial.outcome.time_us
