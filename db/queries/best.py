"""Queries for the best trial: the rules of `tuner/session/best.py` in SQL.

Of predicted trials those within 1 % of the least time are a tie, which the least upper bound decides.
"""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Select, func

from db.schema import (
    Prediction,
    Trial,
)

TIE = 1.01


def best_predicted(proven: Select[Trial], last: ColumnElement[int]) -> Select[Trial]:
    """Select the best of `proven`: predicted trials with their predictions joined. `last` breaks the remaining ties."""
    least_us = proven.with_only_columns(func.min(Prediction.time_us)).correlate(None).scalar_subquery()
    return proven.where(Prediction.time_us <= least_us * TIE).order_by(Prediction.high_us, last).limit(1)


def of_predicted(proven: Sequence[Trial]) -> Trial:
    """Return the best of predicted trials that are loaded with their predictions."""
    timed = [(trial.prediction, trial) for trial in proven if trial.prediction is not None]
    least_us = min(prediction.time_us for prediction, _ in timed)
    ties = [(p.high_us, trial.id, trial) for p, trial in timed if p.time_us <= least_us * TIE]
    return min(ties, key=lambda tie: tie[:2])[-1]
