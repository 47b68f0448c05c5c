"""Leases, budgets and trials survive jumps of the wall clock, forwards and back."""

import threading
from datetime import UTC, datetime, timedelta, tzinfo

import pytest

from db.queries.cluster import leases
from db.session import Database
from service.jobs.worker_names import own_name
from tests.faults.jobs import Place, check_whole, ended, job_of, queue

HOUR = timedelta(hours=1)


class Jumping:
    """Replacement of `datetime` whose `now` is off by some time."""

    off = timedelta(0)

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:
        """Return the time of the shifted wall clock."""
        return datetime.now(tz) + cls.off


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> type[Jumping]:
    """Replace the clock of leases and trials."""
    monkeypatch.setattr("db.values.datetime", Jumping)
    monkeypatch.setattr(Jumping, "off", timedelta(0))
    return Jumping


@pytest.mark.parametrize("jump", [HOUR, -HOUR], ids=["forwards", "back"])
def test_a_job_ends_whole_and_its_budget_is_of_a_steady_clock(
    database: Database, place: Place, clock: type[Jumping], jump: timedelta
) -> None:
    job_id = queue(database)

    def jump_once() -> None:
        if len(ended(database, job_id)) == 2:
            clock.off = jump

    assert place.run_jobs(database, jump_once) == 1
    check_whole(database, job_id, place.artifacts)
    assert job_of(database, job_id).attempts == 1


def test_a_lease_that_a_jump_ran_out_is_extended_by_the_next_beat(
    database: Database, place: Place, clock: type[Jumping]
) -> None:
    job_id, beaten = queue(database), threading.Event()

    def jump_and_wait() -> None:
        if beaten.is_set() or len(ended(database, job_id)) != 2:
            return
        clock.off = HOUR
        for _ in range(3000):
            until = job_of(database, job_id).lease_until
            if until is not None and until > datetime.now(UTC) + HOUR:
                beaten.set()
                return
            threading.Event().wait(0.01)

    assert place.run_jobs(database, jump_and_wait, lease_s=1.0, coordinator_lease_s=1.0) == 1
    assert beaten.is_set()
    check_whole(database, job_id, place.artifacts)


def test_after_a_jump_back_what_a_dead_worker_held_waits_for_no_lease(
    database: Database, place: Place, clock: type[Jumping]
) -> None:
    job_id, before = queue(database), own_name().rsplit("/", 1)[0] + "/1"  # a process that started before this one
    clock.off = HOUR
    with database.write() as session:
        assert leases.claim(session, job_id, before, 60.0) is not None
    clock.off = timedelta(0)
    assert place.run_jobs(database) == 1
    check_whole(database, job_id, place.artifacts)
