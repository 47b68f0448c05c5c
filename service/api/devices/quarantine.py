"""Quarantined devices: they get no jobs until they are released or the quarantine ends."""

import socket

from sqlalchemy.orm import Session

from db.queries import quarantines
from db.schema import DeviceQuarantine
from service.api.devices.schemas import QuarantineOut
from service.errors import Conflict


def this_host() -> str:
    """The name of this machine, which its devices are kept under."""
    return socket.gethostname()


def listed(session: Session) -> list[QuarantineOut]:
    """All that are kept from jobs now."""
    return [describe(row) for row in quarantines.active(session)]


def describe(row: DeviceQuarantine) -> QuarantineOut:
    """One of them as the wire says it."""
    return QuarantineOut(
        device=row.slug, host=row.host, reason=row.reason, job_id=row.job_id, since=row.since, until=row.until
    )


def check_free(session: Session, device: str) -> None:
    """Return when a device of this machine may have jobs.

    Raises:
        Conflict: rule `device-quarantined`; says why, until when, and how to release it.
    """
    for row in quarantines.active(session, this_host()):
        if row.slug == device:
            raise Conflict(
                f"{sentence(describe(row))}; `xetune devices release {device}` lets it have jobs again",
                rule="device-quarantined",
            )


def sentence(kept: QuarantineOut) -> str:
    """What a person should know of it."""
    return (
        f"{kept.device} on {kept.host} gets no jobs until {kept.until:%Y-%m-%d %H:%M} UTC, "
        f"since it kept failing at {kept.since:%Y-%m-%d %H:%M} UTC ({kept.reason})"
    )
