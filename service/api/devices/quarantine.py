"""Quarantined devices: they get no jobs until they are released or the quarantine ends."""

import socket

from sqlalchemy.orm import Session

from db.queries import quarantines
from db.schema.quarantine import DeviceQuarantine
from service.api.audit.log import record
from service.api.devices.schemas import QuarantineOut
from service.api.keys.caller import Caller
from service.errors import Conflict, NotFound


def this_host() -> str:
    """Return the name of this machine, under which its devices are stored."""
    return socket.gethostname()


def listed(session: Session) -> list[QuarantineOut]:
    """Return all devices in quarantine."""
    return [describe(row) for row in quarantines.active(session)]


def describe(row: DeviceQuarantine) -> QuarantineOut:
    """Convert a row to its response model."""
    return QuarantineOut(
        device=row.slug, host=row.host, reason=row.reason, job_id=row.job_id, since=row.since, until=row.until
    )


def release(session: Session, device: str, host: str | None, by: Caller) -> None:
    """Release a device on one host, or on all for None, with an event of the audit log.

    Raises:
        NotFound: rule `not-quarantined`.
    """
    if not quarantines.release(session, device, host):
        where = "" if host is None else f" on {host}"
        message = f"{device}{where} is not in quarantine; `xetune devices` lists what is"
        raise NotFound(message, rule="not-quarantined")
    record(session, by, "device.release", device)


def check_free(session: Session, device: str) -> None:
    """Check that a device of this machine is not in quarantine.

    Raises:
        Conflict: rule `device-quarantined`; says why, until when, and how to release it.
    """
    for row in quarantines.active(session, this_host()):
        if row.slug == device:
            raise Conflict(
                f"{describe(row).sentence()}; `xetune devices release {device}` lets it have jobs again",
                rule="device-quarantined",
            )
