"""One worker at a time has a job; a job whose worker died is taken over."""

from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from threading import Event
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text

from db.errors import LeaseLost
from db.queries import jobs, shape_sets
from db.queries.cluster import leases
from db.schema.job import Job
from db.session import Database, open_database
from tests.db import rows
from tests.db.rows import NOON, digest

LEASE_S = 60.0
LATER = NOON + timedelta(seconds=LEASE_S + 1)


def add_jobs(database: Database, count: int, slug: str = "b60") -> list[UUID]:
    """Queue jobs; the oldest first."""
    with database.write() as session:
        return sorted(rows.add_job(session, slug, m=16 * (i + 1)).id for i in range(count))


def claim(database: Database, worker: str, now: datetime = NOON, devices: Collection[str] | None = None) -> Job | None:
    """Claim the next job in a transaction of its own."""
    with database.write() as session:
        return leases.claim_next(session, worker, LEASE_S, devices=devices, now=now)


def read(database: Database, job_id: UUID) -> Job:
    """The job as the database has it."""
    with database.read() as session:
        job = jobs.get(session, job_id)
    assert job is not None
    return job


def test_the_oldest_queued_job_is_claimed_first(database: Database) -> None:
    ids = add_jobs(database, 2)
    claimed = [claim(database, worker) for worker in ("w1", "w2", "w3")]
    assert [job.id if job else None for job in claimed] == [*ids, None]
    job = claimed[0]
    assert job is not None
    assert (job.status, job.worker, job.attempts, job.started_at) == ("running", "w1", 1, NOON)
    assert job.lease_until == NOON + timedelta(seconds=LEASE_S)
    assert (job.problem.m, job.device.slug) == (16, "b60")


def test_concurrent_claims_never_get_the_same_job(database: Database) -> None:
    ids = add_jobs(database, 12)

    def take(worker: int) -> list[UUID]:
        taken: list[UUID] = []
        while (job := claim(database, f"w{worker}")) is not None:
            taken.append(job.id)
        return taken

    with ThreadPoolExecutor(4) as pool:
        taken = [job_id for ids_of_one in pool.map(take, range(4)) for job_id in ids_of_one]
    assert sorted(taken) == ids


def test_only_jobs_of_the_named_devices_are_claimed(database: Database) -> None:
    add_jobs(database, 1, "b60")
    (of_b580,) = add_jobs(database, 1, "b580")
    assert claim(database, "w", devices=[]) is None
    job = claim(database, "w", devices=["a770", "b580"])
    assert job is not None
    assert job.id == of_b580


def test_jobs_of_a_set_are_left_to_it_until_it_is_over(database: Database) -> None:
    (job_id,) = add_jobs(database, 1)
    with database.write() as session:
        device_id = session.get_one(Job, job_id).device_id
        made = shape_sets.create(
            session,
            source="a list",
            device_id=device_id,
            within=0.1,
            request_hash=digest("set"),
            budget_trials=9,
            budget_seconds=60.0,
        )
        shape_sets.add_member(session, made.id, 0, job_id, 1.0, "a layer")
        set_id = made.id
    assert claim(database, "w1") is None
    with database.write() as session:
        assert shape_sets.finish(session, set_id, "succeeded")
    job = claim(database, "w1")
    assert job is not None
    assert job.id == job_id


def test_job_is_taken_over_only_when_its_lease_ran_out(database: Database) -> None:
    (job_id,) = add_jobs(database, 1)
    claim(database, "dead")
    assert claim(database, "next", now=NOON + timedelta(seconds=LEASE_S - 1)) is None
    job = claim(database, "next", now=LATER)
    assert job is not None
    assert (job.id, job.worker, job.attempts, job.started_at) == (job_id, "next", 2, NOON)


def test_worker_whose_clock_jumped_does_not_take_its_own_job_again(database: Database) -> None:
    (job_id,) = add_jobs(database, 1)
    assert claim(database, "w1") is not None
    assert claim(database, "w1", LATER) is None
    assert read(database, job_id).attempts == 1
    assert claim(database, "w2", LATER) is not None


def test_extended_lease_keeps_others_away(database: Database) -> None:
    (job_id,) = add_jobs(database, 1)
    claim(database, "w")
    with database.write() as session:
        assert leases.extend(session, job_id, "w", LEASE_S, now=NOON + timedelta(seconds=30)) is False
    assert claim(database, "next", now=LATER) is None


def test_worker_that_lost_its_job_is_told_by_every_call(database: Database) -> None:
    (job_id,) = add_jobs(database, 1)
    claim(database, "dead")
    claim(database, "next", now=LATER)
    for call in (
        lambda s: leases.extend(s, job_id, "dead", LEASE_S),
        lambda s: leases.release(s, job_id, "dead"),
        lambda s: leases.finish(s, job_id, "dead", "succeeded"),
        lambda s: leases.check_own(s, job_id, "dead"),
    ):
        with pytest.raises(LeaseLost, match="dead"), database.write() as session:
            call(session)
    with database.write() as session:
        leases.check_own(session, job_id, "next")
    assert read(database, job_id).worker == "next"


