"""Queries of this machine's drivers that run while a command imports what it needs."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from service.cli.access.chosen_server import server

if TYPE_CHECKING:
    from hal.probe.probe import Probes


@contextmanager
def asking_drivers() -> "Generator[Callable[[], Probes] | None]":
    """Start to query this machine's drivers, which answer after a quarter of a second; the function waits for the
    answers. None if the command works with a service, which has its own devices.
    """
    if server() is not None:
        yield None
        return
    from hal.probe.probe import probing

    with probing() as probes:
        yield probes
