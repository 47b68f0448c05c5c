"""Entry of the device list, and the check whether kernels can be compiled for it."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from hal.energy import NOT_HERE
from hal.facts.cpu import (
    TARGET,
    X86_64,
)
from hal.facts.spec import (
    DeviceKind,
    DeviceSpec,
)
from hal.probe.findings import Finding

TARGETS = ("pvc", "bmg", "lnl-m", "ptl-h", "dg2", "arl-h", "mtl-h", "mtl-u")
SUBGROUP_SIZES = (8, 16)
"""Sub-groups that kernels can be compiled for."""
_EMULATED_SUBGROUP_SIZE = 16
NATIVE = "native"
"""Address of the CPU that this program runs on."""
OVERSUBSCRIBED = "native:oversubscribed"
"""The same, with more threads per kernel than CPUs allowed."""


class Runtime(StrEnum):
    """Runtime through which a device is reached."""

    OPENCL = "opencl"
    SYCL = "sycl"
    HOST = "host"
    PCI = "pci"  # on the bus, and no driver shows it
    SIMULATED = "simulated"  # Intel's driver without a GPU
    TABLE = "table"


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A fact on which driver and table disagree; the driver's value is used. The sources are provenances."""

    fact: str
    probed: object
    probed_by: str
    tabled: object
    tabled_by: str

    def __str__(self) -> str:
        return f"{self.fact} is {self.probed} by the driver, {self.tabled} by the table"


@dataclass(frozen=True, slots=True)
class Match:
    """Match of a probed device in the table: its criterion, the rows, and agreements and disagreements with the driver.

    Several rows share an IP version: then only the facts that they have in common were used.
    """

    by: str
    rows: tuple[str, ...]
    agreed: tuple[str, ...]
    disagreements: tuple[Disagreement, ...]


@dataclass(frozen=True, slots=True)
class ListedDevice:
    """A device and its possible uses. `address` identifies it to its runtime; None when nothing can reach it.

    `runnable`: kernels can be launched on it here. `targetable`: kernels can be compiled for it. `note` is
    for users: reasons why not, other runtimes that reach it, disagreements of its facts. `match` is how a GPU
    in this machine was found in the table; None for one that is not here or not in the table. `no_energy`
    says why the energy of launches cannot be read; None when it can. `findings` are those about a GPU on the PCI bus.
    """

    spec: DeviceSpec
    runtime: Runtime
    address: str | None
    runnable: bool
    targetable: bool
    note: str
    match: Match | None = None
    no_energy: str | None = NOT_HERE
    findings: tuple[Finding, ...] = ()


def listed(
    spec: DeviceSpec,
    runtime: Runtime,
    address: str | None,
    *,
    runnable: bool,
    notes: tuple[str, ...] = (),
    match: Match | None = None,
    no_energy: str | None = NOT_HERE,
) -> ListedDevice:
    """Return an entry; its note ends with the reason when kernels cannot be compiled for it."""
    reason = untargetable_reason(spec)
    if reason is not None:
        notes = (*notes, f"not targetable: {reason}")
    return ListedDevice(spec, runtime, address, runnable, reason is None, "; ".join(notes), match, no_energy)


def untargetable_reason(spec: DeviceSpec) -> str | None:
    """Return why kernels cannot be compiled for a device, from its facts; None when they can."""
    return "; ".join(_obstacles_of_cpu(spec) if runs_own_code(spec) else _obstacles(spec)) or None


def runs_own_code(spec: DeviceSpec) -> bool:
    """Return whether a device is a CPU that runs its own instructions, as opposed to emulating a GPU."""
    return spec.kind is DeviceKind.CPU and spec.emulates is None


def _obstacles_of_cpu(spec: DeviceSpec) -> Iterator[str]:
    if spec.architecture != X86_64:
        yield f"kernels are made for x86-64 CPUs, it is {spec.architecture or 'of an unknown architecture'}"
    elif spec.target != TARGET:
        yield f"no compiler target is known for it (there is {TARGET})"
    elif spec.isa is not None and not {"avx2", "fma"} <= set(spec.isa):
        yield "it has no AVX2 with FMA"


def _obstacles(spec: DeviceSpec) -> Iterator[str]:
    size = subgroup_size(spec)
    if spec.dpas_n is None and not lacks_dpas(spec):
        yield "it is not known to have DPAS"
    elif size not in SUBGROUP_SIZES or size not in (spec.subgroup_sizes or ()):
        sizes = " or ".join(map(str, SUBGROUP_SIZES))
        yield f"it is not known to have sub-groups of {sizes}, those of kernels"
    elif spec.emulates is not None and size != _EMULATED_SUBGROUP_SIZE:
        yield f"a CPU emulates sub-groups of {_EMULATED_SUBGROUP_SIZE}, its kernels have {size}"
    if spec.block2d is None:
        yield "it is not known to have 2-D block loads"
    elif spec.target not in TARGETS:
        yield f"no compiler target is known for it (there are {', '.join(TARGETS)})"


def lacks_dpas(spec: DeviceSpec) -> bool:
    """Return whether a GPU is known to have no DPAS: its kernels multiply and add in lanes."""
    return spec.dpas_f16_fma_per_clk_per_eu == 0


def subgroup_size(spec: DeviceSpec) -> int | None:
    """Return the lanes of a sub-group in kernels for a GPU: those of DPAS, else the fewest; None if not known."""
    return spec.dpas_n or min(spec.subgroup_sizes or (), default=None)
