"""Devices of records: identified by PCI id where one is stated, since drivers change the names of devices."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hal import AmbiguousDevice, UnknownDevice, find
from hal.facts.xe import find_by_pci_id

if TYPE_CHECKING:
    from service.http.context import Context

_INTEL = "8086"
_PCI_ID = re.compile(r"(?:([0-9A-F]{4}):)?(?:0X)?([0-9A-F]{4})")
_IN_A_NAME = re.compile(r"\[0x([0-9a-f]{4})\]", re.IGNORECASE)
_SEVERAL_GPUS = "-other"
_AUTO = "auto"
PCI_ID_PATTERN = r"^(?:[0-9A-Fa-f]{4}:)?(?:0[xX])?[0-9A-Fa-f]{4}$"


@dataclass(frozen=True, slots=True)
class Place:
    """A device of a lookup, as records name it, and its driver; None if unknown."""

    device: str
    driver: str | None


def full_pci_id(text: str) -> str | None:
    """Return a PCI id as "8086:E211"; the vendor is Intel if none is stated. None if the text is none."""
    found = _PCI_ID.fullmatch(text.strip().upper())
    return None if found is None else f"{found[1] or _INTEL}:{found[2]}"


def device_of(pci_id: str | None, name: str | None) -> str:
    """Return the id by which a device is found again: of the table of GPUs, else the PCI id, else the plain name.

    PCI ids that one row of the table has are one device, unless the row collects several products. A name is used only
    without a PCI id; a name of Intel's driver that states one, "Intel(R) Graphics [0xe211]", counts as such.
    """
    if pci_id is None and name is not None and (stated := _IN_A_NAME.search(name)) is not None:
        pci_id = stated[1]
    if pci_id is not None and (full := full_pci_id(pci_id)) is not None:
        vendor, number = full.split(":")
        row = find_by_pci_id(number) if vendor == _INTEL else None
        return full if row is None or row.id.endswith(_SEVERAL_GPUS) else row.id
    plain = (name or "").replace("_", " ")
    try:
        return find(plain).id
    except (UnknownDevice, AmbiguousDevice):
        return "-".join(plain.lower().split())


def named_device(text: str) -> str:
    """Return the id of a device that one text names: a PCI id with vendor or prefix 0x, an id, or a name."""
    return device_of(full_pci_id(text) if ":" in text or "0x" in text.lower() else None, text)


def place_of(context: "Context", device: str, driver: str | None) -> Place:
    """Return the device that a lookup names by PCI id, name or "auto"; without `driver` that of this machine's.

    Raises:
        BadRequest: rule `unknown-device`: "auto" finds none.
    """
    if device.strip().lower() == _AUTO:
        spec = context.devices.resolve(_AUTO, None).spec
        return Place(spec.id, driver or spec.driver)
    found = named_device(device)
    if driver is None:
        here = (each.spec for each in context.devices.all() if each.runnable and each.spec.id == found)
        driver = next((spec.driver for spec in here), None)
    return Place(found, driver)
