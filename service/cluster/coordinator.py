"""Coordinator: assigns jobs to executors. One coordinator per name is active, and each of its writes checks the
lease.

It claims jobs for free executors and runs each in a thread. If it is killed, another one takes over when the
lease expires, or at once on the same host; jobs continue from their stored trials.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from db.errors import DatabaseError, FenceLost
from db.queries import (
    quarantines,
    shape_sets,
)
from db.queries.cluster import (
    coordinators,
    leases,
)
from db.queries.cluster.coordinators import Fence
from db.schema.job import Job
from db.schema.shape_set import ShapeSet
from db.session import Database
from db.values import utc_now
from service.api.devices.elsewhere import store_device
from service.api.shapes.running import RunSet
from service.artifacts import StorageError
from service.cluster.executor import (
    Engine,
    Executor,
    ExecutorLost,
    Reached,
)
from service.cluster.fenced import FencedDatabase
from service.cluster.local import NAME as OF_ONE_MACHINE
from service.jobs.job_runs import (
    JobRuns,
    RunJob,
)
from service.jobs.worker import release_abandoned
from service.jobs.worker_names import (
    is_dead,
    own_name,
)
from service.settings import Settings
from service.telemetry.loggers import Logger

STORAGE_WAIT_S = 30.0
_BEATS = 3  # per lease time
_KEPT = timedelta(days=1)  # time after which the row of a machine's coordinator is deleted
_log = Logger(__name__)


@dataclass(frozen=True, slots=True)
class Clock:
    """Time and threads of a coordinator; simulations replace it."""

    now: Callable[[], datetime] = utc_now
    wait: Callable[[threading.Event, float], bool] = threading.Event.wait
    start: Callable[[threading.Thread], None] = threading.Thread.start


@dataclass(slots=True)
class _Run:
    """A job running at an executor."""

    executor: Executor
    interrupt: threading.Event
    thread: threading.Thread | None = None


@dataclass(slots=True)
class _Term:
    """One period of holding the lease, and what runs in it."""

    fence: Fence
    database: FencedDatabase
    over: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)
    runs: dict[UUID, _Run] = field(default_factory=dict)
    reached: list[Reached] = field(default_factory=list)
    rests_until: datetime | None = None  # while artifacts cannot be written

    def interrupt(self) -> None:
        """Ask every job to stop after its current trial."""
        with self.lock:
            for run in self.runs.values():
                run.interrupt.set()


class Coordinator:
    """Coordinator of an engine's executors. `run` blocks; `stop` may be called from any thread or a signal
    handler.

    `run_at` returns what runs a job at an executor, on a database that the fence guards; `set_at` a set of
    shapes, which get executors when no job waits. With `only`, it runs only that job or set of shapes.
    """

    def __init__(
        self,
        database: Database,
        settings: Settings,
        engine: Engine,
        run_at: Callable[[Database, Executor], RunJob],
        holder: str | None = None,
        clock: Clock | None = None,
        set_at: Callable[[Database, Executor], RunSet] | None = None,
        only: UUID | None = None,
    ) -> None:
        self._database, self._settings, self._engine, self._run_at = database, settings, engine, run_at
        self._set_at, self._only = set_at, only
        self._clock = clock or Clock()
        self._stop, self._wake = threading.Event(), threading.Event()
        self._is_away = False  # the database, at the last poll
        self.name = holder or own_name()

    @property
    def is_waiting_for_database(self) -> bool:
        """True if the database did not answer, or could not be written, at the last poll."""
        return self._is_away

    def stop(self) -> None:
        """Requeue the running jobs and end."""
        self._stop.set()
        self._wake.set()

    def abandon(self) -> None:
        """Requeue the running jobs without waiting for their threads; the caller then ends this process."""
        try:
            with self._database.write() as session:
                leases.release_all(session, self.name)
        except DatabaseError as error:
            _log.warning("jobs not requeued: another coordinator will find their worker dead", error=str(error))

    def run(self) -> None:
        """Assign jobs while holding the lease, until stopped; waits for a database that does not answer."""
        waits = False
        while not self._stop.is_set():
            term = self._acquire()
            if term is not None:
                self._lead(term)
                waits = False
                continue
            if not waits:
                _log.info("coordinator waits", coordinator=self._engine.name, holder=self.name)
                waits = True
            self._clock.wait(self._stop, min(self._settings.worker_poll_s, self._settings.coordinator_lease_s / _BEATS))

    def _acquire(self) -> _Term | None:
        name, lease_s = self._engine.name, self._settings.coordinator_lease_s
        try:
            with self._database.read() as session:
                if coordinators.is_held(session, name, self.name, is_dead=is_dead, now=self._clock.now()):
                    return None
            with self._database.write() as session:
                now = self._clock.now()  # after the wait for the lock, in which the clock may have been set back
                coordinators.forget(session, name_prefix=OF_ONE_MACHINE, before=now - _KEPT)
                fence = coordinators.acquire(session, name, self.name, lease_s, is_dead=is_dead, now=now)
        except DatabaseError as error:
            self._note_away(error)
            return None
        self._note_back()
        if fence is None:
            return None
        _log.info("coordinator leads", coordinator=fence.name, holder=fence.holder, fence=fence.number)
        return _Term(fence, FencedDatabase(self._database.engine, fence))

    def _lead(self, term: _Term) -> None:
        heart = threading.Thread(target=self._beat, args=(term,), name="coordinator heartbeat", daemon=True)
        self._clock.start(heart)
        try:
            while not self._stop.is_set() and not term.over.is_set():
                self._wake.clear()
                self._look_safely(term)
                self._clock.wait(self._wake, self._settings.worker_poll_s)
        finally:
            term.interrupt()
            if not term.over.is_set():
                self._join(term)
                term.over.set()
                self._give_up(term)
            heart.join()

    def _look_safely(self, term: _Term) -> None:
        try:
            self._look(term)
        except FenceLost as error:
            _log.warning("coordinator was followed by another", error=str(error))
        except DatabaseError as error:
            self._note_away(error)
        else:
            self._note_back()

    def _note_away(self, error: DatabaseError) -> None:
        """Log once that the database does not answer; it is retried with every poll."""
        if not self._is_away:
            _log.warning("coordinator waits for the database", error=str(error))
        self._is_away = True

    def _note_back(self) -> None:
        if self._is_away:
            _log.info("the database answers again")
        self._is_away = False

    def _look(self, term: _Term) -> None:
        """Assign jobs to free executors, as long as there are any."""
        if term.rests_until is not None and self._clock.now() < term.rests_until:
            return
        executors = self._engine.executors()
        self._tell_reached(term)
        with term.lock:
            busy = {run.executor.id for run in term.runs.values()}
            under_way = set(term.runs)
        free = {executor.id: executor for executor in executors if executor.id not in busy}
        if not free:
            return
        with term.database.write() as session:
            leases.release_all(session, self.name, under_way)
            release_abandoned(session, lambda name: name != self.name and is_dead(name))
            kept = {(row.host, row.slug) for row in quarantines.active(session, now=self._clock.now())}
        if self._only is not None:
            for executor in [*free.values()][:1]:
                self._begin_only(term, executor, self._only)
            return
        slugs = {p.id: {s for s in p.devices() if (p.host, s) not in kept} for p in free.values()}
        room = self._settings.max_running_jobs - len(busy)
        while free and room > 0 and not self._stop.is_set() and (job := self._claim(term, free, slugs)) is not None:
            executor = next(executor for executor in free.values() if _fits(job, executor, slugs[executor.id]))
            del free[executor.id]
            self._begin(term, job, executor)
            room -= 1
        if free and self._set_at is not None and not self._stop.is_set():
            self._begin_sets(term, free, slugs, self._set_at)

    def _begin_sets(
        self,
        term: _Term,
        free: dict[str, Executor],
        slugs: dict[str, set[str]],
        set_at: Callable[[Database, Executor], RunSet],
    ) -> None:
        """Assign sets of shapes to executors that no job needs, one each."""
        with term.database.read() as session:
            waiting = shape_sets.waiting(session, is_dead, self._clock.now())
        with term.lock:
            under_way = set(term.runs)
        for found in waiting:
            if found.id in under_way:
                continue
            executor = next(
                (executor for executor in free.values() if _fits(found, executor, slugs[executor.id])), None
            )
            if executor is None:
                continue
            del free[executor.id]
            self._begin_set(term, found, executor, set_at)

    def _begin_set(
        self, term: _Term, found: ShapeSet, executor: Executor, set_at: Callable[[Database, Executor], RunSet]
    ) -> None:
        run = _Run(executor, threading.Event())
        task = set_at(term.database, executor)
        run.thread = threading.Thread(
            target=self._work_on_set, args=(term, found.id, run, task), name=f"set {found.id}", daemon=True
        )
        with term.lock:
            term.runs[found.id] = run
        self._clock.start(run.thread)

    def _work_on_set(self, term: _Term, set_id: UUID, run: _Run, task: RunSet) -> None:
        """Thread of a set; frees the executor however it ends.

        What kept a set from running is not over at once: it waits for the next poll.
        """
        ran = False
        try:
            ran = task(set_id, run.interrupt)
        except DatabaseError as error:
            _log.warning("set of shapes waits for the database", set=str(set_id), error=str(error))
        except ExecutorLost as error:
            _log.warning("executor lost", set=str(set_id), error=str(error))
        except StorageError as error:
            _log.warning("coordinator waits for room for artifacts", error=str(error), seconds=STORAGE_WAIT_S)
            term.rests_until = self._clock.now() + timedelta(seconds=STORAGE_WAIT_S)
        finally:
            with term.lock:
                del term.runs[set_id]
            if ran:
                self._wake.set()

    def _begin_only(self, term: _Term, executor: Executor, only: UUID) -> None:
        """Start the one job or set of shapes, unless it is over or another worker has it."""
        with term.database.write() as session:
            now = self._clock.now()
            job = leases.claim(session, only, self.name, self._settings.lease_s, now=now)
            found = next((row for row in shape_sets.waiting(session, is_dead, now) if row.id == only), None)
        if job is not None:
            self._begin(term, job, executor)
        elif found is not None and self._set_at is not None:
            self._begin_set(term, found, executor, self._set_at)

    def _claim(self, term: _Term, free: dict[str, Executor], slugs: dict[str, set[str]]) -> Job | None:
        devices = {slug for executor_id in free for slug in slugs[executor_id]}
        predicted = any(executor.predicts for executor in free.values())
        if not devices and not predicted:
            return None
        with term.database.write() as session:
            return leases.claim_next(
                session,
                self.name,
                self._settings.lease_s,
                devices=devices,
                predicted=predicted,
                now=self._clock.now(),
            )

    def _begin(self, term: _Term, job: Job, executor: Executor) -> None:
        run = _Run(executor, threading.Event())
        run.thread = threading.Thread(target=self._work, args=(term, job, run), name=f"job {job.id}", daemon=True)
        with term.lock:
            term.runs[job.id] = run
        self._clock.start(run.thread)

    def _work(self, term: _Term, job: Job, run: _Run) -> None:
        """Thread of a job; frees the executor however it ends."""
        try:
            runs = JobRuns(term.database, self.name, self._settings.quarantine_s)
            runs.run(job, self._run_at(term.database, run.executor), run.interrupt, run.executor.host)
        except DatabaseError as error:
            _log.warning("job waits for the database", job=str(job.id), error=str(error))
        except StorageError as error:
            _log.warning("coordinator waits for room for artifacts", error=str(error), seconds=STORAGE_WAIT_S)
            term.rests_until = self._clock.now() + timedelta(seconds=STORAGE_WAIT_S)
        finally:
            with term.lock:
                del term.runs[job.id]
            self._wake.set()

    def _tell_reached(self, term: _Term) -> None:
        reached = list(self._engine.reached())
        if reached == term.reached:
            return
        with term.database.write() as session:
            rows = [(each.executor, each.host, store_device(session, each.listed.spec).id) for each in reached]
            coordinators.set_reached(session, term.fence.name, rows, now=self._clock.now())
        term.reached = reached

    def _beat(self, term: _Term) -> None:
        """Renew the lease, and those of all jobs; end the term if another coordinator has it."""
        while not self._clock.wait(term.over, self._settings.coordinator_lease_s / _BEATS):
            now = self._clock.now()
            try:
                with self._database.write() as session:
                    coordinators.renew(session, term.fence, self._settings.coordinator_lease_s, now=now)
                    leases.extend_all(session, self.name, self._settings.lease_s, now=now)
            except FenceLost as error:
                _log.warning("coordinator was followed by another", error=str(error))
                term.over.set()
                term.interrupt()
                self._wake.set()
            except DatabaseError as error:
                _log.warning("coordinator's lease not renewed", error=str(error))

    def _join(self, term: _Term) -> None:
        """Wait for the jobs up to a timeout; the fence prevents writes of those that still run."""
        deadline = time.monotonic() + self._settings.shutdown_s
        with term.lock:
            runs = {run_id: run.thread for run_id, run in term.runs.items() if run.thread is not None}
        for run_id, thread in runs.items():
            thread.join(max(deadline - time.monotonic(), 0.0))
            if thread.is_alive():
                _log.warning("job did not stop in time", job=str(run_id), seconds=self._settings.shutdown_s)

    def _give_up(self, term: _Term) -> None:
        try:
            with self._database.write() as session:
                leases.release_all(session, self.name)
                coordinators.give_up(session, term.fence, now=self._clock.now())
        except DatabaseError as error:
            _log.warning("coordinator's lease not given up", error=str(error))


def _fits(job: Job | ShapeSet, executor: Executor, slugs: set[str]) -> bool:
    return executor.predicts if job.device.driver == "" else job.device.slug in slugs
