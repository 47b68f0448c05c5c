"""Clock frequencies of devices, where the system reports them: a time says little without the clock it was taken at."""

from collections.abc import Iterable
from pathlib import Path

from hal.facts.cores import (
    SYS,
    folder_of,
    read,
)

PROC = Path("/proc")

# Files of a GPU, relative to its PCI address. Source: attributes in sysfs of Linux' drivers xe (the first) and i915.
_GPU_FILES = ("tile0/gt0/freq0/act_freq", "drm/card*/gt/gt0/rps_act_freq_mhz", "drm/card*/gt_act_freq_mhz")


def cpu_mhz(cpus: Iterable[int], sys: Path = SYS, proc: Path = PROC) -> float | None:
    """Return the highest current clock of these CPUs in MHz; None if Linux reports none."""
    wanted = set(cpus)
    told = [read(folder_of(cpu, sys) / "cpufreq/scaling_cur_freq") for cpu in wanted]
    scaled = [int(khz) / 1000 for khz in told if khz.isdecimal()]
    return max(scaled or _of_cpuinfo(wanted, proc), default=None)


def gpu_mhz(pci_address: str | None, sys: Path = SYS) -> float | None:
    """Return the current clock in MHz of the GPU at a PCI address such as "0000:03:00.0"; None if its driver
    reports none.
    """
    if pci_address is None:
        return None
    folder = sys / "bus/pci/devices" / pci_address
    told = [read(path) for name in _GPU_FILES for path in sorted(folder.glob(name))]
    return next((float(mhz) for mhz in told if mhz.isdecimal() and int(mhz) > 0), None)


def _of_cpuinfo(cpus: set[int], proc: Path) -> list[float]:
    found: list[float] = []
    number = -1
    for line in read(proc / "cpuinfo").splitlines():
        name, _, value = (part.strip() for part in line.partition(":"))
        if name == "processor" and value.isdecimal():
            number = int(value)
        if name == "cpu MHz" and number in cpus and value.replace(".", "", 1).isdecimal() and float(value) > 0:
            found.append(float(value))
    return found
