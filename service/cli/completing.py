"""What a shell completes: devices, presets, jobs, sets and kernels, as far as they are known within a bound of time."""

import threading
from collections.abc import Callable
from contextlib import suppress

import typer

from db.errors import DatabaseError
from hal import XE_DEVICES
from service.cli.backend.chosen import existing, of_service
from service.cli.backend.protocol import Backend
from service.errors import ServiceError
from service.schemas import to_problem
from service.settings import InvalidSettings
from tuner.shapes.presets import MODELS

Known = list[tuple[str, str]]
"""Values, each with what it is in words."""

_BOUND_S = 2.0
_MOST = 50
_EVERYWHERE: Known = [
    ("auto", "the first that runs kernels"),
    ("cpu", "this CPU's own kernels"),
    ("opencl-cpu", "OpenCL on the CPU"),
]


def devices(context: typer.Context, incomplete: str) -> Known:
    """Devices that need no probe to be known, and those of the service."""
    del incomplete
    table = [(row.spec.id, row.spec.name) for row in XE_DEVICES]
    known = [*_EVERYWHERE, *table]
    if (url := _url(context)) is None:
        return known

    def ask() -> Known:
        with of_service(url, attempts=1) as remote:
            return [(device.id, device.name) for device in remote.list_devices().devices]

    named = {name for name, _ in known}
    return known + [one for one in _within_bound(ask) if one[0] not in named]


def presets(incomplete: str) -> Known:
    """Models whose layers make a set of shapes."""
    del incomplete
    return [(name, f"layers of {model.card}") for name, model in MODELS.items()]


def jobs(context: typer.Context, incomplete: str) -> Known:
    """The newest jobs."""
    del incomplete

    def ask(backing: Backend) -> Known:
        found = backing.list_jobs((), None, _MOST).jobs
        return [(str(job.id), f"{job.status.value}, {to_problem(job.problem)} on {job.device}") for job in found]

    return _asked(context, ask)


def sets(context: typer.Context, incomplete: str) -> Known:
    """The newest sets of shapes."""
    del incomplete

    def ask(backing: Backend) -> Known:
        return [(str(one.id), f"{one.status}, {one.source} on {one.device}") for one in backing.list_sets(_MOST)]

    return _asked(context, ask)


def _url(context: typer.Context) -> str | None:
    """The service that --server or its variable names: while a shell completes, no command has run that would know."""
    named = context.find_root().params.get("server")
    return named if isinstance(named, str) and named else None


def _asked(context: typer.Context, ask: Callable[[Backend], Known]) -> Known:
    """What the database or service tells; nothing where there is none."""

    def run() -> Known:
        with existing(_url(context)) as backing:
            return [] if backing is None else ask(backing)

    return _within_bound(run)


def _within_bound(ask: Callable[[], Known]) -> Known:
    """What is told before a person would wait too long; nothing where it fails."""
    found: Known = []

    def run() -> None:
        # A shell has no place for errors; the command itself will tell.
        with suppress(DatabaseError, InvalidSettings, ServiceError):
            found.extend(ask())

    asking = threading.Thread(target=run, daemon=True)
    asking.start()
    asking.join(_BOUND_S)
    return list(found)
