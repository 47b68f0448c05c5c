"""Output of `xetune devices show` for one device: its uses, every fact and its source, and unknown facts."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from hal import FACT_NAMES, DeviceKind, ListedDevice, Runtime, needs_of, runs_own_code
from service.api.devices.schemas import (
    DeviceOut,
    MatchOut,
)
from service.cli.printing.facts import with_unit
from service.cli.printing.output import text_table

_OF_CPUS = frozenset({*FACT_NAMES[FACT_NAMES.index("cores") :], "l3_bytes"})
_OF_EITHER = frozenset({
    *("architecture", "target", "driver", "clock_mhz", "nominal_clock_mhz", "l1_bytes", "l2_bytes", "memory_bytes"),
    *("bandwidth_bytes_per_s", "measured_bandwidth_bytes_per_s"),
})  # fmt: skip
_OF_RESTRICTIONS = frozenset({"refused_types"})
# The first fact of each part.
_PARTS = {
    "architecture": "Identity",
    "grf_bytes": "What code depends on",
    "xe_cores": "What speed depends on",
    "cores": "Of a CPU",
}


def render_device(device: DeviceOut, listed: ListedDevice) -> RenderableType:
    """Render one device in full; `listed` is its entry in the listing."""
    parts = [_heading(device), _uses(device), *_remarks(device), _facts(listed)]
    if device.match is not None:
        parts.append(_match(device.match))
    parts += _unknown(listed)
    return Group(*(Padding(part, (0, 0, 1, 0)) for part in parts[:-1]), parts[-1])


def _heading(device: DeviceOut) -> RenderableType:
    where = f"here, at {device.address}" if device.address is not None else f"not in this machine ({device.runtime})"
    if device.runtime is Runtime.SIMULATED:
        where = "a GPU that Intel's driver simulates here"
    elif device.runtime is Runtime.PCI:
        where = "in this machine, but no driver shows it"
    elif device.runtime is Runtime.HOST:
        where = "the CPU of this machine, also called cpu and host-cpu"
    lines = [Text(device.id, style="bold cyan").append(f"  {device.name}", style="bold"), Text(where)]
    if device.aliases:
        lines.append(Text(f"also called {', '.join(device.aliases)}"))
    if device.note:
        lines.append(Text(device.note, style="yellow"))
    return Group(*lines)


def _uses(device: DeviceOut) -> RenderableType:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for use in device.uses:
        mark = Text("yes", style="bold green") if use.ready else Text("no", style="bold red")
        assumed = f"assumed: {', '.join(use.assumed)}" if use.assumed else ""
        table.add_row(use.use.value, mark, "; ".join(text for text in (use.reason, assumed) if text))
    return table


def _remarks(device: DeviceOut) -> Iterator[RenderableType]:
    if device.remarks:
        table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 1, 0, 0))
        for remark in device.remarks:
            table.add_row("-", remark)
        yield table


def _facts(listed: ListedDevice) -> RenderableType:
    """Render the known facts in groups, sources by number; then the sources."""
    spec = listed.spec
    table = text_table(Column("fact", no_wrap=True), "value", Column("from", overflow="fold", style="dim"))
    numbers: dict[str, int] = {}
    waiting: str | None = None
    for name in FACT_NAMES:
        waiting = _PARTS.get(name, waiting)
        if name not in spec.provenance:
            continue
        if waiting is not None:
            table.add_row(Text(waiting, style="cyan"))
            waiting = None
        kind, _, source = spec.provenance[name].partition(":")
        origin = f"[{numbers.setdefault(source, len(numbers) + 1)}]" if kind == "table" else spec.provenance[name]
        table.add_row(name, with_unit(spec, name), origin)
    return Group(table, *(Text(f"[{number}] {source}", style="dim") for source, number in numbers.items()))


def _match(match: MatchOut) -> RenderableType:
    found = Text(f"Matched to {', '.join(match.rows)} by {match.by}: ")
    if not match.disagreements:
        return found.append(f"driver and table agree on {', '.join(match.agreed)}", style="green")
    table = text_table("fact", "driver (counts)", "from", "table", "from")
    for d in match.disagreements:
        table.add_row(d.fact, str(d.probed), d.probed_by, str(d.tabled), d.tabled_by)
    count = len(match.disagreements)
    return Group(found.append("1 fact differs" if count == 1 else f"{count} facts differ", style="yellow"), table)


def _unknown(listed: ListedDevice) -> list[RenderableType]:
    """Render the unknown facts, with the uses that they prevent."""
    spec = listed.spec
    names = [name for name in FACT_NAMES if name not in spec.provenance and name not in _OF_RESTRICTIONS]
    if spec.kind is DeviceKind.GPU:
        names = [name for name in names if name not in _OF_CPUS]
    elif runs_own_code(spec):
        asked = _OF_CPUS | _OF_EITHER if "amx_tile" in (spec.isa or ()) else (_OF_CPUS | _OF_EITHER) - {"amx_permitted"}
        names = [name for name in names if name in asked]
    needs = needs_of(spec)
    lines = [
        Text(f"Not known, and needed to {use.value}: {', '.join(lacking)}", style="yellow")
        for use, needed in needs.items()
        if (lacking := [name for name in needed if name in names])
    ]
    needed = {name for group in needs.values() for name in group}
    others = [name for name in names if name not in needed]
    return [*lines, Text(f"Not known, nothing waits for it: {', '.join(others)}", style="dim")] if others else [*lines]
