"""GET /v1/devices/{device_id}/accuracy."""

from fastapi import APIRouter

from service.accuracy.schemas import AccuracyList
from service.accuracy.service import accuracy_of
from service.deps import DevicesDep, ReadSessionDep
from service.keys.guard import READ, GuardedRoute
from service.responses import NOT_FOUND

router = APIRouter(prefix="/v1/devices", tags=["devices"], route_class=GuardedRoute)


@router.get("/{device_id}/accuracy", responses=NOT_FOUND, dependencies=[READ])
def read_accuracy(device_id: str, devices: DevicesDep, session: ReadSessionDep) -> AccuracyList:
    """How far predictions for a device were off, by what was measured here or imported."""
    return accuracy_of(session, devices.get(device_id).spec.id)
