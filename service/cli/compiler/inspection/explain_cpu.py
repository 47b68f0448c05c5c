"""Output of `xetune explain` for a CPU: the steps to the default configuration, and the traffic of its loops."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from codegen import CpuConfig, GemmProblem
from hal import DeviceSpec
from service.api.explain.service import held_bytes
from service.cli.printing.output import number_column, text_table
from tuner.backend import tuning_for
from tuner.space.cpu.traffic import (
    Traffic,
    traffic,
)
from tuner.space.step import HeuristicStep


def render_cpu_explanation(
    problem: GemmProblem, config: CpuConfig, spec: DeviceSpec, *, is_default: bool
) -> RenderableType:
    """Return the steps, then a column for each cache and a row for each operand."""
    named = "steps to it" if is_default else "steps to the default, which this is not"
    return Group(
        _steps(tuning_for(spec).explain_default(problem, spec), named),
        _traffic(problem, traffic(problem, config, spec)),
    )


def _steps(steps: Sequence[HeuristicStep], title: str) -> Table:
    table = text_table("step", "choice", "why", title=title)
    for step in steps:
        table.add_row(step.name, step.choice, step.why)
    return table


def _traffic(problem: GemmProblem, found: Sequence[Traffic]) -> RenderableType:
    held = held_bytes(problem)
    numbers = (number_column(heading) for heading in ("held", *(f"into {t.level.name}" for t in found)))
    table = text_table(Column(""), *numbers, title="bytes into caches, estimated")
    for name, label in (("a", "A"), ("b", "B"), ("c", "C and sums"), ("packing", "packing")):
        own = held.get(name, 0)
        table.add_row(label, _size(own) if own else "", *(_times(getattr(t, name), own) for t in found))
    table.add_section()
    table.add_row("all", _size(sum(held.values())), *(_times(t.total, sum(held.values())) for t in found))
    flops = problem.flops
    intensity = (f"{flops / t.total:,.1f}" for t in found)
    table.add_row("flop/byte", f"{flops / sum(held.values()):,.1f}", *intensity)
    last = found[-1].level.name if found else "no cache whose size is known"
    note = f"held: by the operands; x: multiple of it. Traffic into {last} comes from memory unless cached."
    return Group(table, Text(note, style="dim"))


def _times(nbytes: int, own: int) -> str:
    if not nbytes:
        return "-"
    return f"{_size(nbytes)} x{nbytes / own:.1f}" if own else _size(nbytes)


def _size(nbytes: int) -> str:
    for unit, least in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if nbytes >= least:
            return f"{nbytes / least:,.1f} {unit}"
    return f"{nbytes} B"
