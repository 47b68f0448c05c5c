"""Findings that make a worker unready, cheap enough for every request: drivers are probed at the start alone."""

from collections.abc import Iterator

from hal.probe.findings import Finding, State
from hal.probe.pci import pci_gpus
from hal.probe.probe import Probes, probe_drivers
from hal.probe.readiness import Machine, gpu_readiness
from service.api.toolchain.listing import list_packages
from service.doctor.software import database_finding, disk_finding, tool_findings
from service.settings import Settings


def probes_at_start(machine: Machine | None = None) -> Probes | None:
    """Return what the drivers of this machine show; None without an Intel GPU on the bus, where it does not matter."""
    return probe_drivers() if pci_gpus((machine or Machine()).root / "sys") else None


def worker_faults(
    settings: Settings, probes: Probes | None, *, uses_database: bool, machine: Machine | None = None
) -> Iterator[Finding]:
    """Yield the faults of packages, the database, the disk, and the GPUs on the bus with their permissions and drivers.

    A worker of a Dask scheduler uses no database.
    """
    found = _findings(settings, probes, uses_database, machine)
    return (finding for finding in found if finding.state is State.FAULT)


def _findings(
    settings: Settings, probes: Probes | None, uses_database: bool, machine: Machine | None
) -> Iterator[Finding]:
    yield from tool_findings(list_packages())
    if uses_database:
        yield database_finding(settings.database_url, empty=State.FAULT)
    yield disk_finding(settings.data_dir)
    for gpu in gpu_readiness(probes, machine):
        yield from gpu.findings
