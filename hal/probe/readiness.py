"""Readiness of the Intel GPUs on the PCI bus: kernel driver, render node, permissions, OpenCL driver, versions."""

import grp
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from stat import S_IMODE

from hal.devices.listed import untargetable_reason
from hal.facts.spec import DeviceKind, DeviceSpec
from hal.facts.xe import find_by_pci_id
from hal.probe.findings import Finding, State
from hal.probe.pci import PciGpu, pci_gpus
from hal.probe.probe import NO_RUNTIME, ProbedDevice, Probes

TESTED_DRIVER, TESTED_COMPILER = (26, 27), (2, 40)
"""Oldest versions of Intel's compute runtime and graphics compiler that kernels were tested with.

Source: the driver that `xetune toolchain install` gets, Debian's intel-opencl-icd 26.27.39122 with libigc2 2.40.14.
"""

_KERNEL_DRIVERS = ("xe", "i915")
_LIBRARIES = ("usr/lib/x86_64-linux-gnu", "usr/lib64", "usr/lib", "usr/local/lib", "usr/local/lib64")
_COMPILER = re.compile(r"libigc\.so\.(\d+)\.(\d+)\.\d+")
RUNTIME = f"Intel's compute runtime {TESTED_DRIVER[0]}.{TESTED_DRIVER[1]} or newer"
"""Software that is installed for Intel GPUs."""


def _may_use(path: Path) -> bool:
    return os.access(path, os.R_OK | os.W_OK)


def _group_of(path: Path) -> tuple[str, int]:
    number = path.stat().st_gid
    try:
        return grp.getgrgid(number).gr_name, number
    except KeyError:
        return str(number), number


@dataclass(frozen=True, slots=True)
class Machine:
    """The files of a machine below `root`. `may_use` tells whether this user may read and write a path, `group_of` the
    name and number of its group.
    """

    root: Path = Path("/")
    may_use: Callable[[Path], bool] = _may_use
    group_of: Callable[[Path], tuple[str, int]] = _group_of


@dataclass(frozen=True, slots=True)
class GpuReadiness:
    """An Intel GPU on the bus: its row of the table, None if it has none, the OpenCL address where a driver shows it,
    and the findings in order; the first fault is the last finding.
    """

    gpu: PciGpu
    row: DeviceSpec | None
    opencl: str | None
    findings: tuple[Finding, ...]


def gpu_readiness(probes: Probes | None, machine: Machine | None = None) -> tuple[GpuReadiness, ...]:
    """Return the readiness of each Intel GPU on the PCI bus; without probes only up to the permissions."""
    machine = machine or Machine()
    seen = [device for device in (probes.opencl.devices if probes else ()) if device.kind is DeviceKind.GPU]
    found: list[GpuReadiness] = []
    for gpu in pci_gpus(machine.root / "sys"):
        probed = next((device for device in seen if _is_same(gpu, device)), None)
        if probed is not None:
            seen.remove(probed)
        row = find_by_pci_id(gpu.pci_id)
        findings = tuple(_until_a_fault(_findings(gpu, row, probed, probes, machine)))
        found.append(GpuReadiness(gpu, row, probed.address if probed is not None else None, findings))
    return tuple(found)


def _is_same(gpu: PciGpu, device: ProbedDevice) -> bool:
    if device.pci_address is not None:
        return device.pci_address == gpu.address
    return device.pci_id == gpu.pci_id


def _until_a_fault(findings: Iterator[Finding]) -> Iterator[Finding]:
    for finding in findings:
        yield finding
        if finding.state is State.FAULT:
            return


def _findings(
    gpu: PciGpu, row: DeviceSpec | None, probed: ProbedDevice | None, probes: Probes | None, machine: Machine
) -> Iterator[Finding]:
    name = row.name if row is not None else f"GPU of Intel with PCI id {gpu.pci_id}"
    reason = f"PCI id {gpu.pci_id} is not in the table" if row is None else untargetable_reason(row)
    if reason is not None and probed is None:
        yield Finding("gpu", gpu.address, State.NOTE, f"{name}: no kernels are compiled for it, {reason}")
        return
    yield Finding("gpu", gpu.address, State.OK, f"{name}, PCI id {gpu.pci_id}")
    yield _kernel_driver(gpu)
    if gpu.render_node is None:
        yield _no_render_node(gpu)
    else:
        yield _render_node(gpu, machine, gpu.render_node)
    if probes is not None:
        yield _opencl(gpu, probed, probes, machine)
    if probed is not None:
        yield _driver_version(gpu, probed)
        yield from _compiler_version(gpu, machine)


