"""Findings that make a worker unready, cheap enough for every probe: no drivers are probed and no kernels run."""

from collections.abc import Iterator

from hal.probe.findings import Finding, State
from hal.probe.readiness import Machine, gpu_readiness
from service.api.toolchain.listing import list_packages
from service.doctor.software import database_finding, disk_finding, tool_findings
from service.settings import Settings


def worker_faults(settings: Settings, *, uses_database: bool, machine: Machine | None = None) -> Iterator[Finding]:
    """Yield the faults of packages, the database, the disk, and the GPUs on the bus with their permissions.

    A worker of a Dask scheduler uses no database.
    """
    return (finding for finding in _findings(settings, uses_database, machine) if finding.state is State.FAULT)


def _findings(settings: Settings, uses_database: bool, machine: Machine | None) -> Iterator[Finding]:
    yield from tool_findings(list_packages())
    if uses_database:
        yield database_finding(settings.database_url, missing=State.FAULT)
    yield disk_finding(settings.data_dir)
    for gpu in gpu_readiness(None, machine):
        yield from gpu.findings
