"""The statement of a trial that writes first checks the job's lease and the coordinator's fence, and locks both."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from threading import Event
from uuid import UUID

import pytest
from sqlalchemy import Connection

from db.errors import FenceLost, LeaseLost
from db.queries import jobs
from db.queries.batch import batch
from db.queries.cluster import coordinators, leases, own_job
from db.queries.cluster.coordinators import Fence
from db.queries.cluster.own_job import Owner, Standing
from db.schema.cluster import Coordinator
from db.schema.job import Job
from db.session import Database
from tests.db import rows
from tests.db.rows import NOON, digest

LEASE_S = 15.0
LATER = NOON + timedelta(seconds=LEASE_S + 1)
Write = Callable[[Connection, Owner], object]


def begin(connection: Connection, owner: Owner, number: int = 0) -> int | None:
    """Begin a trial."""
    key = digest(f"config {number}")
    with batch(connection) as single:
        asked = own_job.begin_trial(single, owner, number=number, config={}, config_hash=key, proposer="gp")
    return own_job.begun(connection, owner, asked)


def spend(connection: Connection, owner: Owner) -> Standing:
    """Add wall time."""
    return own_job.spend(connection, owner, {"total_s": 2.5, "device_restarts": 1})


WRITES: tuple[Write, ...] = (begin, spend, own_job.check)


@pytest.fixture
def owner(database: Database) -> Owner:
    """The coordinator a, which has claimed a job."""
    with database.write() as session:
        job_id = rows.add_job(session).id
        fence = coordinators.acquire(session, "cluster", "a", LEASE_S, now=NOON)
        assert fence is not None
        leases.claim(session, job_id, "a", LEASE_S, now=NOON)
    return Owner(job_id, "a", fence)


def seconds(database: Database, job_id: UUID) -> float:
    """Wall time of a job."""
    with database.read() as session:
        return jobs.wall_time_s(session, job_id)


@pytest.mark.parametrize("with_fence", [True, False])
def test_a_write_tells_how_the_job_stands(database: Database, owner: Owner, with_fence: bool) -> None:
    owner = owner if with_fence else replace(owner, fence=None)
    with database.write_rows() as connection:
        assert begin(connection, owner) is not None
        assert begin(connection, owner) is None
        assert spend(connection, owner) == own_job.check(connection, owner) == Standing(False, None)
    with database.write() as session:
        best = rows.add_measured(session, session.get_one(Job, owner.job_id), 1, 20.0)
        assert best.number == 1
        leases.request_cancel(session, owner.job_id)
    with database.write_rows() as connection:
        assert spend(connection, owner) == own_job.check(connection, owner) == Standing(True, 20.0)
    with database.write() as session:
        jobs.set_comparison(session, owner.job_id, default_us=21.0, best_us=20.0)
    with database.write_rows() as connection:
        assert own_job.check(connection, owner) == Standing(True, None)
    assert seconds(database, owner.job_id) == 5.0


@pytest.mark.parametrize("write", WRITES)
def test_a_job_that_another_has_is_not_written(database: Database, owner: Owner, write: Write) -> None:
    with database.write() as session:
        leases.release(session, owner.job_id, "a")
    with pytest.raises(LeaseLost), database.write_rows() as connection:
        write(connection, owner)
    assert seconds(database, owner.job_id) == 0.0


@pytest.mark.parametrize("write", WRITES)
def test_a_former_holder_does_not_write(database: Database, owner: Owner, write: Write) -> None:
    assert owner.fence is not None
    former = Owner(owner.job_id, "a", Fence("cluster", "a", owner.fence.number - 1))
    with pytest.raises(FenceLost), database.write_rows() as connection:
        write(connection, former)
    assert seconds(database, owner.job_id) == 0.0


@pytest.mark.parametrize("write", WRITES)
def test_a_write_waits_for_a_holder_that_takes_over(database: Database, owner: Owner, write: Write) -> None:
    """The new holder locks the lease, then the jobs; a write that locked them the other way round would block it."""
    if database.engine.dialect.name == "sqlite":
        pytest.skip("SQLite has one writer at a time")
    taken = Event()

    def former() -> None:
        assert taken.wait(30)
        with database.write_rows() as connection:
            write(connection, owner)

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(former)
        with database.write() as session:
            assert session.get_one(Coordinator, "cluster", with_for_update=True)
            taken.set()
            assert not Event().wait(0.2)
            assert not writing.done()
            assert coordinators.acquire(session, "cluster", "b", LEASE_S, now=LATER) is not None
        with pytest.raises(FenceLost):
            writing.result(30)
    assert seconds(database, owner.job_id) == 0.0


@pytest.mark.parametrize("write", WRITES)
def test_a_holder_that_takes_over_waits_for_a_write(database: Database, owner: Owner, write: Write) -> None:
    if database.engine.dialect.name == "sqlite":
        pytest.skip("SQLite has one writer at a time")

    def take() -> None:
        with database.write() as session:
            assert coordinators.acquire(session, "cluster", "b", LEASE_S, now=LATER) is not None

    with ThreadPoolExecutor(1) as pool:
        with database.write_rows() as connection:
            write(connection, owner)
            taking = pool.submit(take)
            assert not Event().wait(0.2)
            assert not taking.done()
        taking.result(30)