def _kernel_driver(gpu: PciGpu) -> Finding:
    check, driver = "kernel-driver", gpu.kernel_driver
    if driver in _KERNEL_DRIVERS:
        return Finding(check, gpu.address, State.OK, f"kernel driver {driver}")
    if driver is not None:
        remedy = "bind it to xe or i915; a driver such as vfio-pci hands it to a virtual machine"
        return Finding(check, gpu.address, State.FAULT, f"its kernel driver is {driver}", remedy)
    remedy = "load it, `sudo modprobe xe`; Arc B-series and Lunar Lake need Linux 6.12 or newer"
    return Finding(check, gpu.address, State.FAULT, "no kernel driver is bound to it", remedy)


def _no_render_node(gpu: PciGpu) -> Finding:
    remedy = "`sudo dmesg | grep -e xe -e i915` tells why; most often its firmware is missing"
    found = f"the kernel driver {gpu.kernel_driver} made no render node for it"
    return Finding("render-node", gpu.address, State.FAULT, found, remedy)


def _render_node(gpu: PciGpu, machine: Machine, name: str) -> Finding:
    path, shown = machine.root / "dev/dri" / name, f"/dev/dri/{name}"
    if not path.exists():
        remedy = "a container needs `--device /dev/dri`; elsewhere udev makes it"
        return Finding("render-node", gpu.address, State.FAULT, f"{shown} does not exist here", remedy)
    if machine.may_use(path):
        return Finding("permission", gpu.address, State.OK, f"this user may use {shown}")
    group, number = machine.group_of(path)
    found = f"this user may not use {shown} (group {group}, mode {S_IMODE(path.stat().st_mode):04o})"
    remedy = (
        f"`sudo usermod -aG {group} $USER` and log in again; a container needs `--group-add {number}`"
        if group != "root"
        else "udev gives it to the group render where that exists: `sudo groupadd -r render`, then restart"
    )
    return Finding("permission", gpu.address, State.FAULT, found, remedy)


def _opencl(gpu: PciGpu, probed: ProbedDevice | None, probes: Probes, machine: Machine) -> Finding:
    check = "opencl-driver"
    if probed is not None:
        cores = probed.fact("xe_cores")
        counted = "" if cores is None else f", with {cores} Xe cores"
        return Finding(check, gpu.address, State.OK, f"OpenCL shows it at {probed.address}{counted}")
    if not _has_icd(machine):
        remedy = f"install {RUNTIME} (package intel-opencl-icd, elsewhere intel-compute-runtime)"
        return Finding(check, gpu.address, State.FAULT, "no OpenCL driver for Intel GPUs is installed", remedy)
    if probes.opencl.fault not in (None, NO_RUNTIME):  # a driver without a GPU that it may use is none for a loader
        return Finding(check, gpu.address, State.FAULT, probes.opencl.fault)
    found = "the OpenCL driver that is installed does not show it"
    remedy = f"install {RUNTIME}: an older one does not know this GPU or its kernel driver"
    return Finding(check, gpu.address, State.FAULT, found, remedy)


def _has_icd(machine: Machine) -> bool:
    files = (machine.root / "etc/OpenCL/vendors").glob("*.icd")
    return any("igdrcl" in file.read_text(encoding="utf-8", errors="replace") for file in files)


def _driver_version(gpu: PciGpu, probed: ProbedDevice) -> Finding:
    return _version("driver-version", gpu, f"driver {probed.driver_version}", probed.driver_version, TESTED_DRIVER)


def _compiler_version(gpu: PciGpu, machine: Machine) -> Iterator[Finding]:
    """Yield a finding where the graphics compiler's library tells its version in its name."""
    names = [path.name for folder in _LIBRARIES for path in (machine.root / folder).glob("libigc.so.*")]
    found = [match for name in names if (match := _COMPILER.match(name)) is not None]
    if found:
        version = ".".join(max(found, key=lambda m: (int(m[1]), int(m[2]))).groups())
        yield _version("compiler-version", gpu, f"graphics compiler {version}", version, TESTED_COMPILER)


def _version(check: str, gpu: PciGpu, found: str, version: str, tested: tuple[int, int]) -> Finding:
    parts = re.match(r"(\d+)\.(\d+)", version)
    oldest = ".".join(map(str, tested))
    if parts is None:
        return Finding(
            check,
            gpu.address,
            State.NOTE,
            f"{found}, which cannot be compared with {oldest}, the oldest that was tested",
        )
    if (int(parts[1]), int(parts[2])) >= tested:
        return Finding(check, gpu.address, State.OK, found)
    remedy = f"install {RUNTIME}, the oldest that was tested"
    if check == "compiler-version":
        remedy = f"install {oldest} or newer (libigc2), the oldest that was tested"
    return Finding(check, gpu.address, State.WARNING, f"{found} is older than {oldest}", remedy)
