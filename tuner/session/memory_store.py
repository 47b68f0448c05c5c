"""TrialStore in memory, for runs without a database."""

from dataclasses import replace

from codegen import AnyArtifact, KernelConfig
from tuner.session.evidence import (
    check_evidence,
    check_reused,
)
from tuner.session.trial import (
    Outcome,
    ReusedFrom,
    Trial,
)


class MemoryTrialStore:
    """A TrialStore that lasts as long as the object. `artifacts` holds the kernels by trial number."""

    def __init__(self) -> None:
        self.artifacts: dict[int, AnyArtifact] = {}
        self._trials: dict[int, Trial] = {}
        self._cancelled = False
        self._spent_s = 0.0

    def trials(self) -> list[Trial]:
        """Return all trials in order of number."""
        return [self._trials[number] for number in sorted(self._trials)]

    def begin(self, number: int, config: KernelConfig, proposer: str | None = None) -> None:
        """Record that a trial begins, and its proposer.

        Raises:
            ValueError: a negative number, or the job has that number or that configuration already.
        """
        self._add(Trial(number, config, proposer=proposer))

    def _add(self, begun: Trial) -> None:
        number, config = begun.number, begun.config
        if number < 0:
            raise ValueError(f"expected a trial number of at least 0, got {number}")
        for trial in self._trials.values():
            if trial.number == number or trial.config == config:
                raise ValueError(f"trial {number} ({config}) is there already as trial {trial.number}")
        self._trials[number] = begun

    def end(self, number: int, outcome: Outcome, artifact: AnyArtifact | None, following: Trial | None = None) -> bool:
        """Record the outcome of a trial; return whether the following one began, as it does if not cancelled.

        Raises:
            ValueError: it was not begun or has ended, or the outcome and its kernel contradict each other.
        """
        trial = self._trials.get(number)
        if trial is None or trial.outcome is not None:
            raise ValueError(f"trial {number} {'was not begun' if trial is None else 'has ended already'}")
        check_evidence(outcome, artifact)
        if artifact is not None:
            if artifact.config != trial.config:
                raise ValueError(f"trial {number} is {trial.config}, the artifact given is of {artifact.config}")
            self.artifacts[number] = artifact
        self._trials[number] = replace(trial, outcome=outcome)
        if following is None or self._cancelled:
            return False
        self._add(following)
        return True

    def reuse(self, number: int, outcome: Outcome, source: ReusedFrom, artifact: AnyArtifact | None) -> None:
        """Record that a trial reuses the measurement of an earlier job's.

        Raises:
            ValueError: it was not begun or has ended, or the outcome is not a measurement.
        """
        trial = self._trials.get(number)
        if trial is None or trial.outcome is not None:
            raise ValueError(f"trial {number} {'was not begun' if trial is None else 'has ended already'}")
        check_reused(outcome, artifact)
        self._trials[number] = replace(trial, outcome=outcome, source=source)

    def spent_s(self) -> float:
        """Return the seconds that runs of the job took so far."""
        return self._spent_s

    def spend(self, seconds: float) -> None:
        """Add the duration of a run."""
        self._spent_s += seconds

    def cancelled(self) -> bool:
        """Return whether the job was asked to stop."""
        return self._cancelled

    def cancel(self) -> None:
        """Ask the job to stop."""
        self._cancelled = True
