"""Queries on the toolchain, driver and model behind results, to find stale ones."""

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import String, cast, func, select
from sqlalchemy.orm import Session

from db.schema.job import Job
from db.schema.kernel import Kernel
from db.schema.target import Device, Problem
from db.schema.trial import Measurement, Prediction, Trial

_ASKED = 500


class MadeWith(NamedTuple):
    """Provenance of a timed result of a problem on a device; `toolchain` is JSON.

    `driver` is None for a time that was not measured, `model` for one that was not predicted.
    """

    problem_id: int
    device: str
    toolchain: str
    driver: str | None
    model: str | None


def made_with(session: Session, devices: Collection[str] | None) -> list[MadeWith]:
    """Return the distinct provenances of results of each problem and device; `devices` are slugs, None all."""
    query = (
        select(
            Kernel.problem_id,
            Device.slug,
            cast(Kernel.toolchain, String),
            Measurement.driver,
            Prediction.model_version,
        )
        .join(Device, Device.id == Kernel.device_id)
        .join(Trial, Trial.kernel_id == Kernel.id)
        .outerjoin(Measurement, Measurement.trial_id == Trial.id)
        .outerjoin(Prediction, Prediction.trial_id == Trial.id)
        .where(Trial.status.in_(("measured", "predicted")))
    )
    if devices is not None:
        query = query.where(Device.slug.in_(devices))
    return [MadeWith(*row) for row in session.execute(query.distinct())]


def last_asked(session: Session, problem_ids: Iterable[int]) -> dict[tuple[int, str], datetime]:
    """Return when the latest job for each of these problems was created, by problem and slug of its device."""
    asked: dict[tuple[int, str], datetime] = {}
    ids = sorted(set(problem_ids))
    for begin in range(0, len(ids), _ASKED):
        query = select(Job.problem_id, Device.slug, func.max(Job.created_at)).join(Device, Device.id == Job.device_id)
        chosen = query.where(Job.problem_id.in_(ids[begin : begin + _ASKED]))
        for problem_id, slug, at in session.execute(chosen.group_by(Job.problem_id, Device.slug)):
            asked[problem_id, slug] = at
    return asked


def problems_of(session: Session, problem_ids: Collection[int]) -> dict[int, Problem]:
    """Return these problems by id."""
    return {row.id: row for row in session.scalars(select(Problem).where(Problem.id.in_(problem_ids)))}
