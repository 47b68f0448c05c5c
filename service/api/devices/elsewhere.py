"""Devices of other machines: those that a coordinator reaches now, and those stored in the database; storing them."""

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy.orm import Session

from db.errors import DatabaseError
from db.queries import devices
from db.queries.cluster import coordinators
from db.schema.cluster import ReachedDevice
from db.schema.target import Device
from db.session import Database
from hal import DeviceSpec, ListedDevice, Runtime
from hal.devices.listed import listed, runs_own_code
from hal.devices.listing import OPENCL_CPU_ID
from service.device_json import spec_from_json, spec_to_json
from service.telemetry.loggers import Logger

_log = Logger(__name__)


def with_reached(
    list_here: Callable[[], Sequence[ListedDevice]], database: Database
) -> Callable[[], list[ListedDevice]]:
    """Return a function that lists local devices and those reached by a coordinator; local ones take precedence."""

    def list_all() -> list[ListedDevice]:
        reached = _reached_now(database)  # first: the drivers of this machine answer meanwhile
        here = list(list_here())
        own = {device.spec.id for device in here if device.runnable}
        found = [found for slug, row in reached.items() if slug not in own and (found := _reached(row)) is not None]
        there = {device.spec.id for device in found}
        return [*found, *(device for device in here if device.spec.id not in there)]

    return list_all


def _reached_now(database: Database) -> dict[str, ReachedDevice]:
    """Return the devices that coordinators reach, by slug; none if the database cannot be read."""
    try:
        with database.read() as session:
            return {row.device.slug: row for row in coordinators.reached(session)}
    except DatabaseError as error:
        _log.warning("the devices of other machines are unknown now", error=str(error))
        return {}


def _reached(row: ReachedDevice) -> ListedDevice | None:
    """Convert a row to a device of another machine; None if the row is not in this version's form."""
    try:
        spec = spec_from_json(row.device.spec)
    except ValueError:
        return None
    is_native = runs_own_code(spec) and not spec.id.startswith(OPENCL_CPU_ID)
    runtime = Runtime.HOST if is_native else Runtime.OPENCL
    notes = (f"on {row.host}, by way of the coordinator",)
    # Whether its energy can be read is determined there, when a job has measured its default.
    return listed(spec, runtime, None, runnable=True, notes=notes, no_energy=None)


def device_elsewhere(session: Session, slug: str) -> ListedDevice | None:
    """Return the newest stored device of an id; None if there is none, or it is not in this version's form."""
    row = None if "\0" in slug else devices.latest(session, slug)  # PostgreSQL refuses to look for it
    if row is None:
        return None
    try:
        spec = spec_from_json(row.spec)
    except ValueError:
        return None
    return listed(spec, Runtime.TABLE, None, runnable=False, notes=("it is not in this machine",))


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
