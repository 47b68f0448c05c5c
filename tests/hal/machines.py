"""Machines with Intel GPUs, as trees of files like those of /sys, /dev, /etc and /usr."""

from pathlib import Path

from hal import DeviceKind, Fact
from hal.facts.spec import PROBED
from hal.probe.probe import NO_RUNTIME, ProbedDevice, ProbeReport, Probes
from hal.probe.readiness import Machine

NOTHING = Probes(ProbeReport(fault=NO_RUNTIME), ProbeReport(fault="SYCL needs the package dpctl"))
ADDRESS = "0000:03:00.0"
DRIVER = "26.27.039122"


def machine(root: Path, *, is_in_group: bool = True) -> Machine:
    """Return the machine below a folder, for a user who is in the group render of its render nodes or not."""
    return Machine(root, may_use=lambda path: is_in_group, group_of=lambda path: ("render", 105))


def add_gpu(
    root: Path,
    pci_id: str = "E20B",
    address: str = ADDRESS,
    driver: str | None = "xe",
    node: str | None = "renderD128",
) -> None:
    """Put a GPU on the bus, with a kernel driver and a render node unless they are None."""
    folder = root / "sys/bus/pci/devices" / address
    folder.mkdir(parents=True)
    for name, text in (("vendor", "0x8086"), ("class", "0x030000"), ("device", f"0x{pci_id.lower()}")):
        (folder / name).write_text(f"{text}\n")
    if driver is not None:
        module = root / "sys/bus/pci/drivers" / driver
        module.mkdir(parents=True, exist_ok=True)
        (folder / "driver").symlink_to(module)
    if node is not None:
        (folder / "drm" / node).mkdir(parents=True)
        add_node(root, node)


def add_node(root: Path, node: str) -> None:
    """Make a render node that its group may use."""
    path = root / "dev/dri" / node
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    path.chmod(0o660)


def add_opencl_driver(root: Path, compiler: str = "2.40.14+0") -> None:
    """Install an OpenCL driver with its graphics compiler."""
    vendors, libraries = root / "etc/OpenCL/vendors", root / "usr/lib/x86_64-linux-gnu"
    vendors.mkdir(parents=True)
    libraries.mkdir(parents=True)
    (vendors / "intel.icd").write_text("libigdrcl.so\n")
    (libraries / f"libigc.so.{compiler}").touch()


def probed(pci_id: str = "E20B", driver: str = DRIVER, pci_address: str | None = ADDRESS, **facts: object) -> Probes:
    """Return the report of OpenCL about one GPU."""
    values = {"pci_ids": (pci_id,), "driver": f"Intel(R) OpenCL Graphics {driver}"} | facts
    told = tuple(Fact(name, value, PROBED) for name, value in values.items())
    gpu = ProbedDevice("opencl:0:0", "Intel(R) Graphics", DeviceKind.GPU, told, True, pci_address)
    return Probes(ProbeReport((gpu,)), ProbeReport(fault="SYCL needs the package dpctl"))
