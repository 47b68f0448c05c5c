"""Accuracy of predictions for a device, from all trials with a prediction and a measurement."""

from collections.abc import Iterable

from sqlalchemy.orm import Session

from db.queries.results import predictions
from db.queries.results.predictions import Judged
from service.api.accuracy.schemas import (
    AccuracyList,
    AccuracyOut,
)


def accuracy_of(session: Session, device: str) -> AccuracyList:
    """Return the accuracy of predictions for a device (its id), by model version."""
    judged = predictions.judged(session, device)
    return AccuracyList(
        device=device,
        models=[
            summary(model, [j.ratio for j in of], sum(j.inside for j in of))
            for model, of in sorted(by_model(judged).items())
        ],
    )


def by_model(judged: Iterable[Judged]) -> dict[str, list[Judged]]:
    """Group judged predictions by model version."""
    found: dict[str, list[Judged]] = {}
    for one in judged:
        found.setdefault(one.model_version, []).append(one)
    return found


def summary(model: str, ratios: Iterable[float], inside: int) -> AccuracyOut:
    """Summarize the `ratios` of a model (at least one); `inside` is the number inside their intervals."""
    ordered = sorted(ratios)
    # Two sorted runs, which sorting then only merges.
    factors = sorted(
        [1 / ratio for ratio in reversed(ordered) if ratio < 1] + [ratio for ratio in ordered if ratio >= 1]
    )
    return AccuracyOut(
        model=model,
        measured=len(ordered),
        off_by=_middle(factors),
        median_ratio=_middle(ordered),
        least_ratio=ordered[0],
        most_ratio=ordered[-1],
        inside=inside,
    )


def _middle(ordered: list[float]) -> float:
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
