"""Evaluation of other shapes' kernels on one shape: verified and measured there, the fastest re-measured
interleaved.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from statistics import fmean

from codegen import AnyArtifact, KernelConfig
from tuner.backend import tuning_for
from tuner.errors import DeviceUnusable, NoValidMeasurement
from tuner.measure.finalists import NEAR
from tuner.measure.interleaved_timing import (
    WINDOWS,
    TimeUs,
    measure_interleaved,
)
from tuner.measure.isa_check import (
    Compilation,
    Examining,
    Later,
    Quiet,
    Unexamined,
)
from tuner.measure.measure import (
    Bench,
    Compiler,
    Limits,
    evaluate,
    median_us,
)
from tuner.measure.measurement_reuse import (
    KnownTimes,
    Reuse,
)
from tuner.session.history import (
    History,
    wall_s,
)
from tuner.session.result import (
    Comparison,
    Event,
    TrialBegun,
    TrialEnded,
)
from tuner.session.trial import (
    Outcome,
    ProofKind,
    Status,
    Trial,
    TrialStore,
)

_INTERLEAVED = 12  # maximum number of kernels that are measured interleaved
_FIRST_RUN_S, _LEAST_RUN_S, _RUN_FACTOR = 300.0, 20.0, 20.0  # limits of a run before, and relative to, the default
_TURNS_SHARE = 0.5  # share of the time reserved for the interleaved measurement
_CRASHES = 5
_DEFAULT, VISITOR = "default", "other shape"  # proposers of trial 0, and of the others


class How(StrEnum):
    """Evidence of a time on a shape."""

    INTERLEAVED = "interleaved"
    TRIAL = "trial"
    PREDICTED = "predicted"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Taken:
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
    taken: dict[KernelConfig, Taken]
    cancelled: bool = False


def compare_across(
    bench: Bench,
    store: TrialStore,
    pool: Compiler,
    visitors: Sequence[KernelConfig],
    within: float,
    seconds: float,
    on_event: Callable[[Event], None] = lambda _: None,
    known: KnownTimes | None = None,
) -> Compared:
    """Try the untried configurations of `visitors`, then measure all that may be within `within` of the best
    interleaved.

    Trials belong to the shape's own job, so that an interrupted run can resume. Some time is reserved for the
    interleaved measurement. A kernel with a `known` time that cannot win is not measured by a trial; such a
    time counts only after an interleaved measurement.

    Raises:
        NoValidMeasurement: no configuration has a time on this shape.
        DeviceUnusable: the device crashed repeatedly.
    """
    begun_s, history = time.monotonic(), History(store)
    tries_s = seconds * (1 - _TURNS_SHARE)
    cancelled = _try(bench, history, store, pool, visitors, begun_s + tries_s, on_event, Reuse(known))
    best = history.best
    if best is None:
        raise NoValidMeasurement(
            f"{len(history)} trials of {bench.problem} on {bench.spec.name} gave no time; the last ended with: "
            f"{history.last_reason() or 'nothing, the seconds of the set were spent'}"
        )
    taken = {trial.config: _taken(trial, outcome) for trial, outcome in history.ended()}
    baseline = history.baseline
    comparison = _as_tried(baseline, best)
    if not cancelled and bench.device is not None:
        left_s = seconds - (time.monotonic() - begun_s)
        near = max(NEAR, 1 + within + 0.1)
        best, comparison = _interleaved(bench, pool, history, visitors, best, near, left_s, taken, comparison)
    return Compared(best, comparison, taken, cancelled)


def _try(
    bench: Bench,
    history: History,
    store: TrialStore,
    pool: Compiler,
    visitors: Sequence[KernelConfig],
    until_s: float,
    on_event: Callable[[Event], None],
    reuse: Reuse,
) -> bool:
    """Verify and measure configurations without a trial; return whether the job was asked to stop."""
    known = {trial.config for trial, _ in history.ended()}
    begun = [(trial.number, trial.config) for trial in history.unfinished]
    configs = {config: number for number, config in begun}
    waiting = [*configs, *(c for c in dict.fromkeys(visitors) if c not in known and c not in configs)]

    def compiled(config: KernelConfig) -> Examining:
        return Unexamined(pool.compile(bench.problem, config, bench.spec))

    # A kernel whose time is known may not be needed.
    kernels = [Later(partial(compiled, each)) if reuse.knows(each) else compiled(each) for each in waiting]
    crashes = 0
    try:
        for place, config in enumerate(waiting):
            if store.cancelled():
                return True
            if time.monotonic() + _mean_s(history, wall_s) >= until_s:
                return False
            number = configs.get(config, history.next_number)
            if config not in configs:
                history.begin(number, config, VISITOR if number else _DEFAULT)
            on_event(TrialBegun(number, config))
            candidate = kernels[place]
            if tuning_for(bench.spec).shares_host:
                candidate = Quiet(candidate, tuple(kernels[place + 1 :]))
            outcome, artifact = _evaluated(bench, config, candidate, _limits(history, until_s), reuse, number)
            source = reuse.source
            if source is None:
                trial = history.end(number, outcome, artifact)
            else:
                trial = history.reuse(number, outcome, source, artifact)
            on_event(TrialEnded(trial))
            crashes = crashes + 1 if outcome.status is Status.CRASHED else 0
            if crashes == _CRASHES:
                raise DeviceUnusable(f"{bench.spec.name} crashed {_CRASHES} times in a row; last: {outcome.reason}")
    finally:
        for kernel in kernels:
            kernel.cancel()
    return False


def _evaluated(
    bench: Bench, config: KernelConfig, candidate: Examining, limits: Limits, reuse: Reuse, number: int
) -> tuple[Outcome, AnyArtifact | None]:
    """Reuse a known time, else measure; always measure the default, which scales known times."""
    best_us = limits.best_us if number > 0 else None
    if (known := reuse.of_config(config, best_us, None)) is not None:
        return known, None
    return evaluate(bench, candidate, limits, None, lambda artifact: reuse.of_kernel(artifact, best_us, None))


def _limits(history: History, until_s: float) -> Limits:
    left_s = max(until_s - time.monotonic(), 1.0)
    run_s, baseline = _FIRST_RUN_S, history.baseline
    if baseline is not None and baseline.outcome is not None and baseline.outcome.time_us is not None:
        run_s = max(_LEAST_RUN_S, _RUN_FACTOR * (baseline.outcome.verify_s + baseline.outcome.measure_s))
    best_us = history.best.outcome.time_us if history.best is not None and history.best.outcome is not None else None
    return Limits(all_s=left_s, run_s=run_s, best_us=best_us)


def _interleaved(
    bench: Bench,
    pool: Compiler,
    history: History,
    visitors: Sequence[KernelConfig],
    best: Trial,
    near: float,
    left_s: float,
    taken: dict[KernelConfig, Taken],
    as_tried: Comparison | None,
) -> tuple[Trial, Comparison | None]:
    """Re-measure the contenders, interleaved; their times replace those of their trials in `taken`."""
    reference = history.baseline if as_tried is not None else best
    assert reference is not None  # as_tried implies that the default has a time
    contenders = _contenders(history, visitors, best, reference, near)
    # As many as fit into all windows, with the reference between them; at least the best.
    fitting = int(left_s / WINDOWS / max(_mean_s(history, _run_s), 1e-3)) - 2
    contenders = contenders[: max(fitting, 1)]

    def timed(config: KernelConfig) -> TimeUs:
        kernel = _Kept(lambda: pool.compile(bench.problem, config, bench.spec))
        return lambda seconds: median_us(bench, kernel.compilation(), Limits(seconds, seconds))

    turns = measure_interleaved(timed(reference.config), [timed(trial.config) for trial in contenders], left_s)
    if turns is None:
        return best, as_tried
    times = [(turns.reference_us, reference)]
    times += [
        (ratio * turns.reference_us, trial)
        for ratio, trial in zip(turns.ratios, contenders, strict=True)
        if ratio is not None
    ]
    for time_us, trial in times:
        taken[trial.config] = Taken(How.INTERLEAVED, time_us, None, taken[trial.config].content_hash)
    ours = [(time_us, trial) for time_us, trial in times if trial.source is None]  # never empty: it has the reference
    best_us, winner = min(ours, key=lambda timed: (timed[0], timed[1].number))
    if as_tried is None:
        return winner, None
    return winner, Comparison(turns.reference_us, best_us, True, turns.windows, turns.drifted)


def _mean_s(history: History, of: Callable[[Outcome], float]) -> float:
    """Return the mean seconds of the trials that were not reused; 0 before any."""
    return fmean([of(outcome) for trial, outcome in history.ended() if trial.source is None] or [0.0])


def _run_s(outcome: Outcome) -> float:
    return outcome.measure_s


def _contenders(
    history: History, visitors: Sequence[KernelConfig], best: Trial, reference: Trial, near: float
) -> list[Trial]:
    """Return the best and the visitors that are near it, fastest first."""
    wanted, found = {best.config, *visitors}, list[tuple[float, int, Trial]]()
    least_us = best.outcome.time_us if best.outcome is not None else None
    assert least_us is not None  # the best has a time
    for trial, outcome in history.ended():
        time_us = trial.time_us
        if time_us is None or outcome.proof.kind is ProofKind.NONE or trial.config not in wanted:
            continue
        if time_us <= near * least_us and trial.number != reference.number:
            found.append((time_us, trial.number, trial))
    return [trial for *_, trial in sorted(found, key=lambda each: each[:2])[:_INTERLEAVED]]


@dataclass(slots=True)
class _Kept:
    """A compilation that begins when it is first requested."""

    begin: Callable[[], Compilation]
    begun: Compilation | None = None

    def compilation(self) -> Compilation:
        if self.begun is None:
            self.begun = self.begin()
        return self.begun


def _taken(trial: Trial, outcome: Outcome) -> Taken:
    if trial.source is not None:
        reason = f"not measured interleaved: its time is of trial {trial.source.number} of job {trial.source.job}"
        return Taken(How.NONE, None, reason, outcome.kernel_hash)
    if outcome.time_us is None:
        return Taken(How.NONE, None, outcome.reason, outcome.kernel_hash)
    how = How.TRIAL if outcome.measurement is not None else How.PREDICTED
    return Taken(how, outcome.time_us, None, outcome.kernel_hash)


def _as_tried(baseline: Trial | None, best: Trial) -> Comparison | None:
    default_us = baseline.outcome.time_us if baseline is not None and baseline.outcome is not None else None
    best_us = best.outcome.time_us if best.outcome is not None else None
    if default_us is None or best_us is None:
        return None
    return Comparison(default_us, best_us, remeasured=False)
