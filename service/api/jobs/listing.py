"""Jobs and trials in pages, filtered."""

from collections.abc import Sequence
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy.orm import Session

from db.queries import jobs
from db.queries.jobs import JobFilter
from db.queries.results import trials
from service.api.jobs.schemas import JobKind, JobPage, TrialPage, TrialStatus
from service.api.jobs.service import (
    describe_all,
    describe_trial,
    find_job,
)
from service.api.jobs.status import JobStatus
from service.http.list_query import ListQuery
from service.moments import Moment


class JobQuery(ListQuery):
    """Filters of a list of jobs; all must match."""

    status: list[JobStatus] = Field(
        default_factory=list[JobStatus],
        description="Only jobs with one of these statuses",
        examples=[["queued", "running"]],
    )
    kind: list[JobKind] = Field(
        default_factory=list[JobKind], description="Only jobs of one of these kinds", examples=[["search"]]
    )
    created_from: Moment | None = Field(
        default=None, description="Only jobs created then or later", examples=["2026-01-02T00:00:00Z"]
    )
    created_before: Moment | None = Field(
        default=None, description="Only jobs created before that", examples=["2026-01-03T00:00:00Z"]
    )

    def filter(self) -> JobFilter:
        """Return the filters without the page."""
        asked = self.model_dump(exclude={"status", "kind", "before", "limit"})
        return JobFilter(tuple(self.status), tuple(self.kind), **asked)


class TrialQuery(BaseModel):
    """Filters of a list of trials."""

    model_config = ConfigDict(extra="forbid")

    status: list[TrialStatus] = Field(
        default_factory=list[TrialStatus],
        description="Only trials with one of these outcomes",
        examples=[["measured", "predicted"]],
    )
    after: int = Field(default=-1, ge=-1, le=2**31 - 1, description="Only trials numbered above this", examples=[99])
    limit: int = Field(
        default=100, ge=1, le=1000, description="Maximum number of trials in the response", examples=[100]
    )


def list_jobs(
    session: Session, wanted: JobFilter, limit: int, before: UUID | None = None, *, roofs: bool = True
) -> JobPage:
    """Return the newest matching jobs older than `before`, with rooflines or without."""
    rows = jobs.list_page(session, limit=limit + 1, before=before, wanted=wanted)
    page = rows[:limit]
    return JobPage(
        jobs=describe_all(session, page, roofs=roofs), next_before=page[-1].id if len(rows) > limit else None
    )


def list_trials(
    session: Session, job_id: UUID, after: int, limit: int, statuses: Sequence[TrialStatus] = ()
) -> TrialPage:
    """Return the trials of a job numbered above `after`, filtered by status.

    Raises:
        NotFound: there is no such job.
    """
    job = find_job(session, job_id)
    rows = trials.list_page(session, job_id, after=after, limit=limit + 1, statuses=statuses, kernels=False)
    page = rows[:limit]
    return TrialPage(
        trials=[describe_trial(row, job.problem) for row in page],
        next_after=page[-1].number if len(rows) > limit else None,
    )
