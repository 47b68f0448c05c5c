"""Execution of sets of shapes by workers: errors that end a set early are stored with it."""

import threading
from collections.abc import Callable
from uuid import UUID

import structlog

from codegen import CodegenError
from db.queries import shape_sets
from db.queries.cluster import leases
from db.session import Database
from hal import HalError
from service.api.shapes.running import SetRunner
from service.cluster.executor import Executor
from service.errors import Conflict, NotFound
from service.jobs.tuning import Tuning
from service.settings import Settings
from tuner.errors import TunerError

RunSet = Callable[[UUID, threading.Event], None]
"""Runs a set until it is over or the event is set."""
_EXPECTED = (CodegenError, HalError, TunerError)
_log = structlog.stdlib.get_logger(__name__)


def sets_at(
    settings: Settings, tuning_of: Callable[[Database, Executor], Tuning]
) -> Callable[[Database, Executor], RunSet]:
    """Return the function that runs a set at an executor."""

    def at(database: Database, executor: Executor) -> RunSet:
        return lambda set_id, interrupt: run_set(tuning_of(database, executor), settings, set_id, interrupt)

    return at


def run_set(tuning: Tuning, settings: Settings, set_id: UUID, interrupt: threading.Event) -> None:
    """Run a set until it is over or the event is set; a set that cannot continue ends with the reason.

    Raises:
        StorageError: artifacts cannot be written; the set continues later.
        DatabaseError: the database does not answer; the set continues later.
    """
    runner, ended = SetRunner(tuning, settings, set_id, alone=False), threading.Event()

    def watch() -> None:
        while not ended.is_set():
            if interrupt.wait(0.5):
                runner.stop()
                return

    watcher = threading.Thread(target=watch, name=f"set of shapes {set_id}", daemon=True)
    watcher.start()
    _log.info("set of shapes begins", set=str(set_id))
    try:
        over = runner.run()
        _log.info("set of shapes ends", set=str(set_id), over=over)
    except (Conflict, NotFound) as error:
        _log.info("set of shapes is left", set=str(set_id), why=str(error))
    except _EXPECTED as error:
        _fail(tuning.database, set_id, f"{type(error).__name__}: {error}")
    finally:
        ended.set()
        watcher.join()


def _fail(database: Database, set_id: UUID, error: str) -> None:
    _log.warning("set of shapes cannot go on", set=str(set_id), error=error)
    with database.write() as session:
        if (found := shape_sets.get(session, set_id)) is not None and shape_sets.finish(session, set_id, "cancelled"):
            shape_sets.fail(session, set_id, error)
            for member in found.members:
                leases.request_cancel(session, member.job_id)
