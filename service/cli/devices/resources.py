"""Devices, and the accuracy of predictions for one, as commands read them."""

from typing import TYPE_CHECKING

from service.api.accuracy.schemas import AccuracyList
from service.api.devices.schemas import DeviceList, DeviceOut
from service.cli.access.resource import Asked, Removal, Resource

if TYPE_CHECKING:
    from service.http.context import Context


def _list(context: "Context", _: Asked) -> DeviceList:
    from service.api.devices.service import list_devices

    with context.database.read() as session:
        return list_devices(context.devices, session)


DEVICES = Resource("/v1/devices", DeviceList, _list)


def _list_quarantined(context: "Context", _: Asked) -> DeviceList:
    from service.api.devices import quarantine

    with context.database.read() as session:
        return DeviceList(devices=[], quarantined=quarantine.listed(session))


QUARANTINED = Resource("/v1/devices", DeviceList, _list_quarantined)
"""The same for its quarantined devices alone."""


def release_of(device: str, host: str | None) -> Removal:
    """Return the removal of a device's quarantine, on one host or on all."""
    from xetune_client.wire import part

    def release(context: "Context") -> None:
        from service.api.devices import quarantine
        from service.api.keys.caller import COMMAND_LINE

        with context.database.write() as session:
            quarantine.release(session, device, host, COMMAND_LINE)

    return Removal(f"/v1/devices/{part(device)}/quarantine", release, {"host": host})


def device_of(name: str) -> Resource[DeviceOut]:
    """Return the resource of a device by any of its names."""
    from xetune_client.wire import part

    def read(context: "Context", _: Asked) -> DeviceOut:
        from service.api.devices.service import describe

        return describe(context.devices.get(name))

    return Resource(f"/v1/devices/{part(name)}", DeviceOut, read)


def accuracy_of(device: str) -> Resource[AccuracyList]:
    """Return the resource of the accuracy of predictions for a device."""
    from xetune_client.wire import part

    def read(context: "Context", _: Asked) -> AccuracyList:
        from service.api.accuracy import service

        id = context.devices.get(device).spec.id
        with context.database.read() as session:
            return service.accuracy_of(session, id)

    return Resource(f"/v1/devices/{part(device)}/accuracy", AccuracyList, read)
