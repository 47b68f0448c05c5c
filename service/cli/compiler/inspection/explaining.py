"""Explanation of a predicted time as text."""

from math import log10
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from codegen import CpuConfig, GemmProblem, XeConfig
from hal import DeviceSpec
from service.cli.printing.output import CONSOLE, number_column, print_json, text_table
from tuner.backend import tuning_for
from tuner.model.xe import Explanation, L2Size, predict
from tuner.model.xe.machine_code import step_clocks

if TYPE_CHECKING:
    from codegen.xe.machine.pipeline import PipelineReport

_BAR = 12  # characters of the longest part
_ADDED = ("spills", "kernels", "launch")  # parts that are not overlapped
_WIDTH, _HEIGHT = 56, 10  # of the plot, in characters


def pipeline_json_of(
    problem: GemmProblem, config: XeConfig, spec: DeviceSpec, pipeline: "PipelineReport | None"
) -> dict[str, object]:
    """Return the pipeline of the K loop and the time with its clocks; nothing without --isa."""
    if pipeline is None:
        return {}
    from codegen.xe.isa import pipeline_json

    return {"pipeline": pipeline_json(pipeline) | {"time_us": time_with_pipeline(problem, config, spec, pipeline)}}


def time_with_pipeline(problem: GemmProblem, config: XeConfig, spec: DeviceSpec, pipeline: "PipelineReport") -> float:
    """Return the predicted time in us with the clocks of the machine code."""
    return predict(problem, config, spec, step_clocks(problem, config, spec, pipeline)).time_us


def explain_cpu(problem: GemmProblem, config: CpuConfig, spec: DeviceSpec, *, as_json: bool) -> None:
    """Print why a configuration is chosen on a CPU, below the problem and the configuration."""
    # Imported here: an explanation for a GPU needs neither of these.
    if as_json:
        from service.api.explain.service import cpu_explanation

        print_json(cpu_explanation(problem, config, spec).model_dump(mode="json"))
        return
    from service.cli.compiler.inspection.explain_cpu import render_cpu_explanation

    CONSOLE.print(
        render_cpu_explanation(problem, config, spec, is_default=config == tuning_for(spec).default(problem, spec))
    )


def render_explanation(explained: Explanation) -> RenderableType:
    """Render the time, the parts by length, the placement of work, and the roofline."""
    p, unit = explained.prediction, unit_of(explained.prediction.time_us)
    time = (
        f"predicted      {in_unit(unit, p.time_us)} ({in_unit(unit, p.low_us)} to {in_unit(unit, p.high_us)}), "
        f"{explained.tflops:.1f} of {explained.peak_tflops:.1f} TFLOP/s"
    )
    longest = max(part.time_us for part in explained.parts)
    share = f"which alone takes {longest / p.time_us:.0%} of the time"
    bound = f"bound by       {explained.bound_by}, {share}; model {p.model_version}"
    return Group(
        Text(time),
        Text(bound),
        _parts(explained),
        *_facts(explained),
        Text(),
        *_roofline(explained),
    )


def _parts(explained: Explanation) -> Table:
    taken = [part for part in explained.parts if part.time_us > 0]
    none = ", ".join(part.name for part in explained.parts if part.time_us <= 0)
    caption = f"What each takes alone. They overlap; {', '.join(_ADDED)} are added."
    part, bar, meaning = (Column(heading, no_wrap=True) for heading in ("part", "", "what it is"))
    table = text_table(part, number_column("time"), bar, meaning)
    table.caption, table.caption_justify = f"{caption}\nNo time: {none}." if none else caption, "left"
    longest, unit = max(part.time_us for part in taken), unit_of(explained.prediction.time_us)
    for part in sorted(taken, key=lambda part: -part.time_us):
        table.add_row(part.name, in_unit(unit, part.time_us), "█" * round(_BAR * part.time_us / longest), part.what)
    return table


