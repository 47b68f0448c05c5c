"""Storage of devices."""

from typing import Any

from sqlalchemy.orm import Session

from db.queries import devices
from db.schema import Device
from hal import DeviceSpec
from service.row_mapping import spec_to_json


def store_device(session: Session, spec: DeviceSpec) -> Device:
    """Return the row of a device under its driver, with its facts updated."""
    return devices.upsert(session, **_columns(spec, spec.driver))


def store_missing_device(session: Session, spec: DeviceSpec, driver: str | None) -> Device:
    """Return the row of a device under a driver; one that is stored keeps its facts."""
    return devices.add_missing(session, **_columns(spec, driver))


def _columns(spec: DeviceSpec, driver: str | None) -> dict[str, Any]:
    return {
        "slug": spec.id,
        "driver": driver or "",
        "name": spec.name,
        "kind": spec.kind.value,
        "emulates": spec.emulates,
        "spec": spec_to_json(spec),
    }
