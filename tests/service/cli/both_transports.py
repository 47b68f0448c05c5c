"""Commands run on the local database and on a service of the same database."""

from collections.abc import Callable

Run = Callable[..., tuple[object, str, str]]
"""`xetune` with some arguments: its status, standard output and errors."""


def both(run: Run, *arguments: str) -> tuple[tuple[object, str, str], tuple[object, str, str]]:
    """Run a command on the database and on the service; return both outputs."""
    return run(*arguments), run("--server", "http://testserver", *arguments)
