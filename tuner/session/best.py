"""Which trial of a job is the best. `db/queries/best.py` says the same in SQL; one table of cases tests both.

Of measured trials the one of least median, then of lowest number. Without any, of the predicted ones: those within 1 %
of the least predicted time are a tie, which the least upper bound decides, then the lowest number. A trial whose
numbers are not proven is never the best, nor one that was not measured in this job: its time is of another day.
"""

from collections.abc import Iterable

from tuner.session.trial import (
    ProofKind,
    Trial,
)

TIE = 1.01
"""Times of a model that differ by less than this factor say nothing of which kernel is faster."""


def best_of(trials: Iterable[Trial]) -> Trial | None:
    """The best of trials; None when none has a time and a proof."""
    measured: list[tuple[float, int, Trial]] = []
    predicted: list[tuple[float, float, int, Trial]] = []
    for trial in trials:
        outcome = trial.outcome
        if outcome is None or outcome.proof.kind is ProofKind.NONE or trial.source is not None:
            continue
        if outcome.measurement is not None:
            measured.append((outcome.measurement.median_us, trial.number, trial))
        elif (p := outcome.prediction) is not None:
            predicted.append((p.time_us, p.high_us, trial.number, trial))
    if measured:
        return min(measured, key=lambda entry: entry[:2])[-1]
    if not predicted:
        return None
    least_us = min(predicted, key=lambda entry: entry[0])[0]
    tied = (entry for entry in predicted if entry[0] <= least_us * TIE)
    return min(tied, key=lambda entry: entry[1:3])[-1]
