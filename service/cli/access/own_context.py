"""The database, artifacts and devices of this machine, as a command of its user uses them."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING

from service.cli.import_policy import late_asyncio

with late_asyncio():
    import_module("sqlalchemy.dialects.sqlite")  # before all that imports it

from db.migrate import prepare
from db.session import open_database, sqlite_path
from db.values import utc_now
from service.cli.printing.output import ERRORS, print_line
from service.http.context import Context
from service.settings import Settings, read_settings, unknown_settings
from service.telemetry.loggers import configure_late

if TYPE_CHECKING:
    from hal import ListedDevice
    from hal.probe.probe import Probes

_UNLIMITED = 2**40
_A_DAY_S = 86_400
_OF_OTHERS = ("max_import_bytes", "xray_memory_bytes")
"""Limits on what others send; a command is of the user."""


@contextmanager
def own_context(probes: "Callable[[], Probes] | None" = None) -> Generator[Context]:
    """Open the context of a command for this machine; a missing database is created and migrated.

    `probes` returns the results of probes of the drivers that the command started.

    Raises:
        InvalidSettings, DatabaseError: the database of this machine cannot be used.
    """
    settings = command_settings()
    database = prepare(settings.database_url, create=True)
    limits = dict.fromkeys(_OF_OTHERS, _UNLIMITED)
    # A sampler runs as the user who names it.
    own = {"samplers": "*", "xray_wall_s": _A_DAY_S, "xray_cpu_s": _A_DAY_S, **limits}
    context = Context(settings.model_copy(update=own), database, _lister(settings, probes), utc_now)
    try:
        yield context
    finally:
        context.close()


def _lister(settings: Settings, probes: "Callable[[], Probes] | None") -> "Callable[[], Sequence[ListedDevice]] | None":
    if probes is None:
        return None
    from service.api.toolchain.driver import list_with_simulated

    return partial(list_with_simulated, settings, probes)


def has_database() -> bool:
    """Return False if the database of this machine is a file that does not exist."""
    path = sqlite_path(open_database(read_settings().database_url).engine)
    return path is None or path.exists()


def command_settings() -> Settings:
    """Return the settings of a command, whose log holds only warnings: it prints the rest itself.

    Raises:
        InvalidSettings: a setting is invalid.
    """
    settings = read_settings()
    configure_late(settings.model_copy(update={"log_level": "warning"}))
    _tell_unknown()
    return settings


@cache
def _tell_unknown() -> None:
    """Warn once of variables that no setting has."""
    for sentence in unknown_settings():
        print_line(f"warning: {sentence}", ERRORS)
