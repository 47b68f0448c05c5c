"""Attributes of Intel's OpenCL devices beyond the standard: IP version, cores, engines, threads, DPAS.

Source: registry.khronos.org, cl_intel_device_attribute_query, cl_intel_required_subgroup_size, cl_khr_pci_bus_info.
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass

from hal.facts.spec import (
    PROBED,
    Fact,
)

Query = Callable[[int], bytes | None]
"""Query clGetDeviceInfo for one parameter: its bytes, or None when the device does not support it."""

_MAX_COMPUTE_UNITS = 0x1002
_SUB_GROUP_SIZES = 0x4108
_PCI_BUS_INFO = 0x410F
_IP_VERSION = 0x4250
_DEVICE_ID = 0x4251
_NUM_EUS_PER_SUB_SLICE = 0x4254
_NUM_THREADS_PER_EU = 0x4255
_FEATURE_CAPABILITIES = 0x4256
_FEATURE_FLAG_DPAS = 1 << 1


@dataclass(frozen=True, slots=True)
class GpuAttributes:
    """The facts that a GPU reports, and whether it has DPAS; None if not reported."""

    facts: tuple[Fact, ...]
    has_dpas: bool | None


def gpu_attributes(query: Query) -> GpuAttributes:
    """Return the facts that a GPU reports through Intel's queries."""
    version, device_id = number(query, _IP_VERSION), number(query, _DEVICE_ID)
    engines, engines_per_core = number(query, _MAX_COMPUTE_UNITS), number(query, _NUM_EUS_PER_SUB_SLICE)
    features = number(query, _FEATURE_CAPABILITIES)
    values: dict[str, object] = {
        "pci_ids": (f"{device_id:04X}",) if device_id is not None else None,
        "ip_version": _ip_version(version) if version is not None else None,
        # Slices times sub-slices would be too many where some are fused off: the driver rounds the latter up.
        "xe_cores": engines // engines_per_core if engines and engines_per_core else None,
        "eus_per_core": engines_per_core,
        "threads_per_eu": number(query, _NUM_THREADS_PER_EU),
    }
    facts = tuple(Fact(name, value, PROBED) for name, value in values.items() if value is not None)
    return GpuAttributes(facts, bool(features & _FEATURE_FLAG_DPAS) if features is not None else None)


def subgroup_sizes(query: Query) -> tuple[int, ...] | None:
    """Return the sub-group sizes that kernels may require."""
    raw = query(_SUB_GROUP_SIZES)
    return struct.unpack(f"{len(raw) // 8}Q", raw) if raw else None


def pci_address(query: Query) -> str | None:
    """Return the PCI address of a device in Linux' notation, "0000:03:00.0"; None if not reported."""
    raw = query(_PCI_BUS_INFO)
    if raw is None or len(raw) != 16:
        return None
    domain, bus, device, function = struct.unpack("4I", raw)
    return f"{domain:04x}:{bus:02x}:{device:02x}.{function}"


def number(query: Query, parameter: int) -> int | None:
    """Return a parameter that is a number; None when the device does not support it."""
    raw = query(parameter)
    return int.from_bytes(raw, "little") if raw else None


def _ip_version(bits: int) -> str:
    """Return "20.1.4" from its bits: architecture [31:22], release [21:14], revision [5:0]."""
    return f"{bits >> 22}.{bits >> 14 & 0xFF}.{bits & 0x3F}"


def packed(ip_version: str) -> int:
    """Return the bits of an IP version."""
    architecture, release, revision = map(int, ip_version.split("."))
    return architecture << 22 | release << 14 | revision
