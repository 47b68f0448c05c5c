"""Merge of OpenCL, SYCL and the table into one entry per GPU of this machine."""

from collections.abc import Iterator
from dataclasses import dataclass

from hal.devices.listed import (
    Disagreement,
    ListedDevice,
    Match,
    Runtime,
    listed,
)
from hal.energy import gpu_meter
from hal.facts.spec import (
    DeviceKind,
    DeviceSpec,
    Fact,
    spec_from_facts,
)
from hal.facts.xe import (
    find_by_ip_version,
    find_by_pci_id,
)
from hal.probe.probe import (
    ProbedDevice,
    Probes,
)

# Drivers report the current or the free amount of these, not the product's.
_APPROXIMATE = frozenset({"memory_bytes", "bandwidth_bytes_per_s", "clock_mhz"})
_TOLERANCE = 0.1
# Facts in which GPUs of one IP version may differ.
_OF_THE_PRODUCT = _APPROXIMATE | {
    "pci_ids",
    "xe_cores",
    "nominal_clock_mhz",
    "l2_bytes",
    "memory_side_cache_bytes",
    "measured_bandwidth_bytes_per_s",
}


@dataclass(frozen=True, slots=True)
class _Rows:
    """Facts of a device from the table: its id, the facts, the criterion by which they were found, and the rows."""

    id: str
    facts: tuple[Fact, ...] = ()
    by: str | None = None
    ids: tuple[str, ...] = ()


def listed_gpus(probes: Probes) -> list[ListedDevice]:
    """Return the GPUs that either runtime found; a GPU that both found is one entry."""
    sycl_only = _sycl_gpus(probes)
    entries: list[ListedDevice] = []
    for device in probes.opencl.devices:
        if device.kind is DeviceKind.GPU:
            twin = next((other for other in sycl_only if _same_model(device, other)), None)
            if twin is not None:  # the n-th of a model is matched to the n-th: the runtimes share no other identifier
                sycl_only.remove(twin)
            entries.append(_through_opencl(device, twin))
    return entries + [_through_sycl(device) for device in sycl_only]


def _sycl_gpus(probes: Probes) -> list[ProbedDevice]:
    """Return SYCL's GPUs, those of Level Zero if there are any: SYCL lists a GPU once per backend."""
    gpus = [device for device in probes.sycl.devices if device.kind is DeviceKind.GPU]
    return [device for device in gpus if device.address.startswith("level_zero")] or gpus


def _same_model(one: ProbedDevice, other: ProbedDevice) -> bool:
    if one.pci_id is None or other.pci_id is None:
        return one.name == other.name  # all that SYCL tells where the backend refuses Intel's queries
    return one.pci_id == other.pci_id


def _through_opencl(device: ProbedDevice, twin: ProbedDevice | None) -> ListedDevice:
    spec, match, notes = _merged(device, twin)
    if twin is not None:
        notes = (f"also SYCL {twin.address}", *notes)
    no_energy = gpu_meter(device.pci_address).refusal
    return listed(spec, Runtime.OPENCL, device.address, runnable=True, notes=notes, match=match, no_energy=no_energy)


def _through_sycl(device: ProbedDevice) -> ListedDevice:
    spec, match, notes = _merged(device, None)
    missing = (
        "kernels are launched through OpenCL, which does not find it: install its OpenCL driver (intel-opencl-icd)"
    )
    return listed(spec, Runtime.SYCL, device.address, runnable=False, notes=(missing, *notes), match=match)


def _merged(device: ProbedDevice, twin: ProbedDevice | None) -> tuple[DeviceSpec, Match | None, tuple[str, ...]]:
    """Return the spec of a GPU, its match, and notes. Probed facts take precedence over the table's."""
    probed = (*device.facts, *(twin.facts if twin is not None else ()))
    rows = _rows(device)
    denied = tuple(_denied_dpas(device, rows.facts))
    tabled = tuple(fact for fact in rows.facts if not (denied and _is_of_dpas(fact.name)))
    spec = spec_from_facts(rows.id, device.name, DeviceKind.GPU, (*probed, *tabled))
    notes: tuple[str, ...] = ()
    if device.pci_id is None or find_by_pci_id(device.pci_id) is None:
        notes = (f"PCI id {device.pci_id or 'unknown'} is not in the table",)
    if rows.by is None:
        return spec, None, notes
    if notes:
        notes = (f"{notes[0]}; its {rows.by} is that of {', '.join(rows.ids)}",)
    by_name = {fact.name: fact for fact in rows.facts}
    compared = [fact for fact in spec.facts() if fact.name in by_name and fact in probed]
    differ = (*_disagreements(device, twin, by_name), *denied)
    names = {disagreement.fact for disagreement in differ}
    match = Match(rows.by, rows.ids, tuple(fact.name for fact in compared if fact.name not in names), differ)
    return spec, match, (*notes, *map(str, differ))


def _rows(device: ProbedDevice) -> _Rows:
    """Look up a device by PCI id, else by IP version, whose rows share the facts of their cores."""
    row = find_by_pci_id(device.pci_id) if device.pci_id is not None else None
    if row is not None:
        return _Rows(row.id, tuple(row.facts()), f"PCI id {device.pci_id}", (row.id,))
    id = f"gpu-{device.pci_id.lower()}" if device.pci_id is not None else "gpu"
    version = device.fact("ip_version")
    alike = find_by_ip_version(version) if isinstance(version, str) else ()
    if not alike:
        return _Rows(id)
    first, by = alike[0], f"IP version {version}"
    if len(alike) == 1 and first.pci_ids is None:  # no PCI ids are public, so it must be that row
        return _Rows(first.id, tuple(first.facts()), by, (first.id,))
    shared = tuple(fact for fact in first.facts() if fact.name not in _OF_THE_PRODUCT and _same_in(fact, alike))
    return _Rows(id, shared, by, tuple(row.id for row in alike))


def _same_in(fact: Fact, rows: tuple[DeviceSpec, ...]) -> bool:
    return all(getattr(row, fact.name) == fact.value for row in rows)


def _is_of_dpas(name: str) -> bool:
    return name.startswith(("dpas_", "sustained_"))


def _denied_dpas(device: ProbedDevice, tabled: tuple[Fact, ...]) -> Iterator[Disagreement]:
    """Yield a disagreement when the driver reports no DPAS and the table has it."""
    lanes = next((fact for fact in tabled if fact.name == "dpas_n"), None)
    if device.has_dpas is False and lanes is not None:
        yield Disagreement("dpas_n", "none", f"probed {device.address}", lanes.value, lanes.provenance)


def _disagreements(device: ProbedDevice, twin: ProbedDevice | None, tabled: dict[str, Fact]) -> Iterator[Disagreement]:
    """Yield each fact on which a runtime and the table disagree, once."""
    told: set[str] = set()
    for runtime in (device, *((twin,) if twin is not None else ())):
        for fact in runtime.facts:
            row = tabled.get(fact.name)
            if row is not None and fact.name not in told and not _agree(fact.name, fact.value, row.value):
                told.add(fact.name)
                by = f"{fact.provenance} {runtime.address}"
                yield Disagreement(fact.name, fact.value, by, row.value, row.provenance)


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
