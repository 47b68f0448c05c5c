"""Caches are told of commits before they are used again; on SQLite without a thread and without a session."""

import asyncio
from collections.abc import Generator

import pytest

from db.queries import jobs
from db.queries.change_feed import News
from db.schema.job import Job
from db.session import Database, open_database
from service import cache_invalidation
from service.cache_invalidation import CacheInvalidation
from tests.db import rows
from tests.db.rows import digest

SLUG = "opencl-cpu-as-b580"


@pytest.fixture
def job(database: Database) -> Job:
    """A job of a device."""
    with database.write() as session:
        return rows.add_job(session, SLUG)


@pytest.fixture
def told() -> list[News]:
    """The news of a cache."""
    return []


@pytest.fixture
def freshness(database: Database, job: Job, told: list[News]) -> Generator[CacheInvalidation]:
    """The subscription of a cache that knows the state with the job."""
    found = CacheInvalidation(database, max_age_s=60.0)
    found.tell(told.append)
    found.refresh()
    assert found.is_fresh()
    told.clear()
    yield found
    found.close()


def measure(database: Database, job: Job, number: int) -> None:
    """Commit a measured trial."""
    with database.write() as session:
        found = jobs.get(session, job.id)
        assert found is not None
        rows.add_measured(session, found, number, 2.5)


def test_a_measured_trial_is_told_once(
    database: Database, freshness: CacheInvalidation, job: Job, told: list[News]
) -> None:
    for number in range(2):
        measure(database, job, number)
        assert not freshness.is_fresh()
        assert asyncio.run(freshness.wait())
        assert freshness.is_fresh()
        freshness.refresh()
        assert [news.results for news in told] == [{SLUG: frozenset({digest("problem 96")})}] * (number + 1)


def test_one_look_serves_the_requests_of_a_step_until_this_process_commits(
    database: Database, freshness: CacheInvalidation, job: Job, told: list[News], monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[bool] = []
    is_fresh = freshness.is_fresh
    monkeypatch.setattr(freshness, "is_fresh", lambda: looks.append(is_fresh()) or looks[-1])

    async def steps() -> None:
        assert [await freshness.wait() for _ in range(3)] == [True] * 3
        assert looks == [True]
        await asyncio.sleep(0)
        assert await freshness.wait()
        assert looks == [True, True]
        measure(database, job, 0)
        assert await freshness.wait()
        assert len(told) == 1

    asyncio.run(steps())


@pytest.mark.parametrize("process", ["this process", "another process"])
def test_a_trial_that_failed_is_no_news(
    database: Database, freshness: CacheInvalidation, job: Job, told: list[News], process: str
) -> None:
    writer = database if process == "this process" else open_database(str(database.engine.url))
    for number in range(2):
        with writer.write() as session:
            rows.add_trial(session, job.id, number)
        assert asyncio.run(freshness.wait())
    if writer is not database:
        writer.close()
    assert told == []


def test_sqlite_is_read_without_a_thread_and_a_session(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch, told: list[News]
) -> None:
    database = open_database(sqlite_url)
    with database.write() as session:
        job = rows.add_job(session, SLUG)
    freshness = CacheInvalidation(database, max_age_s=60.0)
    freshness.refresh()  # reads all results: it may take a thread
    freshness.tell(told.append)
    monkeypatch.setattr(freshness._thread, "submit", None)
    monkeypatch.setattr(cache_invalidation, "news", None)
    measure(database, job, 0)
    assert asyncio.run(freshness.wait())
    assert len(told) == 1
    measure(database, job, 1)
    freshness.refresh()
    assert len(told) == 2
    freshness.close()
    database.close()


def test_a_database_that_cannot_be_read_at_once_is_read_by_a_thread(
    database: Database, freshness: CacheInvalidation, job: Job, told: list[News], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(freshness._watch, "news", lambda _before: None)
    measure(database, job, 0)
    assert asyncio.run(freshness.wait())
    assert len(told) == 1


def test_a_refresh_by_another_thread_is_not_waited_for_in_the_event_loop(
    database: Database, freshness: CacheInvalidation, job: Job
) -> None:
    measure(database, job, 0)
    with freshness._lock:
        assert not freshness._refresh_at_once()
