"""Devices that OpenCL offers, and the facts that it reports of them; imported late, in a separate process."""

from hal.facts.intel_attributes import (
    Query,
    gpu_attributes,
    number,
    pci_address,
    subgroup_sizes,
)
from hal.facts.spec import (
    PROBED,
    DeviceKind,
    Fact,
)
from hal.opencl.loader import Handle, devices_of, platforms, query_of, query_of_platform
from hal.opencl.offer import spirv_offer
from hal.probe.icd import visible_runtimes
from hal.probe.probe import ProbedDevice
from hal.spirv.needs import BF16_CONVERSIONS, BLOCK_IO, FP64, PRODUCTS

INTEL_PCI_VENDOR = 0x8086
_CPU, _GPU = 1 << 1, 1 << 2
_PLATFORM_NAME = 0x0902
# Source: registry.khronos.org, OpenCL 3.0, clGetDeviceInfo.
_TYPE, _VENDOR_ID, _MAX_COMPUTE_UNITS, _MAX_WORK_GROUP_SIZE, _MAX_CLOCK = 0x1000, 0x1001, 0x1002, 0x1004, 0x100C
_CACHE_SIZE, _MEMORY_SIZE, _LOCAL_MEMORY_SIZE, _NAME, _DRIVER_VERSION = 0x101E, 0x101F, 0x1023, 0x102B, 0x102D


def probe() -> tuple[ProbedDevice, ...]:
    """Return every CPU and Intel GPU that OpenCL offers.

    Raises:
        ImportError: pyopencl, whose loader is used, is not installed.
        DeviceFailed: the loader refuses.
    """
    with visible_runtimes():
        found = platforms()
    return tuple(
        probed
        for p, platform in enumerate(found)
        for d, device in enumerate(devices_of(platform))
        if (probed := _probed(platform, device, f"opencl:{p}:{d}")) is not None
    )


def _probed(platform: Handle, device: Handle, address: str) -> ProbedDevice | None:
    query = query_of(device.value or 0)
    kinds = number(query, _TYPE) or 0
    is_gpu = bool(kinds & _GPU) and number(query, _VENDOR_ID) == INTEL_PCI_VENDOR
    if not is_gpu and not kinds & _CPU:
        return None
    offer = spirv_offer(query)
    values: dict[str, object] = {
        "driver": f"{_text(query_of_platform(platform), _PLATFORM_NAME)} {_text(query, _DRIVER_VERSION)}",
        "subgroup_sizes": subgroup_sizes(query),
        "max_slm_bytes": number(query, _LOCAL_MEMORY_SIZE),
        "max_workgroup_size": number(query, _MAX_WORK_GROUP_SIZE),
        "clock_mhz": number(query, _MAX_CLOCK) or None,
        "memory_bytes": number(query, _MEMORY_SIZE),
    }
    name = _text(query, _NAME)
    if not is_gpu:
        facts = _facts(values | {"cores": number(query, _MAX_COMPUTE_UNITS)})
        return ProbedDevice(address, name, DeviceKind.CPU, facts, spirv=offer)
    gpu, extensions = gpu_attributes(query), offer.opencl_extensions
    values |= {
        "l2_bytes": number(query, _CACHE_SIZE) or None,
        "fp64": FP64 in extensions,
        "block2d": BLOCK_IO in extensions,
        "bf16_conversions": BF16_CONVERSIONS in extensions,
    }
    facts = (*_facts(values), *gpu.facts)
    has_dpas = gpu.has_dpas and PRODUCTS in extensions  # the GPU's, and the driver's functions for it
    return ProbedDevice(address, name, DeviceKind.GPU, facts, has_dpas, pci_address(query), offer)


def _text(query: Query, parameter: int) -> str:
    return (query(parameter) or b"").rstrip(b"\0").decode()


def _facts(values: dict[str, object]) -> tuple[Fact, ...]:
    return tuple(Fact(name, value, PROBED) for name, value in values.items() if value is not None)
