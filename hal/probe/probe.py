"""Probes of the drivers, each in a separate process, which the driver may crash or hang."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

from hal.errors import DeviceFailed
from hal.facts.spec import (
    DeviceKind,
    Fact,
)
from hal.process.child import Child, Interpreter
from hal.spirv.needs import SpirvOffer

_TIMEOUT_S = 60.0
_SHOWN_CHARACTERS = 200
# dpctl imports numpy to query a GPU, and the threads of its BLAS would first spin for a twentieth of a second.
_INTERPRETER = Interpreter(variables={"OPENBLAS_NUM_THREADS": "1"})
CPU_RUNTIME = "'xetune[opencl-cpu]'"
"""Package of pip with an OpenCL runtime for CPUs."""

NO_RUNTIME = (
    f"no OpenCL runtime shows a device; `pip install {CPU_RUNTIME}` brings one for CPUs, "
    "the system package intel-opencl-icd the one for Intel GPUs"
)


@dataclass(frozen=True, slots=True)
class ProbedDevice:
    """One device as reported by one runtime. `has_dpas` is None if not reported.

    `address` identifies it to the runtime: "opencl:<platform>:<device>", or SYCL's filter string.
    `pci_address` is its address on the bus, "0000:03:00.0", and `spirv` what its driver offers to modules, if OpenCL
    reports them.
    """

    address: str
    name: str
    kind: DeviceKind
    facts: tuple[Fact, ...]
    has_dpas: bool | None = None
    pci_address: str | None = None
    spirv: SpirvOffer | None = None

    def fact(self, name: str) -> object:
        """Return the value of a fact; None when it is unknown."""
        return next((fact.value for fact in self.facts if fact.name == name), None)

    @property
    def driver_version(self) -> str:
        """Version of its driver, without the name of the platform; empty if unknown."""
        return str(self.fact("driver") or "").rpartition(" ")[2]

    @property
    def pci_id(self) -> str | None:
        """PCI device id of a GPU, four hexadecimal digits."""
        ids = self.fact("pci_ids")
        return str(ids[0]) if isinstance(ids, tuple) and ids else None


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """The devices of one runtime, or the fault that kept them from being listed."""

    devices: tuple[ProbedDevice, ...] = ()
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class Probes:
    """Reports of both runtimes."""

    opencl: ProbeReport
    sycl: ProbeReport


def probe_drivers(timeout_s: float = _TIMEOUT_S) -> Probes:
    """Query the OpenCL and the SYCL runtime for their devices, concurrently."""
    with probing(timeout_s) as reports:
        return reports()


@contextmanager
def probing(timeout_s: float = _TIMEOUT_S) -> Generator[Callable[[], Probes]]:
    """Start the same; the function waits for the reports, which are those of one query however often it is called."""
    with Child(_INTERPRETER) as opencl, Child(_INTERPRETER) as sycl:
        opencl.send(probe_opencl)
        sycl.send(probe_sycl)
        yield cache(lambda: Probes(_report(opencl, "OpenCL", timeout_s), _report(sycl, "SYCL", timeout_s)))


def _report(child: Child, runtime: str, timeout_s: float) -> ProbeReport:
    try:
        report = child.receive(timeout_s)
    except DeviceFailed as failure:
        return ProbeReport(fault=f"probing {runtime} failed: {_in_one_line(str(failure))}")
    finally:
        child.hang_up()  # the runtimes take a while to end: both do at once
    assert isinstance(report, ProbeReport)
    return report


def _in_one_line(text: str) -> str:
    """Return what a driver said as one short line: it is shown in tables."""
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN_CHARACTERS else f"{line[: _SHOWN_CHARACTERS - 3]}..."


def probe_opencl() -> ProbeReport:
    """Return the devices of OpenCL; run it in a child process."""
    from hal.opencl import probing

    try:
        devices = probing.probe()
    except ImportError as error:
        return ProbeReport(fault=f"OpenCL needs the package pyopencl: {error}")
    if not devices:
        return ProbeReport(fault=NO_RUNTIME)
    return ProbeReport(devices)


def probe_sycl() -> ProbeReport:
    """Return the devices of SYCL; run it in a child process."""
    from hal.probe import sycl

    try:
        return ProbeReport(sycl.probe())
    except ImportError as error:
        return ProbeReport(fault=f"SYCL needs the package dpctl: {error}; `pip install 'xetune[level-zero]'` brings it")
