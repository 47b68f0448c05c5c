"""Devices that are neither here nor in the table, but that the database was told of: CPUs of other machines."""

from sqlalchemy.orm import Session

from db import devices
from hal import Backend, ListedDevice
from hal.listed import listed
from service.convert import spec_from_json


def device_elsewhere(session: Session, slug: str) -> ListedDevice | None:
    """The device of that id as it was last told of; None of one that nothing told of, or not in this version's form."""
    row = None if "\0" in slug else devices.latest(session, slug)  # PostgreSQL refuses to look for it
    if row is None:
        return None
    try:
        spec = spec_from_json(row.spec)
    except ValueError:
        return None
    return listed(spec, Backend.TABLE, None, runnable=False, notes=("it is not in this machine",))
