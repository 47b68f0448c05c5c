"""Best kernel of a job, or of a problem on a device under a driver."""

from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db.queries.results import trials
from db.queries.results.headline import least_first
from db.schema.job import Job
from db.schema.kernel import Kernel
from db.schema.target import Device, Problem
from db.schema.trial import Measurement, Prediction, Trial
from service.dashboard.jobs.reading import find_job
from service.errors import NotFound

MOST_PLACES = 12


def best_of_job(session: Session, text: str) -> str:
    """Return the id of the kernel of a job's best trial.

    Raises:
        NotFound: there is no such job, or its best trial has no kernel.
    """
    job = find_job(session, text)
    kernel_id = None
    if job.best_trial_id is not None:
        kernel_id = session.scalar(select(Trial.kernel_id).where(Trial.id == job.best_trial_id))
    if kernel_id is None:
        raise NotFound(f"Job {text} has no best kernel, so it cannot be compared.")
    return str(kernel_id)


def best_on(session: Session, problem: str, device: str, driver: str | None) -> str:
    """Return the id of the kernel of the best winner for a problem (a key prefix): measured before predicted.

    Raises:
        NotFound: there is none.
    """
    found = _best_on(session, problem, device, driver)
    if found is None:
        under = "" if driver is None else f" under driver {driver}"
        raise NotFound(f"No job has a kernel of problem {problem[:64]} on {device}{under}.")
    return str(found)


def best_everywhere(session: Session, problem: str) -> list[UUID]:
    """Return the ids of the best kernels of a problem by device and driver, latest jobs first; at most twelve."""
    query = select(Device.slug, Device.driver).join(Job, Job.device_id == Device.id).join(Problem)
    places = session.execute(
        query.where(Problem.key == problem)
        .group_by(Device.slug, Device.driver)
        .order_by(func.max(Job.created_at).desc())
    )
    found = (_best_on(session, problem, slug, driver) for slug, driver in places.fetchmany(MOST_PLACES))
    return [kernel_id for kernel_id in found if kernel_id is not None]


def _best_on(session: Session, problem: str, device: str, driver: str | None) -> UUID | None:
    problems = select(Problem.id).where(Problem.key.startswith(problem, autoescape=True))
    query = select(Trial).join(Job, Job.best_trial_id == Trial.id).join(Kernel, Kernel.id == Trial.kernel_id)
    query = query.join(Device, Device.id == Job.device_id)
    query = query.where(Job.problem_id.in_(problems), Device.slug == device)
    if driver is not None:
        query = query.where(Device.driver == driver)
    measured = query.join(Measurement, Measurement.trial_id == Trial.id).order_by(least_first(), Trial.id)
    predicted = query.where(Trial.status == "predicted").join(Prediction, Prediction.trial_id == Trial.id)
    found = session.scalars(measured.limit(1)).first()
    found = found or session.scalars(trials.select_best_predicted(predicted, Trial.id.expression)).first()
    return None if found is None else found.kernel_id
