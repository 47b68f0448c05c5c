"""GPUs of the PCI bus in the device list: findings about them, and entries for those that no runtime shows."""

from collections.abc import Sequence
from dataclasses import replace

from hal.devices.listed import ListedDevice, Runtime, listed
from hal.probe.findings import Finding, State
from hal.probe.readiness import GpuReadiness


def with_findings(devices: Sequence[ListedDevice], looked_at: Sequence[GpuReadiness]) -> list[ListedDevice]:
    """Return the listed GPUs with the findings about them, and an entry for each GPU that no runtime shows."""
    entries = list(devices)
    for one in looked_at:
        place = next((i for i, device in enumerate(entries) if _is_of(device, one)), None)
        if place is not None:
            entries[place] = _noted(entries[place], one.findings)
        elif one.row is not None and one.findings[-1].state is State.FAULT:
            seen = f"it is in this machine, at {one.gpu.address}"
            entry = listed(one.row, Runtime.PCI, None, runnable=False, notes=(seen,))
            entries.append(_noted(entry, one.findings))
    return entries


def _is_of(device: ListedDevice, one: GpuReadiness) -> bool:
    if one.opencl is not None:
        return device.address == one.opencl
    is_sycls = device.runtime is Runtime.SYCL and not device.findings
    return is_sycls and one.gpu.pci_id in (device.spec.pci_ids or ())


def _noted(device: ListedDevice, findings: tuple[Finding, ...]) -> ListedDevice:
    troubles = [str(finding) for finding in findings if finding.state in (State.WARNING, State.FAULT)]
    note = "; ".join(part for part in (device.note, *troubles) if part)
    return replace(device, findings=findings, note=note)
