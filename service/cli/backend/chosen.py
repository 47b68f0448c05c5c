"""Opens what a command works with: a service, or the database of this machine."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from service.cli.backend.choice import server
from service.cli.backend.protocol import Backend

if TYPE_CHECKING:
    from service.cli.backend.remote import Remote
    from service.cli.timetable.protocol import Timetable


@contextmanager
def backend() -> Generator[Backend]:
    """Open what the command works with.

    Raises:
        InvalidSettings, DatabaseError: the database of this machine cannot be used.
        BadRequest: the address of the service cannot be.
    """
    if (url := server()) is not None:
        with of_service(url) as remote:
            yield remote
        return
    # Imported here, as below: each brings libraries that the other does without.
    from service.cli.backend.local import Local
    from service.cli.backend.stored import stored

    with stored() as store:
        yield Local(store)


@contextmanager
def timetable() -> Generator["Timetable"]:
    """Open the schedules and windows of what the command works with; raises as `backend`."""
    if (url := server()) is not None:
        from service.cli.timetable.remote import RemoteTimetable

        with of_service(url) as remote:
            yield RemoteTimetable(remote)
        return
    from service.cli.backend.stored import stored
    from service.cli.timetable.local import LocalTimetable

    with stored() as store:
        yield LocalTimetable(store)


@contextmanager
def existing(url: str | None) -> Generator[Backend | None]:
    """Open the service at an address, or the database of this machine; None where that was never made.

    Raises:
        InvalidSettings, DatabaseError: the database of this machine cannot be used.
        BadRequest: the address cannot be.
    """
    if url is not None:
        with of_service(url, attempts=1) as remote:
            yield remote
        return
    from service.cli.backend.local import Local
    from service.cli.backend.stored import stored_before

    with stored_before() as store:
        yield None if store is None else Local(store)


@contextmanager
def of_service(url: str, attempts: int | None = None) -> Generator["Remote"]:
    """Open the service at an address; a request is sent `attempts` times at most, else as often as the client does.

    Raises:
        BadRequest: the address cannot be.
    """
    from service.cli.backend.remote import Remote

    remote = Remote(url, attempts)
    try:
        yield remote
    finally:
        remote.close()
