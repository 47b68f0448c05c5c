"""Energy counters of Linux: energy of a CPU's packages or of a whole GPU, in microjoules.

Source: Linux, Documentation/power/powercap/powercap.rst (intel-rapl, which covers AMD's CPUs too), and
Documentation/ABI/testing/sysfs-driver-intel-xe-hwmon and sysfs-driver-intel-i915-hwmon.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from hal.facts.cores import (
    SYS,
    read,
)

NOT_HERE = "it is not in this machine"
_LEAST_S = 0.05  # counters tick about once per millisecond: a tick is then 2 %
_GPU_DRIVERS = ("xe", "i915")
_OF_A_GPU = "energy1_input", "energy2_input"  # of the card, else of its package: xe has one or both


@dataclass(frozen=True, slots=True)
class Counter:
    """A file that counts microjoules; it wraps to 0 after `range_uj`, if that is known."""

    path: Path
    range_uj: int | None = None

    def used_uj(self, before: int, after: int) -> int | None:
        """Return the energy between two readings; None when the counter wrapped and its range is unknown."""
        if after >= before:
            return after - before
        return None if self.range_uj is None else after + self.range_uj - before


@dataclass(frozen=True, slots=True)
class Meter:
    """The counters of a device. `refusal` says why they cannot be read; None when they can."""

    counters: tuple[Counter, ...] = ()
    refusal: str | None = None

    def read_uj(self) -> tuple[int, ...] | None:
        """Return the current value of each counter; None if one cannot be read."""
        told = [read(counter.path) for counter in self.counters]
        return tuple(int(text) for text in told) if told and all(text.isdecimal() for text in told) else None

    def used_uj(self, before: tuple[int, ...], after: tuple[int, ...]) -> int | None:
        """Return the energy between two readings of all counters; None when it is unknown for one."""
        readings = zip(self.counters, before, after, strict=True)
        used = [counter.used_uj(first, last) for counter, first, last in readings]
        return None if None in used else sum(uj for uj in used if uj is not None)


def cpu_meter(sys: Path = SYS) -> Meter:
    """Return the meter of all packages of this machine: cores, their caches and the memory controller, for
    all processes.
    """
    folder = sys / "class/powercap"
    zones = [zone for zone in sorted(folder.glob("intel-rapl:*")) if read(zone / "name").startswith("package-")]
    if not zones:
        return Meter(
            refusal=f"Linux reports no energy counter of a package in {folder}; virtual machines rarely have one"
        )
    return _readable([Counter(zone / "energy_uj", _range(zone)) for zone in zones])


def gpu_meter(pci_address: str | None, sys: Path = SYS) -> Meter:
    """Return the meter of the GPU at a PCI address such as "0000:03:00.0"."""
    if pci_address is None:
        return Meter(refusal="its driver does not report its PCI address")
    folder = sys / "bus/pci/devices" / pci_address / "hwmon"
    path = next(_gpu_counters(folder), None)
    if path is None:
        return Meter(refusal=f"the drivers xe and i915 report no energy counter in {folder}")
    return _readable([Counter(path)])


class EnergyWindow:
    """Mean energy of the launches between `begin` and `launch_uj`, including everything else on the device.

    `launches` returns the number so far. Idle power and the use by other programs are not subtracted.
    """

    def __init__(self, meter: Meter, launches: Callable[[], int], clock: Callable[[], float] = time.monotonic) -> None:
        self._meter, self._launches, self._clock = meter, launches, clock
        self._before: tuple[int, ...] | None = None
        self._begun_s, self._begun_at = 0.0, 0

    def begin(self) -> None:
        """Start the window."""
        self._begun_s, self._begun_at, self._before = self._clock(), self._launches(), self._meter.read_uj()

    def launch_uj(self) -> float | None:
        """Return the microjoules per launch; None without counters, or if the window is too short for them."""
        after, launches = self._meter.read_uj(), self._launches() - self._begun_at
        if self._before is None or after is None or launches < 1 or self._clock() - self._begun_s < _LEAST_S:
            return None
        return (self._meter.used_uj(self._before, after) or 0) / launches or None


def _gpu_counters(folder: Path) -> Iterator[Path]:
    for monitor in sorted(folder.glob("hwmon*")):
        if read(monitor / "name") in _GPU_DRIVERS:
            yield from (monitor / name for name in _OF_A_GPU if (monitor / name).exists())


def _range(zone: Path) -> int | None:
    told = read(zone / "max_energy_range_uj")
    return int(told) if told.isdecimal() else None


def _readable(counters: list[Counter]) -> Meter:
    for counter in counters:
        try:
            told = counter.path.read_text(encoding="utf-8").strip()
        except PermissionError:
            return Meter(refusal=f"this user may not read {counter.path}; an administrator can allow it (chmod o+r)")
        except OSError as error:
            return Meter(refusal=f"{counter.path} cannot be read: {error.strerror}")
        if not told.isdecimal():
            return Meter(refusal=f"expected a number of microjoules in {counter.path}, got {told[:40]!r}")
    return Meter(tuple(counters))
