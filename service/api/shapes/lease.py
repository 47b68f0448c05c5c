"""Lease of a set: one process at a time runs it."""

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from uuid import UUID

import structlog

from db.errors import DatabaseError
from db.queries import shape_sets
from db.schema.base import utc_now
from db.session import Database
from service.errors import Conflict
from service.jobs.worker_names import (
    is_dead,
    own_name,
)

_log = structlog.stdlib.get_logger(__name__)


@contextmanager
def leased(database: Database, set_id: UUID, lease_s: float, stop: Callable[[], None]) -> Generator[None]:
    """Hold the lease within the context; `stop` is called if another process took it meanwhile.

    Raises:
        Conflict: another process runs the set.
    """
    holder = own_name()
    if (other := _claim(database, set_id, holder, lease_s)) is not None:
        raise Conflict(f"set of shapes {set_id} is run by {other}; wait for it, or stop it there")
    ended = threading.Event()

    def beat() -> None:
        while not ended.wait(lease_s / 4):
            try:
                if _claim(database, set_id, holder, lease_s) is not None:
                    stop()
                    return
            except DatabaseError as error:
                _log.warning("lease of a set not extended", set=str(set_id), error=str(error))

    heart = threading.Thread(target=beat, name="heartbeat of a set", daemon=True)
    heart.start()
    try:
        yield
    finally:
        ended.set()
        heart.join()
        with database.write() as session:
            shape_sets.give_up(session, set_id, holder, utc_now())


def _claim(database: Database, set_id: UUID, holder: str, lease_s: float) -> str | None:
    with database.write() as session:
        return shape_sets.claim(session, set_id, holder, lease_s, is_dead, utc_now())
