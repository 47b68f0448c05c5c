"""Selection of the best trial of a job, as `db/queries/results/trials.py` does in SQL; one table of cases tests both.

Among measured trials, the least median wins, then the lowest number. Without any, predicted trials within the
resolution of the least predicted time are a tie. The default wins a tie; else, of those that gain more than the
resolution over it, the least burden decides (occupancy, prefetch, messages: `tuner/model/xe/burden.py`), then the least
upper bound, then the lowest number. Trials whose
results are not verified, and trials that were not measured in this job, are never the best.
"""

import math
from collections.abc import Iterable

from tuner.model.resolution import RESOLUTION
from tuner.session.trial import (
    ProofKind,
    Trial,
)


def best_of(trials: Iterable[Trial]) -> Trial | None:
    """Return the best of trials; None when none has a time and a proof."""
    measured: list[tuple[float, int, Trial]] = []
    predicted: list[tuple[float, tuple[bool, float, float, int], Trial]] = []
    for trial in trials:
        outcome = trial.outcome
        if outcome is None or outcome.proof.kind is ProofKind.NONE or trial.source is not None:
            continue
        if outcome.measurement is not None:
            measured.append((outcome.measurement.median_us, trial.number, trial))
        elif (p := outcome.prediction) is not None:
            predicted.append((p.time_us, (trial.number != 0, p.burden, p.high_us, trial.number), trial))
    if measured:
        return min(measured, key=lambda entry: entry[:2])[-1]
    if not predicted:
        return None
    least_us = min(predicted, key=lambda entry: entry[0])[0]
    tied = [entry for entry in predicted if entry[0] <= least_us * RESOLUTION]
    default_us = min((entry[0] for entry in predicted if entry[-1].number == 0), default=math.inf)
    gaining = (entry for entry in tied if entry[-1].number == 0 or entry[0] * RESOLUTION <= default_us)
    return min(gaining, key=lambda entry: entry[1])[-1]
