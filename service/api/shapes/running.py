"""Execution of a set of shapes: portions of its jobs where they gain most, then each kernel on each shape.

A portion is one run of a job by a worker: claimed, its lease extended, returned to the queue. Results are
stored with each trial, so that a set that was interrupted or killed continues where it stopped.
"""

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from uuid import UUID

from codegen import CodegenError
from db.errors import LeaseLost
from db.queries import (
    shape_sets,
)
from db.queries.cluster import leases
from db.schema.shape_set import ShapeSet
from db.session import Database
from db.values import utc_now
from hal import HalError
from service.api.shapes.comparing import compare
from service.api.shapes.searching import search
from service.api.shapes.service import find_set
from service.api.shapes.state import SetState
from service.device_json import spec_of_row
from service.errors import Conflict, NotFound, OtherVersion
from service.jobs.heartbeat import repeated
from service.jobs.tuning import Tuning
from service.jobs.worker import Worker
from service.jobs.worker_names import is_dead, own_name
from service.settings import Settings
from service.telemetry.loggers import Logger
from tuner.errors import TunerError

RunSet = Callable[[UUID, threading.Event], bool]
"""Runs a set until it is over or the event is set; returns False if another process runs it, or one of its jobs."""
_EXPECTED = (CodegenError, HalError, TunerError, OtherVersion)
_log = Logger(__name__)


def run_set(tuning: Tuning, settings: Settings, set_id: UUID, stop: threading.Event) -> bool:
    """Run a set until it is over or the event is set; a set that cannot continue ends with the reason.

    Returns False if another process runs it, or one of its jobs: the caller tries again after a pause.

    Raises:
        StorageError: artifacts cannot be written; the set continues later.
        DatabaseError: the database does not answer; the set continues later.
    """
    _log.info("set of shapes begins", set=str(set_id))
    try:
        with tuning.database.read() as session:
            row = find_set(session, set_id)
        if row.status == "active":
            worker = Worker(tuning.database, settings, stop)
            with leased(tuning.database, set_id, settings.lease_s, stop):
                try:
                    _run(tuning, row, worker, stop)
                except _EXPECTED as error:
                    _fail(tuning.database, set_id, worker.name, f"{type(error).__name__}: {error}")
    except (Conflict, LeaseLost, NotFound) as error:
        _log.info("set of shapes is left", set=str(set_id), why=str(error))
        return False
    return True


def _run(tuning: Tuning, row: ShapeSet, worker: Worker, stop: threading.Event) -> None:
    asked = spec_of_row(row.device)
    with tuning.opened(asked, stop.is_set, f"set of shapes {row.id}") as opened:
        if opened is None:
            return
        with tuning.compilers() as pool, tuning.accepting(opened[0].spec, opened[1]) as acceptor:
            state = SetState(tuning, row.id, *opened, pool, worker, stop, acceptor)
            try:
                search(state)
                compare(state)
            finally:
                state.note_spent()
    if not stop.is_set():
        with tuning.database.write() as session:
            shape_sets.check_own(session, row.id, worker.name)
            shape_sets.finish(session, row.id, "succeeded")
        _log.info("set of shapes is over", set=str(row.id))


def _fail(database: Database, set_id: UUID, holder: str, error: str) -> None:
    _log.warning("set of shapes cannot go on", set=str(set_id), error=error)
    with database.write() as session:
        shape_sets.check_own(session, set_id, holder)
        if (found := shape_sets.get(session, set_id)) is not None and shape_sets.finish(session, set_id, "cancelled"):
            shape_sets.fail(session, set_id, error)
            for member in found.members:
                leases.request_cancel(session, member.job_id)


@contextmanager
def leased(database: Database, set_id: UUID, lease_s: float, stop: threading.Event) -> Generator[None]:
    """Hold the lease of a set within the context; `stop` is set if another process took it meanwhile.

    Raises:
        Conflict: another process runs the set.
    """
    holder = own_name()

    def claim() -> str | None:
        with database.write() as session:
            return shape_sets.claim(session, set_id, holder, lease_s, is_dead, utc_now())

    def extend() -> bool:
        if claim() is not None:
            stop.set()
        return not stop.is_set()

    if (other := claim()) is not None:
        raise Conflict(f"set of shapes {set_id} is run by {other}; wait for it, or stop it there")
    try:
        with repeated(extend, lease_s / 4, f"lease of set {set_id}"):
            yield
    finally:
        with database.write() as session:
            shape_sets.give_up(session, set_id, holder, utc_now())
