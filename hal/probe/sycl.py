"""The door to dpctl: facts of devices that only SYCL or Level Zero reports. Imported late, in a separate process.

Of dpctl only the modules of devices are imported: its package brings queues, memory and numpy, which take twice as long
as the drivers take to answer.
"""

import sys
from importlib.util import find_spec, module_from_spec
from typing import Protocol, cast

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
    """Return every CPU and Intel GPU that SYCL offers.

    Raises:
        ImportError: dpctl is not installed, or cannot be loaded.
    """
    with visible_runtimes():
        devices = sycl_devices()
    return tuple(_probed(device) for device in devices if device.is_cpu or _is_intel_gpu(device))


def sycl_devices() -> list[_SyclDevice]:
    """Return what SYCL offers, of any vendor."""
    spec = find_spec("dpctl")
    if spec is None:
        raise ModuleNotFoundError("No module named 'dpctl'")
    package = sys.modules.setdefault(spec.name, module_from_spec(spec))
    try:
        from dpctl._sycl_device_factory import get_devices
    finally:
        if not hasattr(package, "__version__"):  # it was not imported
            del sys.modules[spec.name]
    return cast("list[_SyclDevice]", get_devices())


def _is_intel_gpu(device: _SyclDevice) -> bool:
    return device.is_gpu and "Intel" in device.vendor


def _probed(device: _SyclDevice) -> ProbedDevice:
    values: dict[str, object] = {
        "driver": f"SYCL {device.filter_string.partition(':')[0]} {device.driver_version}",
        "subgroup_sizes": tuple(device.sub_group_sizes),
        "max_slm_bytes": device.local_mem_size,
        "max_workgroup_size": device.max_work_group_size,
        "clock_mhz": device.max_clock_frequency or None,
        "memory_bytes": device.global_mem_size,
    }
    if device.is_gpu:
        info = intel_info(device)
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


def intel_info(device: _SyclDevice) -> dict[str, int]:
    """Return Intel's own facts of a GPU; none if the backend refuses the query, as in the driver's simulation."""
    from dpctl.utils import intel_device_info

    try:
        return cast("dict[str, int]", intel_device_info(device))
    except RuntimeError:
        return {}
