"""One coordinator at a time gives each free executor a job; a superseded one writes nothing more."""

import threading
import time
from collections.abc import Callable, Collection, Generator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import cast
from uuid import UUID

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import update

from codegen import CompileCrashed, GemmProblem
from db.errors import DatabaseUnavailable
from db.queries.cluster import (
    coordinators,
    leases,
)
from db.schema.cluster import Coordinator as CoordinatorRow
from db.schema.job import Job
from db.session import Database
from db.values import utc_now
from hal import Fact, find
from hal.devices.listed import Runtime, listed
from hal.facts.spec import spec_from_facts
from service.api.devices.elsewhere import store_device
from service.cluster.coordinator import Coordinator
from service.cluster.executor import (
    Engine,
    Executor,
    ExecutorLost,
    Reached,
)
from service.cluster.fenced import FencedDatabase
from service.device_json import spec_to_json
from service.gemm_json import problem_to_json
from service.http.context import Context
from service.jobs.job_runs import (
    ClaimedJob,
    JobEnd,
)
from service.settings import Settings
from tests.db import rows
from tests.service.rest import post_job, row_of

WAIT_S = 60.0
HERE = listed(find("b580"), Runtime.OPENCL, "0:0", runnable=True)


@dataclass(frozen=True)
class Named:
    """An executor: its name and the slugs of its devices."""

    id: str
    slugs: tuple[str, ...] = ()
    predicts: bool = False
    host: str = "node"

    def devices(self) -> Collection[str]:
        return self.slugs


@dataclass
class Some:
    """An engine with a list of executors that tests change."""

    here: list[Named]
    name: str = "cluster"
    told: list[Reached] = field(default_factory=list)

    def executors(self) -> list[Named]:
        return self.here

    def reached(self) -> list[Reached]:
        return self.told

    def close(self) -> None:
        pass


Work = Callable[[Database, str, ClaimedJob, threading.Event], JobEnd]


@dataclass
class Running:
    """Coordinators of one database, in threads."""

    database: Database
    started: list[tuple[Coordinator, threading.Thread]] = field(default_factory=list)

    def start(self, engine: Some, work: Work, holder: str, **settings: object) -> Coordinator:
        """Start a coordinator; `work` runs a job, given the fenced database and the executor's id."""
        quick = {"worker_poll_s": 0.02, "coordinator_lease_s": 0.5} | settings
        of = Settings(database_url="sqlite:///unused").model_copy(update=quick)

        def at(database: Database, executor: Executor) -> Callable[[ClaimedJob, threading.Event], JobEnd]:
            return lambda job, interrupt: work(database, executor.id, job, interrupt)

        made = Coordinator(self.database, of, cast(Engine, engine), at, holder)
        thread = threading.Thread(target=made.run)
        thread.start()
        self.started.append((made, thread))
        return made

    def stop(self, one: Coordinator) -> None:
        """Stop a coordinator and wait for it."""
        one.stop()
        for coordinator, thread in self.started:
            if coordinator is one:
                thread.join(WAIT_S)
                assert not thread.is_alive()


@pytest.fixture
def running(database: Database) -> Generator[Running]:
    """Start coordinators, and stop those still running at the end."""
    made = Running(database)
    yield made
    for coordinator, _ in made.started:
        coordinator.stop()
    for _, thread in made.started:
        thread.join(WAIT_S)
        assert not thread.is_alive()


def add_jobs(database: Database, *slugs: str) -> list[UUID]:
    """Queue a job for each slug, in this order."""
    with database.write() as session:
        made = [rows.add_job(session, slug, m=16 * (i + 1)) for i, slug in enumerate(slugs)]
        for i, job in enumerate(made):
            problem = session.get_one(rows.Problem, job.problem_id)
            device = session.get_one(rows.Device, job.device_id)
            problem.definition = problem_to_json(GemmProblem(16 * (i + 1), 24, 40))
            device.spec = spec_to_json(find("b580"))
        return [job.id for job in made]


