"""GET /v1/devices, DELETE /v1/devices/{id}/quarantine."""

from http import HTTPStatus
from typing import Annotated

from fastapi import Path, Query

from service.api.devices import quarantine, service
from service.api.devices.schemas import (
    DeviceList,
    DeviceOut,
)
from service.api.keys.guard import (
    READ,
    TUNE,
    CallerDep,
    guarded_router,
)
from service.http.deps import (
    ContextDep,
    DatabaseDep,
    ReadSessionDep,
)
from service.http.responses import NOT_FOUND

router = guarded_router("/v1/devices", "devices")

DeviceId = Annotated[str, Path(description="Id of the device", examples=["b580"])]


@router.get("", dependencies=[READ])
def list_devices(context: ContextDep, session: ReadSessionDep) -> DeviceList:
    """List local devices, every GPU of the table, and quarantined devices."""
    return service.list_devices(context.devices, session)


@router.delete("/{device_id}/quarantine", responses=NOT_FOUND, dependencies=[TUNE], status_code=HTTPStatus.NO_CONTENT)
def release_device(
    device_id: DeviceId,
    database: DatabaseDep,
    by: CallerDep,
    host: Annotated[str | None, Query(description="Only on this host; default: all hosts", examples=["lab-7"])] = None,
) -> None:
    """Release a quarantined device, on one host or on all."""
    with database.write() as session:
        quarantine.release(session, device_id, host, by)


@router.get("/{device_id}", responses=NOT_FOUND, dependencies=[READ])
def read_device(device_id: DeviceId, context: ContextDep) -> DeviceOut:
    """Return one device and its known facts, each with its provenance."""
    return service.describe(context.devices.get(device_id))