def test_named_job_is_claimed_out_of_turn_and_once(database: Database) -> None:
    _, second = add_jobs(database, 2)
    with database.write() as session:
        job = leases.claim(session, second, "cli", LEASE_S)
        assert job is not None
        assert job.id == second
        assert leases.claim(session, second, "other", LEASE_S) is None


def test_released_job_is_queued_and_resumed(database: Database) -> None:
    (job_id,) = add_jobs(database, 1)
    claim(database, "w")
    with database.write() as session:
        leases.release(session, job_id, "w")
    assert (read(database, job_id).status, read(database, job_id).worker) == ("queued", None)
    job = claim(database, "next", now=LATER)
    assert job is not None
    assert (job.attempts, job.started_at) == (2, NOON)


def test_restarted_worker_puts_back_what_it_held_and_nothing_else(database: Database) -> None:
    first, second = add_jobs(database, 2)
    claim(database, "killed")
    claim(database, "alive")
    with database.write() as session:
        assert leases.release_all(session, "killed") == 1
    assert [read(database, job_id).status for job_id in (first, second)] == ["queued", "running"]


@pytest.mark.parametrize(
    ("status", "error"), [("succeeded", None), ("failed", "no-device: it is gone"), ("cancelled", None)]
)
def test_job_ends_once(database: Database, status: str, error: str | None) -> None:
    (job_id,) = add_jobs(database, 1)
    claim(database, "w")
    with database.write() as session:
        leases.finish(session, job_id, "w", status, error, now=LATER)
    job = read(database, job_id)
    assert (job.status, job.error, job.finished_at, job.worker) == (status, error, LATER, None)
    assert job.cancel_requested is (status == "cancelled")
    assert claim(database, "next", now=LATER) is None
    with pytest.raises(LeaseLost), database.write() as session:
        leases.finish(session, job_id, "w", "succeeded")


def test_cancelling_a_queued_job_ends_it(database: Database) -> None:
    (job_id,) = add_jobs(database, 1)
    with database.write() as session:
        job = leases.request_cancel(session, job_id, now=NOON)
    assert job is not None
    assert (job.status, job.finished_at, job.started_at) == ("cancelled", NOON, None)
    assert claim(database, "w") is None


def test_cancelling_a_running_job_tells_its_worker(database: Database) -> None:
    (job_id,) = add_jobs(database, 1)
    claim(database, "w")
    with database.write() as session:
        job = leases.request_cancel(session, job_id)
        assert job is not None
        assert (job.status, job.cancel_requested) == ("running", True)
        assert jobs.is_cancel_requested(session, job_id)
        assert leases.extend(session, job_id, "w", LEASE_S) is True


def test_cancelling_a_job_that_is_over_changes_nothing(database: Database) -> None:
    (job_id,) = add_jobs(database, 1)
    claim(database, "w")
    with database.write() as session:
        leases.finish(session, job_id, "w", "succeeded")
        job = leases.request_cancel(session, job_id)
        assert job is not None
        assert (job.status, job.cancel_requested) == ("succeeded", False)
        assert leases.request_cancel(session, uuid4()) is None


def test_released_job_that_was_asked_to_stop_is_cancelled(database: Database) -> None:
    by_itself, by_others = add_jobs(database, 2)
    for job_id in (by_itself, by_others):
        with database.write() as session:
            leases.claim(session, job_id, "w", LEASE_S, now=NOON)
            leases.request_cancel(session, job_id)
    with database.write() as session:
        leases.release(session, by_itself, "w")
        assert leases.release_all(session, "w") == 1
    for job_id in (by_itself, by_others):
        job = read(database, job_id)
        assert (job.status, job.worker, job.finished_at is None) == ("cancelled", None, False)
    assert claim(database, "next") is None


@pytest.mark.postgres
def test_cancel_is_not_lost_when_the_job_is_released_at_the_same_moment(postgres_url: str) -> None:
    database = open_database(postgres_url)
    (job_id,) = add_jobs(database, 1)
    claim(database, "w")

    def cancel() -> None:
        with database.write() as session:
            leases.request_cancel(session, job_id)

    with ThreadPoolExecutor(1) as pool:
        with database.write() as session:
            leases.release(session, job_id, "w")
            cancelling = pool.submit(cancel)
            wait_for_waiter(database)
        cancelling.result(30)
    assert read(database, job_id).status == "cancelled"
    database.close()


def wait_for_waiter(database: Database) -> None:
    """Return when a session of the database waits for a row that another holds."""
    waiting = text("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = :name")
    for _ in range(500):
        with database.read() as session:
            if session.scalar(waiting, {"name": database.engine.url.database}):
                return
        Event().wait(0.01)
    pytest.fail("nobody waits")
