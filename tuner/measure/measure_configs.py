"""Measurement of given configurations in order, without a search; each that has no trial yet becomes one."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from statistics import fmean

from codegen import GemmProblem, KernelConfig, XeConfig
from hal import Device, DeviceSpec
from tuner.backend import prediction_if_known, tuning_for
from tuner.measure.failure_policy import (
    FAILURES,
    device_failed,
    nothing_valid,
    unusable,
    went_in,
)
from tuner.measure.isa_check import Examining, Later, Quiet, Unexamined
from tuner.measure.measure import (
    Bench,
    Compiler,
    evaluate,
)
from tuner.measure.measurement_reuse import Reuse
from tuner.measure.trial_runner import run_limits
from tuner.session.budget import GRACE_S
from tuner.session.history import History, wall_s
from tuner.session.result import (
    NOTHING,
    Event,
    Stop,
    TrialBegun,
    TrialEnded,
    WallTime,
)
from tuner.session.trial import Outcome, TrialStore
from tuner.verify.reference import Reference

_DEFAULT = "default"  # proposer of trial 0
_AHEAD = 32  # configurations that are compiled together


def try_configs(
    bench: Bench,
    history: History,
    store: TrialStore,
    pool: Compiler,
    configs: Sequence[KernelConfig],
    until_s: float,
    on_event: Callable[[Event], None],
    *,
    reuse: Reuse | None = None,
    proposer: str | None = None,
    to_the_end: bool = False,
) -> Stop:
    """Verify and measure the configurations without a trial, after those whose trial was begun and not ended.

    No trial begins that is expected to end after `until_s` of the monotonic clock. Kernels whose time `reuse` knows
    are not measured, unless they may win; hopeless ones are measured `to_the_end` or stopped early.

    Raises:
        DeviceUnusable: the device failed repeatedly.
    """
    spec, reuse, failures = bench.spec, reuse or Reuse(None), 0
    begun = {trial.config: trial.number for trial in history.unfinished}
    ended = {trial.config for trial, _ in history.ended()}
    waiting = [*begun, *(c for c in dict.fromkeys(configs) if c not in ended and c not in begun)]

    def compiled(config: KernelConfig) -> Examining:
        return Unexamined(pool.compile(bench.problem, config, spec))

    for first in range(0, len(waiting), _AHEAD):
        some = waiting[first : first + _AHEAD]
        # A kernel whose time is known may not be needed.
        kernels = [Later(partial(compiled, each)) if reuse.knows(each) else compiled(each) for each in some]
        try:
            for place, config in enumerate(some):
                if store.cancelled():
                    return Stop.CANCELLED
                if time.monotonic() + mean_s(history, wall_s) >= until_s:
                    return Stop.SECONDS
                number = begun.get(config, history.next_number)
                if config not in begun:
                    history.begin(number, config, proposer if number else _DEFAULT)
                on_event(TrialBegun(number, config))
                candidate = kernels[place]
                if tuning_for(spec).shares_host:
                    candidate = Quiet(candidate, tuple(kernels[place + 1 :]))
                prediction = prediction_if_known(bench.problem, config, spec)
                best_us = history.best_us if number > 0 else None  # the default is measured: it scales known times
                limits = run_limits(history, max(until_s - time.monotonic(), GRACE_S), None if to_the_end else best_us)
                outcome, artifact = reuse.of_config(config, best_us, prediction), None
                if outcome is None:
                    known = partial(reuse.of_kernel, best_us=best_us, prediction=prediction)
                    outcome, artifact = evaluate(bench, candidate, limits, prediction, known)
                if reuse.source is None:
                    trial = history.end(number, outcome, artifact)
                else:
                    trial = history.reuse(number, outcome, reuse.source, artifact)
                on_event(TrialEnded(trial))
                failures = failures + 1 if device_failed(outcome) else 0
                if failures == FAILURES:
                    raise unusable(spec, outcome)
        finally:
            for kernel in kernels:
                kernel.cancel()
    return Stop.EXHAUSTED


def mean_s(history: History, of: Callable[[Outcome], float]) -> float:
    """Return the mean seconds of the trials that were not reused; 0 before any."""
    return fmean([of(outcome) for trial, outcome in history.ended() if trial.source is None] or [0.0])


def measure_given(
    problem: GemmProblem,
    spec: DeviceSpec,
    device: Device,
    store: TrialStore,
    pool: Compiler,
    configs: Sequence[XeConfig],
    seconds: float,
    seed: int,
    on_event: Callable[[Event], None] = lambda _: None,
) -> Stop:
    """Verify and measure the configurations on the device, of which the first is the default, resuming from the store.

    Raises:
        Refused: a rule refuses the problem or the device.
        NoValidMeasurement: all were tried, or the time budget is spent, and none has a time.
        DeviceUnusable: the device failed repeatedly.
        TooLargeToProve: not enough memory to verify a kernel.
    """
    begun_s, busy_s = time.monotonic(), pool.busy_s
    bench, history = Bench(problem, spec, device, Reference(problem, seed)), History(store)
    ends_s = begun_s + seconds - history.earlier_s
    told = NOTHING

    def tell_wall() -> None:
        nonlocal told
        wall = WallTime(
            total_s=time.monotonic() - begun_s,
            propose_s=0.0,
            compile_s=pool.busy_s - busy_s,
            wait_s=sum(outcome.compile_s for outcome in history.new),
            verify_s=sum(outcome.verify_s for outcome in history.new),
            measure_s=sum(outcome.measure_s for outcome in history.new),
            compare_s=0.0,
        )
        on_event(wall.since(told))
        told = wall

    def heard(event: Event) -> None:
        on_event(event)
        if isinstance(event, TrialEnded):
            tell_wall()

    try:
        stop = try_configs(bench, history, store, pool, configs, ends_s, heard, to_the_end=True)
    finally:
        tell_wall()
    if history.best is None and stop is not Stop.CANCELLED:
        raise nothing_valid(spec, history, went_in(history.new) if stop is Stop.SECONDS else None)
    return stop
