"""Queries on the restrictions of devices."""

from collections.abc import Iterable, Mapping

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from db.schema.restriction import DeviceRestriction
from db.schema.target import Device


def of_device(session: Session, slug: str, driver: str, version: str) -> list[DeviceRestriction]:
    """Return the restrictions of a device under a driver and a version of this program, oldest first."""
    query = select(DeviceRestriction).join(Device, Device.id == DeviceRestriction.device_id)
    query = query.where(Device.slug == slug, Device.driver == driver, DeviceRestriction.version == version)
    return list(session.scalars(query.order_by(DeviceRestriction.id)))


def replace(session: Session, device_id: int, version: str, restrictions: Iterable[Mapping[str, str]]) -> None:
    """Replace the restrictions of a device by these, each with its name, kernel_check and reason."""
    session.execute(delete(DeviceRestriction).where(DeviceRestriction.device_id == device_id))
    session.add_all(DeviceRestriction(device_id=device_id, version=version, **each) for each in restrictions)
