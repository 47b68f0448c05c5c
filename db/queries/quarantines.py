"""Queries on the quarantines of devices."""

from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from db.schema.quarantine import DeviceQuarantine
from db.values import utc_now


def begin(
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


def active(session: Session, host: str | None = None, now: datetime | None = None) -> list[DeviceQuarantine]:
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
