"""Storage of devices."""

from sqlalchemy.orm import Session

from db.queries import devices
from db.schema import Device
from hal import DeviceSpec
from service.row_mapping import spec_to_json


def store_device(session: Session, spec: DeviceSpec) -> Device:
    """Return the row of a device under its driver, with its facts updated."""
    return devices.upsert(
        session,
        slug=spec.id,
        driver=spec.driver or "",
        name=spec.name,
        kind=spec.kind.value,
        emulates=spec.emulates,
        spec=spec_to_json(spec),
    )
