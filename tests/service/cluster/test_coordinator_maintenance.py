"""A coordinator and windows of maintenance: what is closed gets no work, what runs there makes way, others go on."""

import threading
from datetime import timedelta
from uuid import UUID

import pytest

from db.queries import (
    maintenance,
    shape_sets,
)
from db.schema import (
    Device,
    MaintenanceWindow,
)
from db.schema.base import utc_now
from db.session import Database
from service.cluster.coordinator import Coordinator
from service.cluster.executor import Place
from service.jobs.job_runs import (
    ClaimedJob,
    JobEnd,
)
from service.settings import Settings
from tests.db import rows
from tests.service.cluster.test_coordinator import WAIT_S, Named, Running, Some, add_jobs, job_of, over, running, until

__all__ = ["running"]


ON_SQLITE = pytest.mark.parametrize("database", ["sqlite"], indirect=True)  # no query of its own is tried here


def close(database: Database, device: str | None) -> MaintenanceWindow:
    """Open a window of an hour in which a device, or every one, gets no jobs."""
    now = utc_now()
    window = MaintenanceWindow(name=f"of {device}", device=device, starts_at=now, ends_at=now + timedelta(hours=1))
    with database.write() as session:
        maintenance.add(session, window)
    return window


def open_again(database: Database, window: MaintenanceWindow) -> None:
    """End a window."""
    with database.write() as session:
        maintenance.delete(session, session.get_one(MaintenanceWindow, window.id))


def both() -> Some:
    """Two places with a device each."""
    return Some([Named("p1", ("b580",)), Named("p2", ("b60",))])


def test_a_closed_device_gets_no_job_until_its_window_ends(database: Database, running: Running) -> None:
    waits, other = add_jobs(database, "b580", "b60")
    window = close(database, "b580")
    running.start(both(), lambda *_: JobEnd.SUCCEEDED, "a")
    until(lambda: over(database, [other]))
    later = add_jobs(database, "b60")  # it still gives out work
    until(lambda: over(database, later))
    assert (job_of(database, waits).status, job_of(database, waits).attempts) == ("queued", 0)
    open_again(database, window)
    until(lambda: over(database, [waits]))


def test_nothing_is_given_out_while_every_device_is_closed(database: Database, running: Running) -> None:
    ids, engine = add_jobs(database, "b580", "b60"), both()
    window = close(database, None)
    looked = Counted(engine)
    running.start(looked, lambda *_: JobEnd.SUCCEEDED, "a")
    until(lambda: looked.times > 5)
    assert [job_of(database, job_id).attempts for job_id in ids] == [0, 0]
    open_again(database, window)
    until(lambda: over(database, ids))


def test_what_runs_makes_way_when_a_window_begins_and_others_run_on(database: Database, running: Running) -> None:
    ids = add_jobs(database, "b580", "b60")
    began, done = {i: threading.Event() for i in ids}, threading.Event()
    interrupted: list[UUID] = []

    def work(_: Database, __: str, job: ClaimedJob, interrupt: threading.Event) -> JobEnd:
        began[job.id].set()
        while not done.wait(0.01):
            if interrupt.is_set():
                interrupted.append(job.id)
                return JobEnd.INTERRUPTED
        return JobEnd.SUCCEEDED

    running.start(both(), work, "a", coordinator_lease_s=6.0)  # windows are looked at three times in it
    assert all(each.wait(WAIT_S) for each in began.values())
    window = close(database, "b580")
    until(lambda: job_of(database, ids[0]).status == "queued")
    done.set()
    until(lambda: over(database, ids[1:]))
    assert set(interrupted) == set(ids[:1])
    open_again(database, window)
    until(lambda: over(database, ids))


def add_sets(database: Database, *slugs: str) -> list[UUID]:
    """An active set of no shapes for each slug, in this order."""
    asked = {"source": "s", "budget_trials": 8, "budget_seconds": 9.0, "seed": 1, "within": 0.05}
    made: list[UUID] = []
    with database.write() as session:
        devices = {slug: rows.add_device(session, slug) for slug in dict.fromkeys(slugs)}
        for number, slug in enumerate(slugs):
            device: Device = devices[slug]
            row = shape_sets.create(session, device_id=device.id, request_hash=rows.digest(str(number)), **asked)
            made.append(row.id)
    return made


@ON_SQLITE
@pytest.mark.parametrize("closed", ["b580", "no place has it"])
def test_sets_that_cannot_run_now_do_not_keep_others_waiting(database: Database, closed: str) -> None:
    *waiting, last = add_sets(database, *[closed] * 25, "b60")
    window = close(database, closed)
    begun: list[UUID] = []

    def run_set(set_id: UUID, _: threading.Event) -> None:
        begun.append(set_id)
        with database.write() as session:
            shape_sets.finish(session, set_id, "succeeded")

    settings = Settings(database_url="sqlite:///unused").model_copy(update={"worker_poll_s": 0.02})

    def nothing(*_: object) -> JobEnd:
        raise AssertionError("no job waits")

    def set_at(_: Database, __: Place) -> object:
        return run_set

    made = Coordinator(database, settings, both(), lambda *_: nothing, "a", set_at=set_at)  # type: ignore[arg-type]
    thread = threading.Thread(target=made.run)
    thread.start()
    try:
        until(lambda: last in begun)
        assert begun == [last]
        if closed == "b580":
            open_again(database, window)
            until(lambda: set(waiting) <= set(begun))
    finally:
        made.stop()
        thread.join(WAIT_S)


class Counted(Some):
    """An engine that counts how often it is looked at."""

    def __init__(self, engine: Some) -> None:
        super().__init__(engine.here)
        self.times = 0

    def places(self) -> list[Named]:
        self.times += 1
        return super().places()
