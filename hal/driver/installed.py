"""An unpacked driver with its own loader and C library, and Python under it."""

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from hal.driver.simulated_gpus import SimulatedGpu
from hal.errors import DeviceFailed
from hal.facts.spec import DeviceKind
from hal.probe.probe import ProbedDevice, ProbeReport, probe_opencl
from hal.process.child import Child, Interpreter

_RECORD = "driver.json"
_PROBE_S = 60.0
_LIBRARIES = "root/usr/lib/x86_64-linux-gnu"
# Of the release build of Intel's compute runtime 26.27. It reads the others only with the first.
_SIMULATION = {
    "NEOReadDebugKeys": "1",
    "SetCommandStreamReceiver": "1",  # commands go to a file of a simulator, which does not run
    "UseAubStream": "0",  # the library that writes that file is not public
    "UseBindlessMode": "0",  # else it aborts when a context is created
    "UseExternalAllocatorForSshAndDsh": "0",
    "EnableTimestampWaitForQueues": "0",  # else waiting for an event never ends
    "EnableTimestampWaitForEvents": "0",
    "UR_LOADER_USE_LEVEL_ZERO_V2": "0",  # SYCL's second adapter of Level Zero cannot make a queue
    "NEO_CACHE_PERSISTENT": "0",  # else a build that was accepted before is not repeated
}


@dataclass(frozen=True, slots=True)
class Driver:
    """Driver in a folder. `version` is what it reports, `packages` the versions of what was unpacked, by name."""

    folder: Path
    version: str
    packages: Mapping[str, str]

    def interpreter(self, gpu: SimulatedGpu) -> Interpreter:
        """Return the start of a Python that finds this driver, simulating a GPU."""
        return interpreter(self.folder, gpu)


def interpreter(folder: Path, gpu: SimulatedGpu) -> Interpreter:
    """Return the start of a Python under the driver in `folder`, simulating a GPU."""
    libraries = folder.absolute() / _LIBRARIES
    loader = str(libraries / "ld-linux-x86-64.so.2")
    drivers = {
        "OCL_ICD_VENDORS": str(libraries / "intel-opencl" / "libigdrcl.so"),
        "ZE_ENABLE_ALT_DRIVERS": str(libraries / "libze_intel_gpu.so.1"),  # Level Zero looks for a GPU before a driver
    }
    # Not the link of a virtual environment: a loader that is started by name gives Python no other hint of its home.
    command = (loader, "--library-path", str(libraries), os.path.realpath(sys.executable))
    return Interpreter(command, {**_SIMULATION, **drivers, **gpu.settings()})


def installed_driver(folder: Path) -> Driver | None:
    """Return the driver in a folder; None if there is none, or its installation did not finish."""
    try:
        told = cast("dict[str, object]", json.loads((folder / _RECORD).read_text(encoding="utf-8")))
        return Driver(folder, str(told["driver"]), cast("dict[str, str]", told["packages"]))
    except (OSError, ValueError, KeyError):
        return None


def record_driver(folder: Path, version: str, packages: Mapping[str, str]) -> Driver:
    """Record that the installation of a driver in a folder is complete; return the driver."""
    told = {"driver": version, "packages": dict(packages)}
    (folder / _RECORD).write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
    return Driver(folder, version, packages)


def probe_simulated(folder: Path, gpu: SimulatedGpu) -> ProbedDevice:
    """Return a GPU as the driver in `folder` reports it.

    Raises:
        DeviceFailed: the driver does not run, or shows no GPU.
    """
    with Child(interpreter(folder, gpu)) as child:
        report = child.call(_PROBE_S, probe_opencl)
    assert isinstance(report, ProbeReport)
    found = next((device for device in report.devices if device.kind is DeviceKind.GPU), None)
    if found is None:
        raise DeviceFailed(f"the driver in {folder} shows no GPU ({report.fault or 'only other devices'})")
    return found
