"""Caches are told of commits that change what they hold, and other commits cost them no query of the database."""

from collections.abc import Generator

import pytest

from db.queries import jobs
from db.queries.change_feed import News
from db.schema import Job
from db.session import Database, open_database
from service.cache_invalidation import CacheInvalidation
from tests.db import rows


@pytest.fixture
def job(database: Database) -> Job:
    """A job of a device."""
    with database.write() as session:
        return rows.add_job(session)


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


@pytest.mark.parametrize("process", ["this process", "another process"])
def test_a_trial_that_failed_leaves_caches_fresh(
    database: Database, freshness: CacheInvalidation, job: Job, told: list[News], process: str
) -> None:
    if database.engine.dialect.name == "postgresql":
        pytest.skip("PostgreSQL does not tell what a commit changed without a query")
    writer = database if process == "this process" else open_database(str(database.engine.url))
    for number in range(3):
        with writer.write() as session:
            rows.add_trial(session, job.id, number)
        assert freshness.is_fresh()
    if writer is not database:
        writer.close()
    assert told == []


def test_a_measured_trial_is_told_before_caches_are_used_again(
    database: Database, freshness: CacheInvalidation, job: Job, told: list[News]
) -> None:
    for number in range(2):
        with database.write() as session:
            found = jobs.get(session, job.id)
            assert found is not None
            rows.add_measured(session, found, number, 2.5)
        assert not freshness.is_fresh()
        freshness.refresh()
        assert freshness.is_fresh()
        assert [len(news.results) for news in told] == [1] * (number + 1)


def test_a_database_that_cannot_be_read_at_once_is_not_fresh(
    database: Database, freshness: CacheInvalidation, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(freshness._watch, "stamps", lambda: None)
    with database.write() as session:
        rows.add_trial(session, job.id, 0)
    assert not freshness.is_fresh()
