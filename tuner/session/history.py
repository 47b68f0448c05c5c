"""Trials of a job as stored, and values derived from them."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from tuner.session.best import best_of
from tuner.session.trial import (
    Outcome,
    Prediction,
    Proof,
    ProofKind,
    ReusedFrom,
    Status,
    Trial,
    TrialStore,
)

if TYPE_CHECKING:
    from codegen import AnyArtifact, KernelConfig

_PROVEN = Proof(ProofKind.SIMULATOR)


class History:
    """Trials by number: loaded from the store, then kept up to date through `begin` and `end`."""

    def __init__(self, store: TrialStore) -> None:
        self._store = store
        self._trials = {trial.number: trial for trial in store.trials()}
        self.unfinished = [trial for trial in self._trials.values() if trial.outcome is None]
        # The times that runs reported cover all of their trials, except the last one of a run that was killed
        # right after it.
        self.earlier_s = max(store.spent_s(), sum(wall_s(outcome) for _, outcome in self.ended()))
        self.new: list[Outcome] = []
        self._best: tuple[int, Trial | None] | None = None  # with the number of new outcomes when it was found
        self.begun: Trial | None = None  # with the end of the trial before it

    def __len__(self) -> int:
        return len(self._trials)

    @property
    def next_number(self) -> int:
        """Number of the next trial."""
        return max(self._trials, default=-1) + 1

    @property
    def baseline(self) -> Trial | None:
        """Trial 0."""
        return self._trials.get(0)

    @property
    def best(self) -> Trial | None:
        """Best trial that ended; always verified."""
        ended = len(self.new)
        if self._best is None or self._best[0] != ended:
            self._best = ended, best_of(self._trials.values())
        return self._best[1]

    @property
    def best_us(self) -> float | None:
        """Time of the best trial in microseconds."""
        best = self.best
        return best.outcome.time_us if best is not None and best.outcome is not None else None

    def energy_uj(self, config: "KernelConfig") -> float | None:
        """Return the microjoules per launch of a configuration that was tried; None if unknown."""
        tried = next((outcome for trial, outcome in self.ended() if trial.config == config), None)
        return None if tried is None or tried.measurement is None else tried.measurement.energy_uj

    def would_lead(self, number: int, prediction: Prediction) -> bool:
        """Return whether a trial would be the best so far, if it were verified."""
        would = Outcome(Status.PREDICTED, proof=_PROVEN, prediction=prediction)
        best = best_of([*self._trials.values(), Trial(number, self._trials[number].config, would)])
        return best is not None and best.number == number

    def leaders(self, count: int, within: float) -> list[Trial]:
        """Return the best trial, then those of least time, at most `count` in all, each within `within` times
        its time.
        """
        best = self.best
        if best is None or best.outcome is None or best.outcome.time_us is None:
            return []
        most_us = within * best.outcome.time_us
        timed = sorted(
            (time_us, trial.number)
            for trial, outcome in self.ended()
            if (time_us := outcome.time_us) is not None and outcome.proof.kind is not ProofKind.NONE
            if trial.source is None
        )
        others = [number for time_us, number in timed if time_us <= most_us and number != best.number]
        return [best, *(self._trials[number] for number in others[: count - 1])]

    @property
    def proven(self) -> int:
        """Number of trials that have a time and a proof."""
        return sum(o.time_us is not None and o.proof.kind is not ProofKind.NONE for _, o in self.ended())

    def ended(self) -> Iterator[tuple[Trial, Outcome]]:
        """Yield the trials that have an outcome, in order of number."""
        for _, trial in sorted(self._trials.items()):
            if trial.outcome is not None:
                yield trial, trial.outcome

    def begin(self, number: int, config: "KernelConfig", proposer: str | None = None) -> None:
        """Record that a trial begins, and its proposer."""
        self._store.begin(number, config, proposer)
        self._trials[number] = Trial(number, config, proposer=proposer)

    def end(
        self,
        number: int,
        outcome: Outcome,
        artifact: "AnyArtifact | None",
        following: Callable[[], Trial | None] = lambda: None,
    ) -> Trial:
        """Record the outcome of a trial, and the begin of the one that then follows, if any, in the same transaction.

        A store that fails ends the run: its trials are then those of the store alone.
        """
        ended = self._trials[number] = replace(self._trials[number], outcome=outcome)
        self.new.append(outcome)
        begins = following()
        self.begun = begins if self._store.end(number, outcome, artifact, begins) else None
        if self.begun is not None:
            self._trials[self.begun.number] = self.begun
        return ended

    def reuse(self, number: int, outcome: Outcome, source: ReusedFrom, artifact: "AnyArtifact | None") -> Trial:
        """Record that a trial reuses the measurement of an earlier job's."""
        self._store.reuse(number, outcome, source, artifact)
        self._trials[number] = replace(self._trials[number], outcome=outcome, source=source)
        self.new.append(outcome)
        return self._trials[number]

    def by_status(self) -> dict[Status, int]:
        """Return the number of ended trials by status."""
        return dict(Counter(outcome.status for _, outcome in self.ended()))

    def last_reason(self) -> str | None:
        """Return why the last trial without a time has none."""
        return next((o.reason for _, o in reversed(list(self.ended())) if o.reason is not None), None)


def wall_s(outcome: Outcome) -> float:
    """Return the wall time of a trial in seconds."""
    return outcome.compile_s + outcome.verify_s + outcome.measure_s
