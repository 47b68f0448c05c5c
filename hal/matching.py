"""One entry for each GPU in this machine, from what OpenCL, SYCL and the table say of it."""

from collections.abc import Iterator

from hal.listed import Backend, ListedDevice, listed
from hal.probe import ProbedDevice, Probes
from hal.spec import DeviceKind, DeviceSpec, Fact, spec_from_facts
from hal.xe import find_by_pci_id

_DPAS_FACTS = frozenset({"dpas_m", "dpas_n", "dpas_k_bytes", "dpas_f16_fma_per_clk_per_eu"})
# Drivers give these as they are set or free at the moment, not as the product is sold.
_APPROXIMATE = frozenset({"memory_bytes", "bandwidth_bytes_per_s", "clock_mhz"})
_TOLERANCE = 0.1


def listed_gpus(probes: Probes) -> list[ListedDevice]:
    """The GPUs that either runtime found; one that both found is one entry."""
    sycl_only = _sycl_gpus(probes)
    entries: list[ListedDevice] = []
    for device in probes.opencl.devices:
        if device.kind is DeviceKind.GPU:
            twin = next((other for other in sycl_only if _same_model(device, other)), None)
            if twin is not None:  # the n-th of a model is taken for the n-th: the runtimes share no other name
                sycl_only.remove(twin)
            entries.append(_through_opencl(device, twin))
    return entries + [_through_sycl(device) for device in sycl_only]


def _sycl_gpus(probes: Probes) -> list[ProbedDevice]:
    """SYCL's GPUs, those of Level Zero if there are any: SYCL lists a GPU once for each of its own backends."""
    gpus = [device for device in probes.sycl.devices if device.kind is DeviceKind.GPU]
    return [device for device in gpus if device.address.startswith("level_zero")] or gpus


def _same_model(one: ProbedDevice, other: ProbedDevice) -> bool:
    return one.pci_id is not None and one.pci_id == other.pci_id


def _through_opencl(device: ProbedDevice, twin: ProbedDevice | None) -> ListedDevice:
    facts = (*device.facts, *(twin.facts if twin is not None else ()))
    spec, notes = _merged(device, facts)
    if twin is not None:
        notes = (f"also SYCL {twin.address}", *notes)
    return listed(spec, Backend.OPENCL, device.address, runnable=True, notes=notes)


def _through_sycl(device: ProbedDevice) -> ListedDevice:
    spec, notes = _merged(device, device.facts)
    missing = (
        "kernels are launched through OpenCL, which does not find it: install its OpenCL driver (intel-opencl-icd)"
    )
    return listed(spec, Backend.SYCL, device.address, runnable=False, notes=(missing, *notes))


def _merged(device: ProbedDevice, probed: tuple[Fact, ...]) -> tuple[DeviceSpec, tuple[str, ...]]:
    """The spec of a GPU: probed facts count, the table's fill the rest. And what to note."""
    row = find_by_pci_id(device.pci_id) if device.pci_id is not None else None
    if row is None:
        unlisted = f"PCI id {device.pci_id or 'unknown'} is not in the table"
        id = f"gpu-{device.pci_id.lower()}" if device.pci_id is not None else "gpu"
        return spec_from_facts(id, device.name, DeviceKind.GPU, probed), (unlisted,)
    notes = tuple(_disagreements(probed, row))
    tabled = tuple(row.facts())
    if device.has_dpas is False and row.dpas_n is not None:
        tabled = tuple(fact for fact in tabled if fact.name not in _DPAS_FACTS)
        notes = (*notes, "the driver says it has no DPAS, the table that it has")
    return spec_from_facts(row.id, device.name, DeviceKind.GPU, (*probed, *tabled)), notes


def _disagreements(probed: tuple[Fact, ...], row: DeviceSpec) -> Iterator[str]:
    tabled = {fact.name: fact.value for fact in row.facts()}
    for fact in probed:
        if fact.name in tabled and not _agree(fact.name, fact.value, tabled[fact.name]):
            yield f"{fact.name} is {fact.value} by the driver, {tabled[fact.name]} by the table"


def _agree(name: str, probed: object, tabled: object) -> bool:
    match probed, tabled:
        case tuple(), tuple():  # the device has one of the row's PCI ids
            return set(probed) <= set(tabled)
        case int(), int() if name in _APPROXIMATE:
            return abs(probed - tabled) <= _TOLERANCE * tabled
        case str(), str() if name == "ip_version":  # the last number is the stepping
            return probed.rpartition(".")[0] == tabled.rpartition(".")[0]
        case _:
            return probed == tabled
