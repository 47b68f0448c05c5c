"""The accuracy of predictions for a device, from all trials that judge them."""

from statistics import median

from sqlalchemy.orm import Session

from db import predictions
from db.predictions import Judged
from service.accuracy.schemas import AccuracyList, AccuracyOut


def accuracy_of(session: Session, device: str) -> AccuracyList:
    """How far predictions for a device (its id) were off, by version of the model."""
    by_model: dict[str, list[Judged]] = {}
    for judged in predictions.judged(session, device):
        by_model.setdefault(judged.model_version, []).append(judged)
    return AccuracyList(device=device, models=[_accuracy(model, of) for model, of in sorted(by_model.items())])


def _accuracy(model: str, judged: list[Judged]) -> AccuracyOut:
    ratios = [j.ratio for j in judged]
    return AccuracyOut(
        model=model,
        measured=len(judged),
        off_by=median(max(ratio, 1 / ratio) for ratio in ratios),
        median_ratio=median(ratios),
        least_ratio=min(ratios),
        most_ratio=max(ratios),
        inside=sum(j.inside for j in judged),
    )
