"""Shell completion of devices, presets, jobs and shape sets, within a time limit.

Options name these functions, so importing this module imports nothing of what they ask.
"""

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from service.cli.access.opening import Access

Choices = list[tuple[str, str]]
"""Values, each with a description."""

_BOUND_S = 2.0
_MOST = 50
_EVERYWHERE: Choices = [
    ("auto", "the first that runs kernels"),
    ("cpu", "this CPU's own kernels"),
    ("opencl-cpu", "OpenCL on the CPU"),
]


def devices(context: typer.Context, incomplete: str) -> Choices:
    """Complete devices that are known without a probe, and those of the service."""
    from hal import XE_DEVICES
    from service.cli.access.connection import of_service

    del incomplete
    table = [(row.spec.id, row.spec.name) for row in XE_DEVICES]
    known = [*_EVERYWHERE, *table]
    if (url := _url(context)) is None:
        return known

    def ask() -> Choices:
        with of_service(url, attempts=1) as client:
            return [(device.id, device.name) for device in client.devices().devices]

    named = {name for name, _ in known}
    return known + [one for one in _within_bound(ask) if one[0] not in named]


def presets(incomplete: str) -> Choices:
    """Complete models whose layers form a set of shapes."""
    from tuner.shapes.models import MODELS

    del incomplete
    return [(name, f"layers of {model.card}") for name, model in MODELS.items()]


def jobs(context: typer.Context, incomplete: str) -> Choices:
    """Complete the newest jobs."""
    from service.cli.tuning.job_lists import newest
    from service.schemas import to_problem

    del incomplete

    def ask(access: "Access") -> Choices:
        found = newest(access, (), None, _MOST).jobs
        return [(str(job.id), f"{job.status.value}, {to_problem(job.problem)} on {job.device}") for job in found]

    return _asked(context, ask)


def sets(context: typer.Context, incomplete: str) -> Choices:
    """Complete the newest sets of shapes."""
    from service.cli.tuning.shape_tables import SHAPE_SETS

    del incomplete

    def ask(access: "Access") -> Choices:
        found = access.read(SHAPE_SETS, {"limit": _MOST}).shape_sets
        return [(str(one.id), f"{one.status}, {one.source} on {one.device}") for one in found]

    return _asked(context, ask)


def _url(context: typer.Context) -> str | None:
    """Return the URL of --server or its variable: during completion no command has run that would set it."""
    named = context.find_root().params.get("server")
    return named if isinstance(named, str) and named else None


def _asked(context: typer.Context, ask: "Callable[[Access], Choices]") -> Choices:
    """Return what the service or the database of this machine lists; nothing if that database does not exist."""
    from service.cli.access.opening import open_access_of
    from service.cli.access.own_context import has_database

    def run() -> Choices:
        url = _url(context)
        if url is None and not has_database():
            return []
        with open_access_of(url, attempts=1) as access:
            return ask(access)

    return _within_bound(run)


def _within_bound(ask: Callable[[], Choices]) -> Choices:
    """Return the completions that arrive within the time limit; none on an error."""
    from db.errors import DatabaseError
    from service.errors import ServiceError
    from service.settings import InvalidSettings
    from xetune_client import ClientError

    found: Choices = []

    def run() -> None:
        # A shell cannot show errors during completion; the command itself will.
        with suppress(ClientError, DatabaseError, InvalidSettings, ServiceError):
            found.extend(ask())

    asking = threading.Thread(target=run, daemon=True)
    asking.start()
    asking.join(_BOUND_S)
    return list(found)
