"""Commands run on the database of this machine, and on a service that has the same one."""

from collections.abc import Callable

Run = Callable[..., tuple[object, str, str]]
"""`xetune` with some arguments: its status, standard output and errors."""


def both(run: Run, *arguments: str) -> tuple[tuple[object, str, str], tuple[object, str, str]]:
    """What a command says of the database, and of the service."""
    return run(*arguments), run("--server", "http://testserver", *arguments)