def _facts(e: Explanation) -> list[Text]:
    spilled = f"; in memory: {e.registers_spilled}" if e.registers_spilled else ""
    again = f", {e.memory_bytes / e.least_bytes:.1f} times what the operands hold"
    return [
        Text(
            f"work-groups    {e.work_groups}, {e.groups_per_core} on a core at a time in {e.waves} "
            f"wave{'s' if e.waves > 1 else ''}, {e.busy:.0%} of places busy"
        ),
        Text(
            f"threads        up to {e.threads_per_engine} an EU; {e.registers_needed} registers needed of "
            f"{e.registers}{spilled}"
        ),
        Text(f"memory         {e.memory_bytes / 1e6:,.1f} MB read and written{again}"),
        *_assumed(e.l2),
    ]


def _assumed(l2: L2Size) -> list[Text]:
    if not l2.is_assumed:
        return []
    likely, least, most = (f"{size / 2**20:g}" for size in (l2.likely, l2.least, l2.most))
    return [Text(f"assumed        L2 of {likely} MiB; the interval covers {least} to {most} MiB")]


def _roofline(e: Explanation) -> list[RenderableType]:
    """Plot the ceiling of each level over intensity, on logarithmic axes, with the point of the configuration
    on each.
    """
    table = text_table(Column("level"), *map(number_column, ("GB/s", "FLOP/byte", "allows TFLOP/s")))
    for c in e.ceilings:
        table.add_row(
            c.level, f"{c.gbytes_per_s:,.0f}", f"{c.flops_per_byte:,.1f}", f"{min(c.tflops, e.peak_tflops):.1f}"
        )
    return [table, Text(), Text("\n".join(_picture(e)))]


def _picture(e: Explanation) -> list[str]:
    intensities = [c.flops_per_byte for c in e.ceilings]
    left, right = log10(min(intensities)) - 0.5, log10(max(intensities)) + 0.5
    top = log10(e.peak_tflops) + 0.1
    bottom = min(log10(e.tflops) - 0.3, top - 2)

    def row(tflops: float) -> int:
        return round((top - log10(tflops)) / (top - bottom) * (_HEIGHT - 1))

    def column(intensity: float) -> int:
        return round((log10(intensity) - left) / (right - left) * (_WIDTH - 1))

    cells = [[" "] * _WIDTH for _ in range(_HEIGHT)]
    for x in range(_WIDTH):
        intensity = 10 ** (left + x / (_WIDTH - 1) * (right - left))
        for c in reversed(e.ceilings):
            y = row(min(c.gbytes_per_s * intensity / 1e3, e.peak_tflops))
            if 0 <= y < _HEIGHT:
                cells[y][x] = "─" if c.gbytes_per_s * intensity / 1e3 >= e.peak_tflops else "/"
    for number, c in enumerate(e.ceilings, 1):
        cells[min(max(row(e.tflops), 0), _HEIGHT - 1)][column(c.flops_per_byte)] = str(number)
    lines = [
        f"{10 ** (top - y / (_HEIGHT - 1) * (top - bottom)):8.1f} │{''.join(line)}" for y, line in enumerate(cells)
    ]
    lines[0] += "  TFLOP/s"
    ends = f"{10**left:.1f}", f"{10**right:,.0f} FLOP/byte"
    axis = f"{'':8} └{'─' * _WIDTH}"
    named = ", ".join(f"{number} {c.level}" for number, c in enumerate(e.ceilings, 1))
    return [
        *lines,
        axis,
        f"{'':10}{ends[0]}{ends[1]:>{_WIDTH - len(ends[0])}}",
        f"{'':10}this configuration at: {named}",
    ]


def unit_of(time_us: float) -> str:
    """Return the unit of all times of a page."""
    return "ms" if time_us >= 1e3 else "us"


def in_unit(unit: str, time_us: float) -> str:
    """Format microseconds in "us" or "ms"."""
    return f"{time_us / 1e3:.3f} ms" if unit == "ms" else f"{time_us:.1f} us"
