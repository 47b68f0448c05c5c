"""The service that the command of this process works with: --server, XETUNE_SERVER, or none."""

from contextvars import ContextVar

import typer

from service.cli.commands import COMMANDS

_SERVER: ContextVar[str | None] = ContextVar("server", default=None)


class LocalCommand(Exception):
    """--server was given to a command that works on this machine only."""


def choose(server: str | None, command: str | None, *, is_option: bool) -> None:
    """Let a command work with a service; XETUNE_SERVER is ignored by commands that work on this machine only.

    Raises:
        LocalCommand: --server is given to a command that works on this machine only.
    """
    known = None if command is None else COMMANDS.get(command)
    works = known is not None and known.with_server
    if server and is_option and known is not None and not works:
        named = ", ".join(sorted(name for name, other in COMMANDS.items() if other.with_server))
        raise LocalCommand(f"--server: `xetune {command}` works on this machine only; with a service work {named}")
    if server and not is_option and known is not None and known.of_database:
        typer.echo(f"xetune {command} works with the database of this machine: XETUNE_SERVER is not used", err=True)
    _SERVER.set(server if works else None)


def server() -> str | None:
    """Return the URL of the service that the command works with; None for the database of this machine."""
    return _SERVER.get() or None
