"""Cache of prediction accuracy in memory; a change rereads only the problems that changed."""

import threading
from array import array
from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import chain

from sqlalchemy.orm import Session

from db.queries.change_feed import News
from db.queries.results import predictions
from db.queries.results.predictions import Judged
from db.session import Database
from service.api.accuracy.schemas import AccuracyList
from service.api.accuracy.service import (
    by_model,
    summary,
)
from service.cache_invalidation import CacheInvalidation

_MOST_PROBLEMS = 500  # per query; if more changed, all are read


@dataclass(frozen=True, slots=True)
class _Ratios:
    """Measured over predicted times of one model for one problem, and how many were inside their intervals."""

    ratios: "array[float]"
    inside: int


@dataclass(slots=True)
class _Device:
    """Ratios known for a device, by problem key and model version. `changed` are the problems to reread;
    None: all.
    """

    found: dict[str, dict[str, _Ratios]] = field(default_factory=dict[str, dict[str, _Ratios]])
    changed: set[str] | None = None
    told: AccuracyList | None = None


class Accuracies:
    """Accuracy of predictions by device. Thread-safe."""

    def __init__(self, database: Database, freshness: CacheInvalidation) -> None:
        self._database, self._freshness = database, freshness
        self._reading, self._lock = threading.Lock(), threading.Lock()  # nobody reads while it holds the second
        self._devices: dict[str, _Device] = {}

    def on_news(self, news: News) -> None:
        """Mark what has to be reread."""
        with self._lock:
            for slug in news.devices:
                device = self._devices.get(slug)
                if device is not None and device.changed is not None:
                    device.changed |= news.results[slug]

    def of(self, slug: str) -> AccuracyList:
        """Return the accuracy of predictions for a device (its id), by model version.

        Raises:
            DatabaseError: it cannot be read.
        """
        self._freshness.refresh()
        with self._reading:
            with self._lock:
                device = self._devices.setdefault(slug, _Device())
                changed, device.changed = device.changed, set[str]()
            if device.told is None or changed is None or changed:
                try:
                    with self._database.read() as session:
                        _read(session, slug, device, changed)
                except BaseException:
                    with self._lock:  # nothing is known for sure
                        device.changed = None
                    raise
                device.told = _told(slug, device)
            return device.told


def _read(session: Session, slug: str, device: _Device, changed: Collection[str] | None) -> None:
    if changed is None or len(changed) > _MOST_PROBLEMS:
        rows = predictions.judged(session, slug)
        device.found.clear()
    else:
        rows = predictions.judged(session, slug, changed)
        for key in changed:
            device.found.pop(key, None)
    by_problem: dict[str, list[Judged]] = {}
    for row in rows:
        by_problem.setdefault(row.problem_key, []).append(row)
    for key, of in by_problem.items():
        device.found[key] = {
            model: _Ratios(array("d", (row.ratio for row in each)), sum(row.inside for row in each))
            for model, each in by_model(of).items()
        }


def _told(slug: str, device: _Device) -> AccuracyList:
    models: dict[str, list[_Ratios]] = {}
    for of in device.found.values():
        for model, ratios in of.items():
            models.setdefault(model, []).append(ratios)
    told = [
        summary(model, chain.from_iterable(each.ratios for each in of), sum(each.inside for each in of))
        for model, of in sorted(models.items())
    ]
    return AccuracyList(device=slug, models=told)