def job_of(database: Database, job_id: UUID) -> Job:
    """Return the row of a job."""
    with database.read() as session:
        return session.get_one(Job, job_id)


def until(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline, "it did not come true"
        time.sleep(0.01)


def over(database: Database, ids: list[UUID]) -> bool:
    """Return whether all jobs succeeded."""
    return all(job_of(database, job_id).status == "succeeded" for job_id in ids)


def test_places_work_at_the_same_time_each_on_its_own_devices(database: Database, running: Running) -> None:
    ids = add_jobs(database, "b580", "b60", "b580", "elsewhere")
    both, where = threading.Barrier(2), {}

    def work(_: Database, executor: str, job: ClaimedJob, __: threading.Event) -> JobEnd:
        where[job.id] = executor
        if job.id in ids[:2]:
            both.wait(WAIT_S)  # only passed if the two run together
        return JobEnd.SUCCEEDED

    running.start(Some([Named("p1", ("b580",)), Named("p2", ("b60",))]), work, "a")
    until(lambda: over(database, ids[:3]))
    assert where == {ids[0]: "p1", ids[1]: "p2", ids[2]: "p1"}
    assert job_of(database, ids[3]).status == "queued"


def test_a_device_that_is_predicted_waits_for_a_place_that_predicts(database: Database, running: Running) -> None:
    (job_id,) = add_jobs(database, "b60")
    with database.write() as session:
        session.execute(update(rows.Device).values(driver=""))
    engine = Some([Named("p1", ("b60",))])
    got: list[str] = []

    def work(_: Database, executor: str, __: ClaimedJob, ___: threading.Event) -> JobEnd:
        got.append(executor)
        return JobEnd.SUCCEEDED

    running.start(engine, work, "a")
    time.sleep(0.2)
    assert got == []
    engine.here = [*engine.here, Named("p2", predicts=True)]
    until(lambda: over(database, [job_id]))
    assert got == ["p2"]


def test_a_job_that_it_claimed_without_knowing_is_run(database: Database, running: Running) -> None:
    """As after a claim whose commit the database applied, and whose confirmation was lost."""
    (job_id,) = add_jobs(database, "b580")
    with database.write() as session:
        assert leases.claim(session, job_id, "a", 600.0) is not None
    running.start(Some([Named("p1", ("b580",))]), lambda *_: JobEnd.SUCCEEDED, "a")
    until(lambda: over(database, [job_id]))
    assert job_of(database, job_id).attempts == 2


def test_one_leads_and_the_next_follows_when_it_stops(database: Database, running: Running) -> None:
    ids = add_jobs(database, "b580")
    engine, who = Some([Named("p1", ("b580",))]), list[str]()

    def work_of(name: str) -> Work:
        def work(_: Database, __: str, ___: ClaimedJob, interrupt: threading.Event) -> JobEnd:
            who.append(name)
            if len(who) == 1:
                assert interrupt.wait(WAIT_S)
                return JobEnd.INTERRUPTED
            return JobEnd.SUCCEEDED

        return work

    first = running.start(engine, work_of("a"), "a", coordinator_lease_s=1000.0)  # which it gives up
    until(lambda: who == ["a"])
    running.start(engine, work_of("b"), "b")
    time.sleep(0.2)
    assert who == ["a"]
    running.stop(first)
    until(lambda: over(database, ids))
    assert who == ["a", "b"]
    assert job_of(database, ids[0]).attempts == 2


def held(begun: threading.Event, goes_on: threading.Event, refused: list[str]) -> Callable[..., JobEnd]:
    """Return work that waits until it `goes_on`, and then writes as the holder of its lease, unless that is refused."""

    def work(fenced: Database, _: str, job: ClaimedJob, __: threading.Event) -> JobEnd:
        begun.set()
        assert goes_on.wait(WAIT_S)
        try:
            with fenced.write() as session:
                leases.check_own(session, job.id, job.worker)
        except Exception as error:
            refused.append(type(error).__name__)
            raise
        return JobEnd.SUCCEEDED

    return work


def test_a_job_that_does_not_stop_in_time_is_put_back_and_writes_nothing_more(
    database: Database, running: Running
) -> None:
    (job_id,) = add_jobs(database, "b580")
    begun, goes_on, refused = threading.Event(), threading.Event(), list[str]()
    engine = Some([Named("p1", ("b580",))], told=[Reached("p1", "node", HERE)])
    first = running.start(
        engine, held(begun, goes_on, refused), "a", coordinator_lease_s=1000.0, lease_s=1000.0, shutdown_s=0.1
    )
    assert begun.wait(WAIT_S)
    running.stop(first)
    assert job_of(database, job_id).status == "queued"
    with database.read() as session:
        assert coordinators.reached(session, utc_now() - timedelta(hours=1)) == []
    goes_on.set()
    until(lambda: refused == ["FenceLost"])
    assert job_of(database, job_id).status == "queued"


def test_one_that_stood_still_is_followed_and_writes_nothing_more(database: Database, running: Running) -> None:
    """As after SIGSTOP: the lease expires, another coordinator takes over, and then the first continues."""
    ids = add_jobs(database, "b580")
    engine, holds, goes_on, refused = Some([Named("p1", ("b580",))]), threading.Event(), threading.Event(), list[str]()
    slow = running.start(engine, held(holds, goes_on, refused), "a", coordinator_lease_s=1000.0)
    assert holds.wait(WAIT_S)
    with database.write() as session:
        session.execute(update(CoordinatorRow).values(expires_at=utc_now() - timedelta(seconds=1)))
    running.start(engine, lambda *_: JobEnd.SUCCEEDED, "b")
    until(lambda: over(database, ids))
    goes_on.set()
    until(lambda: refused == ["FenceLost"])
    assert job_of(database, ids[0]).attempts == 2
    slow.stop()


def test_a_place_that_is_lost_gives_its_job_to_another(database: Database, running: Running) -> None:
    ids = add_jobs(database, "b580")
    engine = Some([Named("p1", ("b580",))])

    def work(_: Database, executor: str, __: ClaimedJob, ___: threading.Event) -> JobEnd:
        if executor == "p1":
            engine.here = [Named("p2", ("b580",))]
            raise ExecutorLost("p1 is gone")
        return JobEnd.SUCCEEDED

    running.start(engine, work, "a")
    until(lambda: over(database, ids))
    assert job_of(database, ids[0]).error is None


def test_a_failure_ends_its_job_alone_and_a_database_that_was_away_puts_it_back(
    database: Database, running: Running
) -> None:
    ids = add_jobs(database, "b580", "b60")
    tries: list[UUID] = []

    def work(_: Database, __: str, job: ClaimedJob, ___: threading.Event) -> JobEnd:
        tries.append(job.id)
        if job.id == ids[0]:
            raise CompileCrashed("spirv", "it died")
        if tries.count(job.id) == 1:
            raise DatabaseUnavailable("restarting")
        return JobEnd.SUCCEEDED

    running.start(Some([Named("p1", ("b580",)), Named("p2", ("b60",))]), work, "a", lease_s=1000.0)
    until(lambda: over(database, ids[1:]))
    until(lambda: job_of(database, ids[0]).error == "compile-crashed: stage spirv: it died")


def test_a_database_that_is_away_is_told_of_once_and_when_it_is_back(
    database: Database, running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids, looks, back = add_jobs(database, "b580"), 0, threading.Event()
    said: list[str] = []

    class Log:
        """A logger that keeps messages of every level."""

        def __getattr__(self, _level: str) -> Callable[..., None]:
            return lambda event, **_more: said.append(event)

    monkeypatch.setattr("service.cluster.coordinator._log", Log())

    class Asking(Some):
        """An engine that cannot list its executors while the database is unreachable."""

        def executors(self) -> list[Named]:
            nonlocal looks
            looks += 1
            if not back.is_set():
                raise DatabaseUnavailable("no connection")
            return super().executors()

    running.start(Asking([Named("p1", ("b580",))]), lambda *_: JobEnd.SUCCEEDED, "a", coordinator_lease_s=60.0)
    until(lambda: looks > 5)
    back.set()
    until(lambda: over(database, ids) and "the database answers again" in said)
    assert said.count("coordinator waits for the database") == said.count("the database answers again") == 1


def test_leases_of_jobs_are_kept_alive_together(database: Database, running: Running) -> None:
    ids = add_jobs(database, "b580", "b60")
    done = threading.Event()

    def work(_: Database, __: str, ___: ClaimedJob, ____: threading.Event) -> JobEnd:
        assert done.wait(WAIT_S)
        return JobEnd.SUCCEEDED

    running.start(Some([Named("p1", ("b580",)), Named("p2", ("b60",))]), work, "a", lease_s=20.0)
    until(lambda: all(job_of(database, job_id).status == "running" for job_id in ids))

    def leases() -> list[datetime]:
        found = [job_of(database, job_id).lease_until for job_id in ids]
        return [moment for moment in found if moment is not None]

    begun = leases()
    until(lambda: all(now > then for now, then in zip(leases(), begun, strict=True)))
    done.set()
    until(lambda: over(database, ids))


def test_no_more_jobs_are_under_way_than_one_may_have(database: Database, running: Running) -> None:
    ids = add_jobs(database, "b580", "b60", "b50")
    inside, most, lock = 0, 0, threading.Lock()

    def work(_: Database, __: str, ___: ClaimedJob, ____: threading.Event) -> JobEnd:
        nonlocal inside, most
        with lock:
            inside += 1
            most = max(most, inside)
        time.sleep(0.1)
        with lock:
            inside -= 1
        return JobEnd.SUCCEEDED

    executors = [Named(f"p {slug}", (slug,)) for slug in ("b580", "b60", "b50")]
    running.start(Some(executors), work, "a", max_running_jobs=2)
    until(lambda: over(database, ids))
    assert most <= 2


def test_what_is_reached_is_told_to_others(database: Database, running: Running) -> None:
    engine = Some([Named("p1", ("b580",))], told=[Reached("p1", "node-7", HERE)])
    running.start(engine, lambda *_: JobEnd.SUCCEEDED, "a")

    def reached() -> list[tuple[str, str]]:
        with database.read() as session:
            return [(row.host, row.device.slug) for row in coordinators.reached(session)]

    until(lambda: reached() == [("node-7", "b580")])
    engine.told = []
    until(lambda: reached() == [])


def test_the_fenced_database_rolls_back_what_follows_a_lost_fence(database: Database) -> None:
    with database.write() as session:
        fence = coordinators.acquire(session, "cluster", "a", 60.0)
    assert fence is not None
    fenced = FencedDatabase(database.engine, fence)
    with fenced.write() as session:
        rows.add_device(session, "kept")
    with database.write() as session:
        session.execute(update(CoordinatorRow).values(fence=fence.number + 1))
    with pytest.raises(leases.LeaseLost), fenced.write() as session:
        rows.add_device(session, "refused")
    with database.read() as session:
        assert {d.slug for d in session.query(rows.Device)} == {"kept"}


def test_a_service_lists_what_is_reached_and_takes_jobs_for_it(client: TestClient, context: Context) -> None:
    with context.database.write() as session:
        coordinators.acquire(session, "cluster", "a", 60.0)
        spec = spec_from_facts(
            "b580", find("b580").name, find("b580").kind, [*find("b580").facts(), Fact("driver", "7.1", "probed")]
        )
        coordinators.set_reached(session, "cluster", [("p1", "node-7", store_device(session, spec).id)])
    shown = client.get("/v1/devices/b580").json()
    assert shown["runnable"]
    assert "on node-7" in shown["note"]
    job_id = post_job(client, device="b580")
    with context.database.read() as session:
        assert row_of(session, job_id).device.driver == "7.1"
