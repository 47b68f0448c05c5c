"""Lists of jobs as text."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

from rich.table import Column, Table

from service.api.jobs.schemas import JobOut, JobPage, TrialOut, TrialPage
from service.api.jobs.status import JobStatus
from service.cli.access.opening import Access
from service.cli.access.resource import Asked, Resource, checked, stored
from service.cli.printing.evidence import known_lines, shown_best
from service.cli.printing.output import text_table
from service.schemas import to_problem
from service.text.short_ids import short_ids

if TYPE_CHECKING:
    from service.http.context import Context

_PAGE, _TRIALS_A_PAGE = 200, 1000


def _page(context: "Context", asked: Asked, *, roofs: bool = True) -> JobPage:
    from service.api.jobs.listing import JobQuery, list_jobs

    query = checked(JobQuery, asked)
    with context.database.read() as session:
        return list_jobs(session, query.filter(), query.limit, query.before, roofs=roofs)


JOBS = Resource("/v1/jobs", JobPage, _page)
ROWS = Resource("/v1/jobs", JobPage, partial(_page, roofs=False))
"""The same, without rooflines from this machine's database."""


def job_of(job_id: UUID) -> Resource[JobOut]:
    """Return the resource of a job."""
    return stored(f"/v1/jobs/{job_id}", JobOut, "service.api.jobs.service:read_job", job_id)


def each_trial(access: Access, job_id: UUID) -> Iterator[TrialOut]:
    """Yield the trials of a job, in order of number."""

    def page_of(context: "Context", asked: Asked) -> TrialPage:
        from service.api.jobs.listing import TrialQuery, list_trials

        query = checked(TrialQuery, asked)
        with context.database.read() as session:
            return list_trials(session, job_id, query.after, query.limit, query.status)

    trials, after = Resource(f"/v1/jobs/{job_id}/trials", TrialPage, page_of), None
    while True:
        page = access.read(trials, {"after": after, "limit": _TRIALS_A_PAGE})
        yield from page.trials
        if (after := page.next_after) is None:
            return


def newest(
    access: Access, status: Sequence[JobStatus], device: str | None, limit: int, *, roofs: bool = False
) -> JobPage:
    """Return up to `limit` jobs, newest first, with rooflines if they are wanted."""
    found: list[JobOut] = []
    before: UUID | None = None
    while True:
        asked: Asked = {"status": status, "device": device, "before": before, "limit": min(limit - len(found), _PAGE)}
        page = access.read(JOBS if roofs else ROWS, asked)
        found, before = found + page.jobs, page.next_before
        if before is None or len(found) >= limit:
            return JobPage(jobs=found, next_before=before)


def table_of(jobs: list[JobOut]) -> Table:
    """Return jobs as a table."""
    table = text_table(Column("job", no_wrap=True), "problem", Column("status"), Column("best time"), spaced=True)
    short = short_ids(job.id for job in jobs)
    for job in jobs:
        time = None if job.best is None else job.best.evidence.time
        best, basis = shown_best(job)
        stopping = "\nstopping" if job.cancel_requested and not job.status.over else ""
        table.add_row(
            short[job.id],
            f"{to_problem(job.problem)}\n{job.device}\n{job.created_at:%Y-%m-%d %H:%M} UTC",
            f"{job.status.value}{stopping}\n{_extent(job)}",
            "none" if time is None else "\n".join([best, *known_lines(time, basis)]) + _slower(job),
        )
    return table


def _extent(job: JobOut) -> str:
    return "native binary" if job.builds is not None else f"{job.done} of {job.budget.trials}"


def _slower(job: JobOut) -> str:
    return "" if job.stored_best is None else f"\n{job.stored_best.slowdown:.1f} times the stored best"
