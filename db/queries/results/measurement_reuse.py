"""Queries on measurements that can be reused."""

from collections.abc import Collection
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session, contains_eager

from db.queries.results.kernels import parts
from db.schema.job import Job
from db.schema.kernel import Kernel
from db.schema.result_key import ResultKey
from db.schema.target import Device, Problem
from db.schema.trial import Measurement, Trial


def measured(session: Session, problem_key: str, device: str, driver: str) -> list[tuple[Trial, ResultKey]]:
    """Return trials measured in their own job, for a problem on a device (a slug) under a driver: with kernel,
    measurement and its key, the newest last.
    """
    query = (
        select(Trial, ResultKey)
        .join(Trial.measurement)
        .join(ResultKey, ResultKey.trial_id == Trial.id)
        .where(~Trial.reused.has())
    )
    query = query.join(Trial.kernel).join(Trial.job).join(Job.problem).join(Job.device)
    query = query.where(Problem.key == problem_key, Device.slug == device, Measurement.driver == driver)
    query = query.where(Kernel.withdrawn.is_(None))
    query = query.options(contains_eager(Trial.kernel), contains_eager(Trial.measurement))
    return [(trial, key) for trial, key in session.execute(query.order_by(Measurement.measured_at, Trial.id))]


def default_of(session: Session, job_id: UUID) -> tuple[str, float] | None:
    """Return the run hash of trial 0 of a job and its median in us; None while it is not measured."""
    query = select(ResultKey.run, Measurement.median_us).join(Measurement, Measurement.trial_id == ResultKey.trial_id)
    query = query.join(Trial, Trial.id == ResultKey.trial_id).where(Trial.job_id == job_id, Trial.number == 0)
    found = session.execute(query).first()
    return None if found is None else (found[0], found[1])


def keys_of_kernels(session: Session, kernel_ids: Collection[UUID]) -> dict[UUID, ResultKey]:
    """Return the key of the first measured time of each kernel; those without a key are left out."""
    query = select(Trial.kernel_id, ResultKey).join(Trial, Trial.id == ResultKey.trial_id)
    query = query.order_by(ResultKey.trial_id.desc())  # the last entry in the dictionary wins
    found: dict[UUID, ResultKey] = {}
    for some in parts(sorted(kernel_ids)):
        rows = session.execute(query.where(Trial.kernel_id.in_(some)))
        found.update({kernel_id: key for kernel_id, key in rows if kernel_id is not None})
    return found
