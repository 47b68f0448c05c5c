"""Measurement of given configurations: the default first, then each in order."""

import time
from collections.abc import Callable, Sequence

from codegen import GemmProblem, XeConfig
from hal import Device, DeviceSpec
from tuner.measure.failure_policy import (
    FAILURES,
    device_failed,
    nothing_valid,
    unusable,
    went_in,
)
from tuner.measure.isa_check import Unexamined
from tuner.measure.measure import (
    Bench,
    Compiler,
    Limits,
    evaluate,
)
from tuner.search.space_prediction import prediction_if_known
from tuner.session.budget import GRACE_S
from tuner.session.history import History
from tuner.session.result import (
    NOTHING,
    Event,
    Stop,
    TrialBegun,
    TrialEnded,
    WallTime,
)
from tuner.session.trial import TrialStore
from tuner.space.xe.heuristic import default_config
from tuner.verify.reference import Reference

_RUN_S = 300.0  # limit of a run on the device


def measure_given(
    problem: GemmProblem,
    spec: DeviceSpec,
    device: Device,
    store: TrialStore,
    pool: Compiler,
    given: Sequence[XeConfig],
    seconds: float,
    seed: int,
    on_event: Callable[[Event], None] = lambda _: None,
) -> Stop:
    """Verify and measure the default and each given configuration on the device, resuming from the trials in the store.

    Raises:
        Refused: a rule refuses the problem or the device.
        NoValidMeasurement: all were tried, or the time budget is spent, and none has a time.
        DeviceUnusable: the device crashed repeatedly.
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
        return _measure_all(bench, history, store, pool, given, ends_s, heard)
    finally:
        tell_wall()


def _measure_all(
    bench: Bench,
    history: History,
    store: TrialStore,
    pool: Compiler,
    given: Sequence[XeConfig],
    ends_s: float,
    on_event: Callable[[Event], None],
) -> Stop:
    problem, spec, failures = bench.problem, bench.spec, 0
    for number, config in _to_do(default_config(problem, spec), given, history):
        if store.cancelled():
            return Stop.CANCELLED
        left_s = ends_s - time.monotonic()
        if left_s <= 0:
            break
        if number == history.next_number:
            history.begin(number, config)
        on_event(TrialBegun(number, config))
        candidate = Unexamined(pool.compile(problem, config, spec))
        limits = Limits(all_s=left_s + GRACE_S, run_s=min(_RUN_S, left_s + GRACE_S))
        outcome, artifact = evaluate(bench, candidate, limits, prediction_if_known(problem, config, spec))
        on_event(TrialEnded(history.end(number, outcome, artifact)))
        failures = failures + 1 if device_failed(outcome) else 0
        if failures == FAILURES:
            raise unusable(spec, outcome)
    stop = Stop.EXHAUSTED if ends_s > time.monotonic() else Stop.SECONDS
    if history.best is None:
        raise nothing_valid(spec, history, went_in(history.new) if stop is Stop.SECONDS else None)
    return stop


def _to_do(default: XeConfig, given: Sequence[XeConfig], history: History) -> list[tuple[int, XeConfig]]:
    """Return the remaining work: trials that were begun and not ended, then configurations without a trial."""
    configs = list(dict.fromkeys([default, *given]))
    begun = [trial.number for trial in history.unfinished]
    return [(number, configs[number]) for number in (*begun, *range(history.next_number, len(configs)))]
