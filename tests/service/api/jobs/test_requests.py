"""Equal requests that come at the same moment share one job, on either database."""

import threading
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

from codegen import GemmProblem
from db.queries import jobs
from db.queries.cluster import leases
from db.session import Database
from hal.facts.xe import XE_DEVICES
from service.api.jobs.requests import (
    request_hash,
    submit,
)
from service.api.keys.caller import COMMAND_LINE
from tests.service.rest import jobs_of
from tuner.session.budget import Budget
from tuner.session.job_spec import JobSpec

REQUEST = JobSpec(problem=GemmProblem(96, 64, 128), device=XE_DEVICES[0].spec, budget=Budget(20, 60.0), seed=7)
AT_ONCE = 8


def test_requests_at_the_same_moment_make_one_job(database: Database) -> None:
    start = threading.Barrier(AT_ONCE)

    def post(_number: int) -> tuple[UUID, bool]:
        with database.read():  # connected before the start
            start.wait(30)
        with database.write() as session:
            job, is_new = submit(session, REQUEST, 1000, COMMAND_LINE)
            return job.id, is_new

    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = list(pool.map(post, range(AT_ONCE)))
    assert len(jobs_of(database)) == 1
    assert len({job_id for job_id, _ in answers}) == 1
    assert [is_new for _, is_new in answers].count(True) == 1


def test_a_request_is_queued_again_once_the_first_is_asked_to_stop(database: Database) -> None:
    with database.write() as session:
        first, _ = submit(session, REQUEST, 1000, COMMAND_LINE)
        leases.claim(session, first.id, "w", 60.0)
        leases.request_cancel(session, first.id)
        second, is_new = submit(session, REQUEST, 1000, COMMAND_LINE)
        assert is_new
        assert second.id != first.id
        assert jobs.active_identical(session, request_hash(REQUEST)) is second
