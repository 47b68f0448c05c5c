"""Findings about GPUs on the PCI bus the runtimes that reach devices, and the SPIR-V that OpenCL takes."""

from collections.abc import Iterator

from hal import DeviceKind, DeviceSpec, lacks_dpas
from hal.facts.xe import find_by_pci_id
from hal.probe.findings import Finding, State
from hal.probe.probe import ProbedDevice, ProbeReport, Probes
from hal.probe.readiness import RUNTIME, Machine, gpu_readiness
from hal.spirv.needs import BF16_CONVERSIONS, BLOCK_IO, PRODUCTS, TF32_PRODUCTS, SpirvNeeds, SpirvOffer

_VERSION = "1.4"  # of SPIR-V, that LLVM's backend writes
_BF16, _SHUFFLES = "SPV_INTEL_bfloat16_conversion", "SPV_INTEL_subgroups"


def hardware(probes: Probes, machine: Machine | None = None) -> Iterator[Finding]:
    """Yield findings about each Intel GPU on the bus, about OpenCL and the SPIR-V of its devices, and Level Zero."""
    looked_at = gpu_readiness(probes, machine)
    for one in looked_at:
        yield from one.findings
    if not looked_at:
        yield Finding("gpu", "PCI", State.NOTE, "no Intel GPU is on the PCI bus: kernels for GPUs are predicted")
    yield _runtime("opencl", "OpenCL", probes.opencl, probes.opencl.devices)
    for device in probes.opencl.devices:
        if device.spirv is not None:
            yield _spirv(device, device.spirv)
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


def _spirv(device: ProbedDevice, offer: SpirvOffer) -> Finding:
    """Return the versions of SPIR-V that the driver of a device takes, and the extensions that kernels need there."""
    needs = kernel_needs(find_by_pci_id(device.pci_id) if device.pci_id else None)
    wanted = (*needs.opencl_extensions, *(() if offer.extensions is None else needs.extensions))
    lacks = offer.lacks(needs)
    versions = ", ".join(sorted(offer.versions or ())) or "of unknown versions"
    has = ", ".join(name for name in wanted if name not in lacks) or "none of the extensions that kernels need"
    found = f"SPIR-V {versions}, with {has}"
    if not lacks:
        return Finding("spirv", device.address, State.OK, found)
    of_gpu = device.kind is DeviceKind.GPU
    remedy = f"install {RUNTIME}" if of_gpu else "install a newer CPU driver: `pip install -U intel-opencl-rt`"
    return Finding("spirv", device.address, State.WARNING, f"{found}; it lacks {', '.join(lacks)}", remedy)


def kernel_needs(row: DeviceSpec | None) -> SpirvNeeds:
    """Return what GEMM kernels may need of the driver on a GPU of the table, by its features; None: on a CPU."""
    opencl, spirv = {"cl_intel_required_subgroup_size": True, "cl_khr_fp16": True}, ()
    if row is not None:
        dpas = not lacks_dpas(row)
        opencl |= {
            "cl_intel_subgroups": True,
            "cl_khr_subgroup_shuffle": True,
            PRODUCTS: dpas,
            TF32_PRODUCTS: dpas and bool(row.dpas_tf32_fma_per_clk_per_eu),
            BLOCK_IO: bool(row.block2d),
            BF16_CONVERSIONS: bool(row.bf16_conversions),
        }
        spirv = (_BF16, _SHUFFLES) if row.bf16_conversions else (_SHUFFLES,)
    return SpirvNeeds(_VERSION, spirv, (), tuple(sorted(name for name, needed in opencl.items() if needed)))
