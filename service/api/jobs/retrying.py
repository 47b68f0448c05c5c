"""A job that failed or was cancelled, asked for again: the same request, checked anew, as a job of its own."""

from pydantic import ValidationError
from sqlalchemy.orm import Session

from db.queries import candidates
from db.schema import Job
from service.api.jobs.schemas import (
    BudgetBody,
    JobBody,
    JobStatus,
)
from service.errors import Conflict
from service.row_mapping import objective_of
from service.schemas import ProblemBody
from tuner.search.method import Method

_RETRIED = (JobStatus.FAILED, JobStatus.CANCELLED)


def asked_by(session: Session, job: Job) -> JobBody:
    """What a job was asked for, to be asked again.

    Raises:
        Conflict: rule `retry-status`, `retry-kind` or `retry-version`: it cannot be.
    """
    if JobStatus(job.status) not in _RETRIED:
        message = f"job {job.id} is {job.status}: only one that failed or was cancelled is asked for again"
        raise Conflict(message, rule="retry-status")
    if candidates.of_job(session, job.id):
        message = f"job {job.id} measured what a file gave it; send the file again (`xetune measure`)"
        raise Conflict(message, rule="retry-kind")
    start, search = job.start, job.search
    try:
        return JobBody(
            problem=ProblemBody.model_validate(job.problem.definition),
            device=job.device.slug,
            budget=BudgetBody(
                trials=job.budget_trials,
                seconds=job.budget_seconds,
                no_gain=None if search is None else search.no_gain,
                roofline=None if search is None else search.roofline,
            ),
            seed=job.seed,
            reuse=start is None or not start.again,
            warm_start=start is None or not start.cold,
            search=Method.PORTFOLIO if search is None else Method(search.method),
            objective=objective_of(search),
        )
    except ValidationError as error:
        message = f"job {job.id} is of another version of this program, which said it otherwise; make a new one"
        raise Conflict(message, rule="retry-version") from error
