"""Process heartbeat: others see when a process is gone."""

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from enum import StrEnum
from importlib.metadata import version

import structlog

from db.errors import DatabaseError
from db.queries import heartbeats
from db.schema import Presence
from db.schema.base import utc_now
from db.session import Database
from service.api.devices.quarantine import this_host

_FORGOTTEN = timedelta(days=1)
_MISSED = 4  # beats that may fail to come
_log = structlog.stdlib.get_logger(__name__)


class Role(StrEnum):
    """What a process does."""

    WORKER = "worker"
    SCHEDULER = "scheduler"


def is_alive(presence: Presence, now: datetime, heartbeat_s: float) -> bool:
    """Whether a process said lately that it is there; the clocks of hosts may differ by some beats."""
    return now - presence.seen_at <= timedelta(seconds=_MISSED * heartbeat_s)


@contextmanager
def present(
    database: Database, role: Role, name: str, heartbeat_s: float, now: Callable[[], datetime] = utc_now
) -> Generator[None]:
    """As long as the block lasts, a thread says every `heartbeat_s` seconds that this process is there.

    A database that does not answer is tried again with the next beat.
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
        with suppress(DatabaseError), database.write() as session:  # else its row grows old
            heartbeats.leave(session, role.value, name)


def _note(database: Database, role: Role, name: str, now: datetime) -> None:
    try:
        with database.write() as session:
            heartbeats.note(session, role.value, name, host=this_host(), version=version("xetune"), now=now)
            heartbeats.forget(session, now - _FORGOTTEN)
    except DatabaseError as error:
        _log.warning("presence not noted", role=role.value, error=str(error))
