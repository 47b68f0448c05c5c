"""GET /v1/devices."""

from fastapi import APIRouter

from service.deps import DevicesDep
from service.devices.schemas import DeviceList, DeviceOut
from service.devices.service import describe
from service.keys.guard import READ
from service.responses import NOT_FOUND

router = APIRouter(prefix="/v1/devices", tags=["devices"])


@router.get("", dependencies=[READ])
def list_devices(devices: DevicesDep) -> DeviceList:
    """Every device that is here, and every GPU of the table."""
    return DeviceList(devices=[describe(device) for device in devices.all()])


@router.get("/{device_id}", responses=NOT_FOUND, dependencies=[READ])
def read_device(device_id: str, devices: DevicesDep) -> DeviceOut:
    """One device and the known facts about it, each with its provenance."""
    return describe(devices.get(device_id))
