"""Headline time of a measured trial: re-measured against the default where that was done, else its single run.

The expressions expect `Trial`, its `Job` and its `Measurement` in the query.
"""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, case, func, select, tuple_
from sqlalchemy.orm import Session

from db.schema.job import Job
from db.schema.kernel import Kernel
from db.schema.target import Device
from db.schema.trial import Measurement, Trial

NEAR = 1.15
"""A single run is biased to the fast side: it comes before a re-measured time only if faster by more than this.

Within this factor of the least single run a job measures its finalists again.
"""


def interleaved_us() -> ColumnElement[float | None]:
    """Return the re-measured time of the winner of a job or of its default; NULL without one."""
    return case(
        (Job.best_trial_id == Trial.id, Job.compared_best_us), (Trial.number == 0, Job.compared_default_us), else_=None
    )


def headline_us() -> ColumnElement[float | None]:
    """Return the headline time."""
    return func.coalesce(interleaved_us(), Measurement.median_us)


def least_first() -> ColumnElement[float | None]:
    """Return what orders measured trials by headline time, the best first."""
    return func.coalesce(interleaved_us(), Measurement.median_us * NEAR)


class Stored(NamedTuple):
    """The best stored result of a problem on a device: the winner of a job with the least headline time, in us."""

    job_id: UUID
    kernel_id: UUID
    label: str
    time_us: float
    interleaved: bool


def best_stored(session: Session, pairs: Collection[tuple[int, str]]) -> dict[tuple[int, str, str], Stored]:
    """Return the best stored results of pairs of problem and device (a slug), by these and the label of measurement.

    Withdrawn kernels are left out.
    """
    order = least_first(), Trial.id
    place = func.row_number().over(partition_by=(Job.problem_id, Device.slug, Measurement.label), order_by=order)
    known = interleaved_us().is_not(None)
    columns = Job.problem_id, Device.slug, Job.id, Trial.kernel_id, Measurement.label, headline_us(), known
    query = select(*columns, place).select_from(Job).join(Device, Device.id == Job.device_id)
    query = query.join(Trial, Trial.id == Job.best_trial_id).join(Measurement, Measurement.trial_id == Trial.id)
    query = query.join(Kernel, Kernel.id == Trial.kernel_id).where(Kernel.withdrawn.is_(None))
    query = query.where(tuple_(Job.problem_id, Device.slug).in_(pairs))
    rows: Sequence[Any] = session.execute(query).all() if pairs else []
    return {(problem, slug, row[2]): Stored(*row) for problem, slug, *row, rank in rows if rank == 1}


def again_us(trial: Trial) -> float | None:
    """Return the same as `interleaved_us` for a trial that is loaded with its job."""
    if trial.job.best_trial_id == trial.id:
        return trial.job.compared_best_us
    return trial.job.compared_default_us if trial.number == 0 else None


def order_us(time_us: float, *, interleaved: bool) -> float:
    """Return the same as `least_first` for one headline time."""
    return time_us if interleaved else time_us * NEAR
