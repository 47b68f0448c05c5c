"""Which devices are in a window of maintenance, and until when."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog
from sqlalchemy.orm import Session

from db.queries import maintenance
from db.schema import MaintenanceWindow
from hal import XE_DEVICES
from hal.facts.listing import OPENCL_CPU_ID
from hal.opencl.emulation import PREFIX
from service.api.schedules.cron import (
    latest_due,
    parse_cron,
)
from service.errors import BadRequest, Conflict

_log = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Closure:
    """A window that is open: no job runs on `device` (None: on any) until `until`."""

    name: str
    device: str | None
    until: datetime

    def holds(self, device: str) -> bool:
        """Whether a device is in it; the CPU's OpenCL driver takes the GPUs along that it stands in for."""
        of_cpu = self.device == OPENCL_CPU_ID and device.startswith(PREFIX)
        return self.device is None or self.device == device or of_cpu


def closures(session: Session, now: datetime) -> list[Closure]:
    """The windows that are open now."""
    return list(_open(maintenance.possible(session, now), now))


def closed_devices(open_now: Iterable[Closure]) -> frozenset[str] | None:
    """Slugs that no job may run on; None: on no device at all."""
    slugs: set[str] = set()
    for closure in open_now:
        if closure.device is None:
            return None
        slugs.add(closure.device)
        if closure.device == OPENCL_CPU_ID:
            slugs |= {f"{PREFIX}{row.spec.id}" for row in XE_DEVICES}
    return frozenset(slugs)


def check_open(session: Session, device: str, now: datetime) -> None:
    """Return when jobs may run on a device.

    Raises:
        Conflict: rule `maintenance`; says which window, until when, and how to end it.
    """
    for closure in closures(session, now):
        if closure.holds(device):
            raise Conflict(
                f"{device} gets no jobs until {closure.until:%Y-%m-%d %H:%M} UTC, since it is in the window of "
                f"maintenance {closure.name!r}; wait, or `xetune maintenance delete` ends it",
                rule="maintenance",
            )


def _open(windows: Iterable[MaintenanceWindow], now: datetime) -> Iterator[Closure]:
    for window in windows:
        until = open_until(window, now)
        if until is not None:
            yield Closure(window.name, window.device, until)


def open_until(window: MaintenanceWindow, moment: datetime) -> datetime | None:
    """When a window ends that is open at that moment; None when it is not."""
    if window.starts_at is not None and window.ends_at is not None:
        return window.ends_at if window.starts_at <= moment < window.ends_at else None
    assert window.cron is not None
    assert window.timezone is not None
    assert window.duration_s is not None
    length = timedelta(seconds=window.duration_s)
    try:
        cron = parse_cron(window.cron, window.timezone)
    except BadRequest as error:  # its zone is not known any more
        _log.warning("window of maintenance cannot be read", window=window.name, reason=error.detail)
        return None
    begun = latest_due(cron, moment - length + timedelta(microseconds=1), moment)
    return None if begun is None else begun + length
