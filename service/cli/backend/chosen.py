"""Which backend the commands of this process work with: --server, XETUNE_SERVER, or the database of this machine."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from service.cli.backend.protocol import Backend
from service.cli.stored import stored
from service.errors import BadRequest

if TYPE_CHECKING:
    from service.cli.backend.remote import Remote

WITH_SERVER = frozenset({"tune", "jobs", "kernels", "export", "import", "keys", "audit", "shapes"})
"""Commands that work with a service too."""
_SERVER: ContextVar[str | None] = ContextVar("server", default=None)


def choose(server: str | None, command: str | None, *, is_option: bool) -> None:
    """Let a command work with a service. Where only the variable names it, other commands go on without.

    Raises:
        BadRequest: the option is given to a command that works on this machine alone.
    """
    works = command in WITH_SERVER
    if server and is_option and command is not None and not works:
        named = ", ".join(sorted(WITH_SERVER))
        raise BadRequest(f"--server: `xetune {command}` works on this machine alone; with a service work {named}")
    _SERVER.set(server if works else None)


def server() -> str | None:
    """The service that the command works with; None of the database of this machine."""
    return _SERVER.get() or None


@contextmanager
def backend() -> Generator[Backend]:
    """Open what the command works with.

    Raises:
        InvalidSettings, DatabaseError: the database of this machine cannot be used.
        Unavailable: the address of the service cannot be.
    """
    if (url := server()) is not None:
        with of_service(url) as remote:
            yield remote
        return
    # Imported here, as below: each brings libraries that the other does without.
    from service.cli.backend.local import Local

    with stored() as store:
        yield Local(store)


@contextmanager
def of_service(url: str) -> Generator["Remote"]:
    """Open the service at an address.

    Raises:
        Unavailable: the address cannot be.
    """
    from service.cli.backend.remote import Remote

    remote = Remote(url)
    try:
        yield remote
    finally:
        remote.close()
