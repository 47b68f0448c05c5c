"""Devices that options of records state; "auto" probes this machine."""

from hal import ListedDevice, UnknownDevice, list_devices, resolve_device
from service.api.records.devices import full_pci_id, named_device
from service.errors import BadRequest
from xetune_client import models


def stated_device(device: str, driver: str | None) -> models.RecordDevice:
    """Return the device that options name; name and driver of one in this machine are as probed.

    Raises:
        BadRequest: "auto", and this machine has no device.
    """
    here = _here(device)
    if here is not None:
        ids = here.spec.pci_ids if here.match is not None else None
        pci_id = full_pci_id(ids[0]) if ids else None
        return models.RecordDevice(pci_id=pci_id, name=here.spec.name, driver=driver or here.spec.driver)
    pci_id = full_pci_id(device) if ":" in device or "0x" in device.lower() else None
    return models.RecordDevice(pci_id=pci_id, name=None if pci_id else device, driver=driver)


def name_here(device: models.RecordDevice) -> str | None:
    """Return the name of a device as its driver in this machine reports it; None if it is not here."""
    found = _here(device.pci_id or device.name or "")
    return None if found is None else found.spec.name


def _here(device: str) -> ListedDevice | None:
    listed = [each for each in list_devices() if each.runnable]
    if device.strip().lower() == "auto":
        try:
            return resolve_device("auto", None, listed)
        except UnknownDevice as error:
            raise BadRequest(f"--device auto: {error}; name the device, such as --device 8086:E211") from error
    return next((each for each in listed if each.spec.id == named_device(device)), None)
