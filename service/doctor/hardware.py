"""Findings about GPUs on the PCI bus and the runtimes that reach devices."""

from collections.abc import Iterator

from hal.probe.findings import Finding, State
from hal.probe.probe import ProbedDevice, ProbeReport, Probes
from hal.probe.readiness import Machine, gpu_readiness


def hardware(probes: Probes, machine: Machine | None = None) -> Iterator[Finding]:
    """Yield the findings about each Intel GPU on the bus, then about OpenCL and Level Zero."""
    looked_at = gpu_readiness(probes, machine)
    for one in looked_at:
        yield from one.findings
    if not looked_at:
        yield Finding("gpu", "PCI", State.NOTE, "no Intel GPU is on the PCI bus: kernels for GPUs are predicted")
    yield _runtime("opencl", "OpenCL", probes.opencl, probes.opencl.devices)
    level_zero = tuple(d for d in probes.sycl.devices if d.address.startswith("level_zero"))
    yield _runtime("level-zero", "Level Zero", probes.sycl, level_zero)


def _runtime(check: str, subject: str, report: ProbeReport, devices: tuple[ProbedDevice, ...]) -> Finding:
    """Return the devices of a runtime. Jobs need neither on a machine that tunes for its CPU: no fault."""
    if report.fault is not None:
        found, _, remedy = report.fault.partition("; ")
        return Finding(check, subject, State.WARNING, found, remedy)
    if not devices:
        return Finding(check, subject, State.NOTE, "it shows no device")
    shown = ", ".join(f"{d.name.strip()} at {d.address} (driver {d.driver_version or 'unknown'})" for d in devices)
    return Finding(check, subject, State.OK, shown)
