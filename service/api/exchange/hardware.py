"""Comparison of devices that share an id."""

from sqlalchemy.orm import Session

from db.queries import devices
from hal import DeviceKind, DeviceSpec
from service.device_json import spec_of_row

_OF_CPUS = ("architecture", "isa", "vector_bytes", "l1_bytes", "l2_bytes", "l3_bytes")


def difference(spec: DeviceSpec, here: DeviceSpec) -> tuple[str, str] | None:
    """Return the fact in which two devices of one id differ, as each has it; None if they may be the same hardware."""
    facts = [(s.kind.value, s.emulates, s.ip_version, s.pci_ids, s.name) for s in (spec, here)]
    (kind, emulates, ip_version, pci_ids, name), (kind_2, emulates_2, ip_version_2, pci_ids_2, name_2) = facts
    if (kind, emulates) != (kind_2, emulates_2):
        return _kind(kind, emulates), _kind(kind_2, emulates_2)
    if ip_version is not None and ip_version_2 is not None and ip_version != ip_version_2:
        return f"IP version {ip_version}", f"IP version {ip_version_2}"
    if pci_ids is not None and pci_ids_2 is not None and not set(pci_ids) & set(pci_ids_2):
        return f"PCI id {', '.join(pci_ids)}", f"PCI id {', '.join(pci_ids_2)}"
    if spec.kind is not DeviceKind.CPU:  # the id of a GPU names the product
        return None
    return (name, name_2) if name != name_2 else _differing_fact(spec, here)


def _differing_fact(spec: DeviceSpec, here: DeviceSpec) -> tuple[str, str] | None:
    """Return the first fact known of both CPUs that differs: virtual machines give many CPUs one name."""
    for fact in _OF_CPUS:
        values = getattr(spec, fact), getattr(here, fact)
        if None not in values and values[0] != values[1]:
            return f"{fact} {values[0]}", f"{fact} {values[1]}"
    return None


def _kind(kind: str, emulates: str | None) -> str:
    return f"a {kind}" if emulates is None else f"a {kind} that emulates {emulates}"


def stored_spec(session: Session, id: str) -> DeviceSpec | None:
    """Return the newest stored device of an id; None if there is none."""
    row = devices.latest(session, id)
    return None if row is None else spec_of_row(row)
