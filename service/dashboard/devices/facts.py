"""Facts of a device in words: what each is called, and its value with a unit."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from hal.facts.spec import Fact
from service.dashboard.units import count, rate, size
from tuner.model.cpu_roof import CpuRates


@dataclass(frozen=True, slots=True)
class ShownFact:
    """A fact in words. `source` is the kind of its provenance: probed, table, derived; `of` says the rest."""

    name: str
    value: str
    source: str
    of: str


def measured_rates(rates: CpuRates) -> list[ShownFact]:
    """The measured rates of a CPU in words."""
    when = "on all cores, when a job first used it"
    multiplies = [
        ShownFact(f"{each.instruction} multiplies", rate(each.ops_per_s / 1e9), "measured", when)
        for each in rates.multiplies
    ]
    return [*multiplies, ShownFact("memory reads", f"{rates.bytes_per_s / 1e9:,.1f} GB/s", "measured", when)]


# Endings that say a unit: what stands in the name instead, and how the value is written.
_ENDINGS: tuple[tuple[str, str, Callable[[int | float], str]], ...] = (
    ("_bytes_per_s", "", lambda value: f"{value / 1e9:,.1f} GB/s"),
    ("_bytes_per_clk_per_core", " rate", lambda value: f"{value:,g} B a clock and core"),
    ("_fma_per_clk_per_eu", " rate", lambda value: f"{value:,g} multiply-adds a clock and EU"),
    ("_mac_per_clk_per_eu", " rate", lambda value: f"{value:,g} multiply-adds a clock and EU"),
    ("_bytes_per_core", " per core", lambda value: size(int(value))),
    ("_bytes", "", lambda value: size(int(value))),
    ("_mhz", "", lambda value: f"{value:,.0f} MHz"),
    ("_workgroup_size", " work-group", lambda value: f"{value:,} work-items"),
)
_NAMES = {"grf_bytes": "GRF register", "vector_bytes": "vector register", "line_bytes": "cache line"}
_SHORT = re.compile(r"\b(?:dpas|eus?|grf|ip|isa|l[123]|numa|pci|slm)\b")


def shown(fact: Fact) -> ShownFact:
    """The fact in words."""
    source, _, rest = fact.provenance.partition(":")
    name, value = _said(fact)
    return ShownFact(name, value, source.split(" ")[0], rest.strip() or fact.provenance.partition(" ")[2])


def _said(fact: Fact) -> tuple[str, str]:
    value, name = fact.value, fact.name
    if isinstance(value, int | float) and not isinstance(value, bool):
        for ending, instead, written in _ENDINGS:
            if name.endswith(ending):
                return _NAMES.get(name) or _words(name.removesuffix(ending) + instead), written(value)
    return _words(name), _plain(value)


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return count(value) if isinstance(value, int) else str(value)


def _words(name: str) -> str:
    said = _SHORT.sub(lambda found: found[0].upper().replace("EUS", "EUs"), name.replace("_", " "))
    return said.replace("xe cores", "Xe cores")
