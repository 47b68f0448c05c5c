"""Resubmission of a failed or cancelled job: the same request, validated again, as a new job."""

from pydantic import ValidationError
from sqlalchemy.orm import Session

from db.queries import jobs
from db.schema.job import Job
from service.api.jobs.schemas import JobBody
from service.api.jobs.service import describe_options
from service.api.jobs.status import JobStatus
from service.errors import Conflict
from service.schemas import ProblemBody

_RETRIED = (JobStatus.FAILED, JobStatus.CANCELLED)


def asked_by(session: Session, job: Job) -> JobBody:
    """Return the request of a job, to be resubmitted.

    Raises:
        Conflict: rule `retry-status`, `retry-kind` or `retry-version`: it cannot be.
    """
    if JobStatus(job.status) not in _RETRIED:
        message = f"job {job.id} is {job.status}: only failed or cancelled jobs can be retried"
        raise Conflict(message, rule="retry-status")
    if jobs.candidates_of(session, job.id):
        message = f"job {job.id} measured what a file gave it; send the file again (`xetune measure`)"
        raise Conflict(message, rule="retry-kind")
    if jobs.binary_of(session, job.id) is not None:
        message = f"job {job.id} built a native binary; queue it again with `xetune kernels rebuild-binaries`"
        raise Conflict(message, rule="retry-kind")
    try:
        problem = ProblemBody.model_validate(job.problem.definition)
        return JobBody(problem=problem, device=job.device.slug, **dict(describe_options(job)))
    except ValidationError as error:
        message = f"job {job.id} is of another version of this program and cannot be read; create a new job"
        raise Conflict(message, rule="retry-version") from error
