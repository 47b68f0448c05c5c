"""Lookup of rows of the table by name, alias, PCI id and IP version."""

import re
from difflib import get_close_matches

from hal.errors import AmbiguousDevice, UnknownDevice
from hal.facts.spec import DeviceSpec
from hal.facts.xe.row import XeDevice
from hal.facts.xe.xe2 import XE2_DEVICES
from hal.facts.xe.xe3 import XE3_DEVICES
from hal.facts.xe.xe_hpc import XE_HPC_DEVICES
from hal.facts.xe.xe_hpg import XE_HPG_DEVICES

XE_DEVICES: tuple[XeDevice, ...] = (*XE_HPC_DEVICES, *XE2_DEVICES, *XE3_DEVICES, *XE_HPG_DEVICES)

_BY_ID = {row.spec.id: row for row in XE_DEVICES}
_BY_PCI_ID = {pci_id: row.spec for row in XE_DEVICES for pci_id in row.spec.pci_ids or ()}
_BY_NAME = {name: row.spec for row in XE_DEVICES for name in (row.spec.id, *row.aliases)}
_NOT_OF_THE_NAME = re.compile(r"\((?:r|tm)\)|[®™]|\b(?:intel|data center gpu|graphics)\b")
_IP_VERSION = re.compile(r"\d{1,3}\.\d{1,3}(\.\d{1,3})?")


def _plain(name: str) -> str:
    return "-".join(_NOT_OF_THE_NAME.sub(" ", name.lower()).split())


_BY_FULL_NAME = {_plain(row.spec.name): row.spec for row in XE_DEVICES}


def row_of(id: str) -> XeDevice | None:
    """Return the row of that id; None if there is none."""
    return _BY_ID.get(id)


def find_by_pci_id(pci_id: str) -> DeviceSpec | None:
    """Return the row of a PCI device id, four hexadecimal digits; None if no row has it."""
    return _BY_PCI_ID.get(pci_id.upper())


def find_by_ip_version(ip_version: str) -> tuple[DeviceSpec, ...]:
    """Return the rows of an IP version: of its architecture and release, since the third number is the stepping."""
    release = _release(ip_version)
    rows = (row.spec for row in XE_DEVICES)
    return tuple(spec for spec in rows if spec.ip_version is not None and _release(spec.ip_version) == release)


def find(name: str) -> DeviceSpec:
    """Return the row of an id, an alias, a full name, a PCI device id or an IP version.

    Examples: "b580", "bmg", "Intel(R) Arc(TM) B580 Graphics", "0xe20b", "8086:E20B", "20.4.4".

    Raises:
        AmbiguousDevice: an IP version that several rows have.
        UnknownDevice: no row has that name.
    """
    wanted = name.strip().lower()
    found = _BY_NAME.get(wanted) or find_by_pci_id(wanted.removeprefix("8086:").removeprefix("0x"))
    if found is None:
        found = _BY_NAME.get(_plain(wanted)) or _BY_FULL_NAME.get(_plain(wanted))
    if found is None and _IP_VERSION.fullmatch(wanted):
        found = _only(wanted, find_by_ip_version(wanted))
    if found is None:
        raise UnknownDevice(f"no Intel GPU is known as {name!r}; {suggestion(wanted, tuple(_BY_NAME))}")
    return found


def suggestion(wanted: str, names: tuple[str, ...]) -> str:
    """Return advice for an unknown name: the nearest of `names`, and where all are listed."""
    nearest = get_close_matches(wanted.lower(), dict.fromkeys(names), n=3, cutoff=0.6)
    hint = f"did you mean {' or '.join(map(repr, nearest))}? " if nearest else ""
    return f"{hint}`xetune devices` lists what is known"


def _only(ip_version: str, found: tuple[DeviceSpec, ...]) -> DeviceSpec | None:
    if len(found) > 1:
        ids = ", ".join(spec.id for spec in found)
        raise AmbiguousDevice(f"IP version {ip_version} is that of several GPUs, name one of them: {ids}")
    return found[0] if found else None


def _release(ip_version: str) -> list[str]:
    return ip_version.split(".")[:2]
