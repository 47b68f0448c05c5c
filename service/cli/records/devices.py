"""Devices that options of records state; "auto" is one of this machine."""

from collections.abc import Sequence

from hal import ListedDevice, UnknownDevice, list_devices, resolve_device
from hal.probe.probe import Probes
from service.api.records.devices import full_pci_id, named_device
from service.errors import BadRequest
from xetune_client import models


def devices_here(probes: Probes | None = None) -> list[ListedDevice]:
    """Return the devices of this machine that run kernels; the drivers are asked unless `probes` has their answers."""
    return [each for each in list_devices(probes) if each.runnable]


def stated_device(device: str, driver: str | None, among: Sequence[ListedDevice]) -> models.RecordDevice:
    """Return the device that options name; name and driver of one of this machine's are as probed.

    Raises:
        BadRequest: "auto", and this machine has no device.
    """
    here = _found(device, among)
    if here is not None:
        ids = here.spec.pci_ids if here.match is not None else None
        pci_id = full_pci_id(ids[0]) if ids else None
        return models.RecordDevice(pci_id=pci_id, name=here.spec.name, driver=driver or here.spec.driver)
    pci_id = full_pci_id(device) if ":" in device or "0x" in device.lower() else None
    return models.RecordDevice(pci_id=pci_id, name=None if pci_id else device, driver=driver)


def name_here(device: models.RecordDevice, among: Sequence[ListedDevice]) -> str | None:
    """Return the name of a device as its driver in this machine reports it; None if it is not here."""
    found = _found(device.pci_id or device.name or "", among)
    return None if found is None else found.spec.name


def _found(device: str, among: Sequence[ListedDevice]) -> ListedDevice | None:
    if device.strip().lower() == "auto":
        try:
            return resolve_device("auto", None, among)
        except UnknownDevice as error:
            raise BadRequest(f"--device auto: {error}; name the device, such as --device 8086:E211") from error
    return next((each for each in among if each.spec.id == named_device(device)), None)
