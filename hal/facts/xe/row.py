"""A row of the table: a name, then groups of facts."""

from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from hal.facts.spec import (
    DeviceKind,
    DeviceSpec,
    Fact,
    derived,
    spec_from_facts,
    table,
)
from hal.facts.xe.sources import NEO

KIB, MIB, GIB, GB = 2**10, 2**20, 2**30, 10**9

Facts = tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class XeDevice:
    """One row: the spec, other names of the device, and disagreements of its sources."""

    spec: DeviceSpec
    aliases: tuple[str, ...]
    notes: tuple[str, ...]


class Named(NamedTuple):
    """Identifiers of a row."""

    id: str
    name: str
    aliases: tuple[str, ...]
    pci_ids: tuple[str, ...]


def named(id: str, name: str, aliases: str, pci_ids: str) -> Named:
    """Return the identifiers of a row; aliases and PCI ids are separated by spaces."""
    return Named(id, name, tuple(aliases.split()), tuple(pci_ids.split()))


def stated(source: str, **values: object) -> Facts:
    """Return facts that a source states."""
    return tuple(Fact(name, value, table(source)) for name, value in values.items())


def follows(how: str, **values: object) -> Facts:
    """Return facts that follow from others by the arithmetic in `how`."""
    return tuple(Fact(name, value, derived(how)) for name, value in values.items())


def row(names: Named, *groups: Facts, notes: tuple[str, ...] = ()) -> XeDevice:
    """Return a row; the first of two facts of one name wins."""
    pci_ids = stated(NEO, pci_ids=names.pci_ids or None)
    spec = spec_from_facts(names.id, names.name, DeviceKind.GPU, (*pci_ids, *chain.from_iterable(groups)))
    return XeDevice(spec, names.aliases, notes)
