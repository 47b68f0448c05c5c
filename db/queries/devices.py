"""Queries on devices."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.queries.insert import insert_missing
from db.schema.target import Device
from db.values import JsonObject


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
