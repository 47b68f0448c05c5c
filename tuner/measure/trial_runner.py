"""Evaluation of a session's candidates in sequence, and the check of the device after repeated failures."""

import time
from collections.abc import Callable
from dataclasses import replace

from codegen import AnyArtifact, KernelConfig
from tuner.backend import prediction_if_known, tuning_of
from tuner.errors import NoEnergy
from tuner.measure.failure_policy import (
    FAILURES,
    device_failed,
    failures_in_a_row,
    unusable,
)
from tuner.measure.isa_check import (
    Examining,
    Native,
    examine,
)
from tuner.measure.kernels import Kernels
from tuner.measure.measure import (
    Bench,
    Limits,
    evaluate,
    foresee,
    median_us,
)
from tuner.measure.measurement_reuse import Reuse
from tuner.session.budget import (
    GRACE_S,
    Allowance,
)
from tuner.session.history import History
from tuner.session.trial import Outcome

_FIRST_RUN_S = 300.0  # limit of a run on the device while the default's time is unknown
_LEAST_RUN_S, _RUN_FACTOR = 20.0, 20.0  # limit afterwards: minimum, and multiple of the default's time
_PROVEN = 8  # predicted trials that are verified; later only those that would lead


class Attempts:
    """Evaluator of candidates on the device of the bench; without one, predicts them.

    With `with_energy`, candidates are measured to the end, however slow they are.
    """

    def __init__(
        self,
        bench: Bench,
        default: KernelConfig,
        history: History,
        allowance: Allowance,
        kernels: Kernels,
        native: Native | None,
        reuse: Reuse,
        with_energy: bool,
    ) -> None:
        self._bench, self._default, self._history, self._allowance = bench, default, history, allowance
        self._kernels, self._native, self._reuse = kernels, native, reuse
        self._failures, self._with_energy = failures_in_a_row(history), with_energy

    def make(
        self, number: int, config: KernelConfig, candidate: Examining, is_last_chance: Callable[[], bool]
    ) -> tuple[Outcome, AnyArtifact | None]:
        """Evaluate a candidate.

        `is_last_chance` returns whether the job would end without a time if this trial has none; it is called
        only where that matters.
        """
        if self._bench.device is not None:
            return self._measure(number, config, candidate)
        prediction = tuning_of(config).predict(self._bench.problem, config, self._bench.spec)
        prove = self._history.proven < _PROVEN or number == 0 or self._history.would_lead(number, prediction)
        return foresee(self._bench, candidate, self._limits(), prediction, prove=prove, keep_spilling=is_last_chance)

    def check_device(self, last: Outcome) -> None:
        """Check the device, if there is one, after a trial: after repeated failures, run the default to tell whether
        the kernels or the device fail.

        Raises:
            DeviceUnusable: the default never had a time, or fails too while the job has time left.
        """
        if self._bench.device is None:
            return
        self._failures = self._failures + 1 if device_failed(last) else 0
        if self._failures < FAILURES:
            return
        self._failures = 0
        baseline = self._history.baseline
        ran_before = baseline is not None and baseline.outcome is not None and baseline.outcome.time_us is not None
        default = self._kernels.of(self._default)
        if ran_before and median_us(self._bench, default, self._limits()) is not None:
            return
        if not ran_before or self._allowance.left_s > 0:  # else the job's time limit ended it, which proves nothing
            raise unusable(self._bench.spec, last)

    def check_energy(self, number: int, last: Outcome) -> None:
        """Check after the default's trial that the device reports energy, if energy is an objective.

        Raises:
            NoEnergy: the device reported none.
        """
        measured = last.measurement
        if self._with_energy and number == 0 and measured is not None and measured.energy_uj is None:
            raise NoEnergy(
                self._bench.spec.id, "its counters reported nothing for the default configuration's launches"
            )

    def _measure(self, number: int, config: KernelConfig, candidate: Examining) -> tuple[Outcome, AnyArtifact | None]:
        prediction = prediction_if_known(self._bench.problem, config, self._bench.spec)
        best_us = self._history.best_us if number > 0 else None  # known times are scaled by the default's
        if (reused := self._reuse.of_config(config, best_us, prediction)) is not None:
            return reused, None
        outcome, artifact = evaluate(
            self._bench,
            candidate,
            self._limits(),
            prediction,
            lambda artifact: self._reuse.of_kernel(artifact, best_us, prediction),
        )
        is_old = self._reuse.source is not None
        if self._native is None or artifact is None or is_old or not self._would_lead(number, outcome.time_us):
            return outcome, artifact
        begun_s = time.perf_counter()
        artifact = examine(
            self._native, artifact, self._allowance.until_s
        ).artifact  # a measured time is valid, whatever the code
        return replace(outcome, compile_s=outcome.compile_s + time.perf_counter() - begun_s), artifact

    def _would_lead(self, number: int, time_us: float | None) -> bool:
        """Return whether a trial is the default, or faster than all before: a finalist so far."""
        best_us = self._history.best_us
        return time_us is not None and (number == 0 or best_us is None or time_us < best_us)

    def _limits(self) -> Limits:
        left_s = max(self._allowance.left_s, 0.0) + GRACE_S
        return run_limits(self._history, left_s, None if self._with_energy else self._history.best_us)


def run_limits(history: History, left_s: float, best_us: float | None) -> Limits:
    """Return the limits of a trial that may take `left_s` seconds: a run much longer than the default's is stopped."""
    run_s, baseline = _FIRST_RUN_S, history.baseline
    if baseline is not None and baseline.outcome is not None and baseline.outcome.time_us is not None:
        run_s = max(_LEAST_RUN_S, _RUN_FACTOR * (baseline.outcome.verify_s + baseline.outcome.measure_s))
    return Limits(all_s=left_s, run_s=min(run_s, left_s), best_us=best_us)
