"""The door to dpctl: facts of devices that only SYCL or Level Zero reports. Imported late, in a separate process."""

from typing import Protocol, cast

import dpctl
from dpctl.utils import intel_device_info

from hal.facts.spec import (
    PROBED,
    DeviceKind,
    Fact,
)
from hal.probe.icd import visible_runtimes
from hal.probe.probe import ProbedDevice


class _SyclDevice(Protocol):
    """The part of dpctl.SyclDevice that we read; the class itself is untyped."""

    name: str
    vendor: str
    driver_version: str
    filter_string: str
    is_gpu: bool
    is_cpu: bool
    global_mem_size: int
    global_mem_cache_size: int
    local_mem_size: int
    max_work_group_size: int
    max_compute_units: int
    max_clock_frequency: int
    sub_group_sizes: list[int]


def probe() -> tuple[ProbedDevice, ...]:
    """Return every CPU and Intel GPU that SYCL offers."""
    with visible_runtimes():
        devices = cast("list[_SyclDevice]", dpctl.get_devices())
    return tuple(_probed(device) for device in devices if device.is_cpu or _is_intel_gpu(device))


def _is_intel_gpu(device: _SyclDevice) -> bool:
    return device.is_gpu and "Intel" in device.vendor


def _probed(device: _SyclDevice) -> ProbedDevice:
    info = _intel_info(device)
    values: dict[str, object] = {
        "driver": f"SYCL {device.filter_string.partition(':')[0]} {device.driver_version}",
        "subgroup_sizes": tuple(device.sub_group_sizes),
        "max_slm_bytes": device.local_mem_size,
        "max_workgroup_size": device.max_work_group_size,
        "clock_mhz": device.max_clock_frequency or None,
        "memory_bytes": device.global_mem_size,
    }
    if device.is_gpu:
        # Cores stay out: slices, sub-slices and the count of engines are rounded up where some are fused off.
        values |= {
            "pci_ids": (f"{info['device_id']:04X}",) if "device_id" in info else None,
            "eus_per_core": info.get("gpu_eu_count_per_subslice"),
            "threads_per_eu": info.get("gpu_hw_threads_per_eu"),
            "l2_bytes": device.global_mem_cache_size or None,
            "bandwidth_bytes_per_s": info.get("max_mem_bandwidth"),
        }
    else:
        values["cores"] = device.max_compute_units
    facts = tuple(Fact(name, value, PROBED) for name, value in values.items() if value is not None)
    return ProbedDevice(device.filter_string, device.name, DeviceKind.GPU if device.is_gpu else DeviceKind.CPU, facts)


def _intel_info(device: _SyclDevice) -> dict[str, int]:
    """Return Intel's own facts of a device; none if the backend refuses the query, as in the driver's simulation."""
    try:
        return cast("dict[str, int]", intel_device_info(device))
    except RuntimeError:
        return {}
