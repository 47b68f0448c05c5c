"""Selection of the best trial of a job. `db/queries/trials.py` does the same in SQL; one table of cases tests both.

Among measured trials, the least median wins, then the lowest number. Without any, predicted trials within 1 %
of the least predicted time are a tie, broken by the least upper bound, then by the lowest number. Trials
whose results are not verified, and trials that were not measured in this job, are never the best.
"""

from collections.abc import Iterable

from tuner.session.trial import (
    ProofKind,
    Trial,
)

TIE = 1.01
"""Factor within which predicted times do not tell which kernel is faster."""


def best_of(trials: Iterable[Trial]) -> Trial | None:
    """Return the best of trials; None when none has a time and a proof."""
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
