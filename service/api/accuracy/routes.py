"""GET /v1/devices/{device_id}/accuracy."""

from typing import Annotated

from fastapi import Path

from service.api.accuracy.schemas import AccuracyList
from service.api.keys.guard import (
    READ,
    guarded_router,
)
from service.http.deps import ContextDep
from service.http.responses import NOT_FOUND

router = guarded_router("/v1/devices", "devices")

DeviceId = Annotated[str, Path(description="Id of the device", examples=["b580"])]


@router.get("/{device_id}/accuracy", responses=NOT_FOUND, dependencies=[READ])
def read_accuracy(device_id: DeviceId, context: ContextDep) -> AccuracyList:
    """Errors of predictions for a device, by measurements here or imported."""
    return context.accuracies.of(context.devices.get(device_id).spec.id)
