"""Intel GPUs on the PCI bus, by Linux alone: no driver of OpenCL or SYCL has to see them.

Source: Linux, Documentation/ABI/testing/sysfs-bus-pci; the class is that of the PCI Code and ID Assignment
Specification (03: display controllers).
"""

from dataclasses import dataclass
from pathlib import Path

from hal.facts.cores import SYS, read

_INTEL, _DISPLAY = "0x8086", "0x03"


@dataclass(frozen=True, slots=True)
class PciGpu:
    """An Intel GPU: its address on the bus ("0000:03:00.0"), its PCI id, the kernel driver that is bound to it, and
    the name of its render node ("renderD128"); the last two are None if there is none.
    """

    address: str
    pci_id: str
    kernel_driver: str | None
    render_node: str | None


def pci_gpus(sys: Path = SYS) -> tuple[PciGpu, ...]:
    """Return the Intel GPUs on the bus, by address."""
    folders = sorted((sys / "bus/pci/devices").glob("*"))
    return tuple(_gpu(folder) for folder in folders if _is_intel_gpu(folder))


def _is_intel_gpu(folder: Path) -> bool:
    return read(folder / "vendor") == _INTEL and read(folder / "class").startswith(_DISPLAY)


def _gpu(folder: Path) -> PciGpu:
    driver = folder / "driver"
    nodes = sorted(path.name for path in (folder / "drm").glob("renderD*"))
    return PciGpu(
        folder.name,
        read(folder / "device").removeprefix("0x").upper(),
        driver.resolve().name if driver.is_symlink() else None,
        nodes[0] if nodes else None,
    )
