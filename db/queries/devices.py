"""Queries on devices, their restrictions and their quarantines."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from db.queries.insert import insert_missing
from db.schema.quarantine import DeviceQuarantine
from db.schema.target import Device, DeviceRestriction
from db.values import JsonObject, utc_now


def upsert(
    session: Session, *, slug: str, driver: str, name: str, kind: str, emulates: str | None, spec: JsonObject
) -> Device:
    """Insert the device of that slug and driver, or update its other columns."""
    values = {"slug": slug, "driver": driver, "name": name, "kind": kind, "emulates": emulates, "spec": spec}
    insert_missing(session, Device, values)
    device = session.scalars(select(Device).where(Device.slug == slug, Device.driver == driver)).one()
    device.name, device.kind, device.emulates, device.spec = name, kind, emulates, spec
    return device


def add_missing(
    session: Session, *, slug: str, driver: str, name: str, kind: str, emulates: str | None, spec: JsonObject
) -> Device:
    """Insert the device of that slug and driver; an existing one is left unchanged."""
    values = {"slug": slug, "driver": driver, "name": name, "kind": kind, "emulates": emulates, "spec": spec}
    insert_missing(session, Device, values)
    return session.scalars(select(Device).where(Device.slug == slug, Device.driver == driver)).one()


def find(session: Session, slug: str, driver: str) -> Device | None:
    """Return the device of that slug and driver."""
    return session.scalars(select(Device).where(Device.slug == slug, Device.driver == driver)).one_or_none()


def latest(session: Session, slug: str) -> Device | None:
    """Return the newest row of that slug: its latest driver."""
    return session.scalars(select(Device).where(Device.slug == slug).order_by(Device.id.desc()).limit(1)).first()


def list_all(session: Session) -> list[Device]:
    """Return all devices, by slug, older drivers first."""
    return list(session.scalars(select(Device).order_by(Device.slug, Device.id)))


def restrictions(session: Session, slug: str, driver: str, version: str) -> list[DeviceRestriction]:
    """Return the restrictions of a device under a driver and a version of this program, oldest first."""
    query = select(DeviceRestriction).join(Device, Device.id == DeviceRestriction.device_id)
    query = query.where(Device.slug == slug, Device.driver == driver, DeviceRestriction.version == version)
    return list(session.scalars(query.order_by(DeviceRestriction.id)))


def restrict(session: Session, device_id: int, version: str, restrictions: Iterable[Mapping[str, str]]) -> None:
    """Replace the restrictions of a device by these, each with its name, kernel_check and reason."""
    session.execute(delete(DeviceRestriction).where(DeviceRestriction.device_id == device_id))
    session.add_all(DeviceRestriction(device_id=device_id, version=version, **each) for each in restrictions)


def quarantine(
    session: Session,
    *,
    host: str,
    slug: str,
    reason: str,
    job_id: UUID | None,
    seconds: float,
    now: datetime | None = None,
) -> DeviceQuarantine:
    """Quarantine a device of a host for so many seconds from now; replaces an earlier quarantine."""
    import db.schema.job  # pyright: ignore[reportUnusedImport]  # noqa: F401 (the table of a foreign key)

    release(session, slug, host)
    since = now or utc_now()
    row = DeviceQuarantine(
        host=host, slug=slug, reason=reason, job_id=job_id, since=since, until=since + timedelta(seconds=seconds)
    )
    session.add(row)
    session.flush()
    return row


def quarantined(session: Session, host: str | None = None, now: datetime | None = None) -> list[DeviceQuarantine]:
    """Return the active quarantines of a host, or of all, by device and host."""
    query = select(DeviceQuarantine).where(DeviceQuarantine.until > (now or utc_now()))
    if host is not None:
        query = query.where(DeviceQuarantine.host == host)
    return list(session.scalars(query.order_by(DeviceQuarantine.slug, DeviceQuarantine.host)))


def release(session: Session, slug: str, host: str | None = None) -> int:
    """Release a device, on one host or on all; return the number of quarantines that ended."""
    query = delete(DeviceQuarantine).where(DeviceQuarantine.slug == slug)
    if host is not None:
        query = query.where(DeviceQuarantine.host == host)
    return len(session.scalars(query.returning(DeviceQuarantine.id)).all())
