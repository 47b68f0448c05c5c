"""Process heartbeat: others see when a process is gone."""

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from enum import StrEnum
from importlib.metadata import version

from db.errors import DatabaseError
from db.queries.cluster import heartbeats
from db.schema.presence import Presence
from db.session import Database
from db.values import utc_now
from service.api.devices.quarantine import this_host
from service.telemetry.loggers import Logger

_FORGOTTEN = timedelta(days=1)
_MISSED = 4  # tolerated number of missed beats
_log = Logger(__name__)


class Role(StrEnum):
    """Role of a process."""

    WORKER = "worker"
    SCHEDULER = "scheduler"


def is_alive(presence: Presence, now: datetime, heartbeat_s: float) -> bool:
    """Return whether a process sent a heartbeat recently; the clocks of hosts may differ by some beats."""
    return now - presence.seen_at <= timedelta(seconds=_MISSED * heartbeat_s)


@contextmanager
def repeated(action: Callable[[], bool], seconds: float, name: str) -> Generator[None]:
    """Call `action` every so many seconds from a thread while the block runs, until it returns False.

    If the database does not answer, it is called again next time.
    """
    ended = threading.Event()

    def run() -> None:
        while not ended.wait(seconds):
            try:
                if not action():
                    return
            except DatabaseError as error:
                _log.warning(f"{name} not extended", error=str(error))

    thread = threading.Thread(target=run, name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@contextmanager
def present(
    database: Database, role: Role, name: str, heartbeat_s: float, now: Callable[[], datetime] = utc_now
) -> Generator[None]:
    """Send a heartbeat every `heartbeat_s` seconds from a thread while the block runs.

    If the database does not answer, it is retried with the next beat.
    """
    ended = threading.Event()

    def beat() -> None:
        while True:
            _note(database, role, name, now())
            if ended.wait(heartbeat_s):
                return

    thread = threading.Thread(target=beat, name=f"{role.value} presence", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        with suppress(DatabaseError), database.write() as session:  # otherwise its row becomes stale
            heartbeats.leave(session, role.value, name)


def _note(database: Database, role: Role, name: str, now: datetime) -> None:
    try:
        with database.write() as session:
            heartbeats.note(session, role.value, name, host=this_host(), version=version("xetune"), now=now)
            heartbeats.forget(session, now - _FORGOTTEN)
    except DatabaseError as error:
        _log.warning("presence not noted", role=role.value, error=str(error))
