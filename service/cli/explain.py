"""xetune explain: where the predicted time of a configuration goes, and what bounds it; on a CPU, why it is so."""

from math import log10

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from codegen import CpuConfig, GemmProblem, KernelConfig
from codegen.target_kind import check_kernel
from hal import DeviceSpec
from service.cli.configuration import ConfigFile, ConfigOptions, Settings
from service.cli.device_file import named_device
from service.cli.explain_cpu import cpu_explanation_json, render_cpu_explanation
from service.cli.output import CONSOLE, print_json
from service.cli.problem import AsJson, DeviceOrFile, ProblemOptions, with_problem
from service.convert import config_to_json
from tuner.model.xe import Explanation, explain
from tuner.targets import default_for

_BAR = 20  # characters of the longest part
_WIDTH, _HEIGHT = 56, 10  # of the picture, in characters


@with_problem
def explain_command(
    problem: ProblemOptions,
    device: DeviceOrFile = "b580",
    config: ConfigFile = None,
    settings: Settings = None,
    as_json: AsJson = False,
) -> None:
    """Predict a GEMM's time on a GPU (--m, --n, --k), part by part, with a roofline.

    On a CPU, where times are measured: the steps to the default configuration, and an estimate of cache traffic.
    """
    spec, gemm = named_device(device, None).spec, problem.read()
    chosen = ConfigOptions(config, settings or []).read(gemm, spec)
    check_kernel(gemm, chosen, spec)
    if isinstance(chosen, CpuConfig):
        _explain_cpu(gemm, chosen, spec, as_json=as_json)
        return
    explained = explain(gemm, chosen, spec)
    if as_json:
        print_json(explanation_json(gemm, chosen, spec.id, explained))
        return
    CONSOLE.print(f"{gemm} on {spec.name}", highlight=False, soft_wrap=True)
    CONSOLE.print(f"configuration  {chosen}", highlight=False, soft_wrap=True)
    CONSOLE.print(render_explanation(explained))


def _explain_cpu(problem: GemmProblem, config: CpuConfig, spec: DeviceSpec, *, as_json: bool) -> None:
    if as_json:
        print_json(cpu_explanation_json(problem, config, spec))
        return
    CONSOLE.print(f"{problem} on {spec.name}", highlight=False, soft_wrap=True)
    CONSOLE.print(f"configuration  {config}", highlight=False, soft_wrap=True)
    CONSOLE.print(render_cpu_explanation(problem, config, spec, is_default=config == default_for(problem, spec)))


def explanation_json(
    problem: GemmProblem, config: KernelConfig, device: str, explained: Explanation
) -> dict[str, object]:
    """The same as values; times in microseconds."""
    e, p = explained, explained.prediction
    return {
        "problem": str(problem),
        "device": device,
        "config": config_to_json(config),
        "model": p.model_version,
        "time_us": p.time_us,
        "low_us": p.low_us,
        "high_us": p.high_us,
        "tflops": e.tflops,
        "peak_tflops": e.peak_tflops,
        "bound_by": e.bound_by,
        "parts_us": {part.name: part.time_us for part in e.parts},
        "ceilings": [
            {
                "level": c.level,
                "gbytes_per_s": c.gbytes_per_s,
                "flops_per_byte": c.flops_per_byte,
                "tflops": c.tflops,
            }
            for c in e.ceilings
        ],
        "work_groups": e.work_groups,
        "groups_per_core": e.groups_per_core,
        "threads_per_engine": e.threads_per_engine,
        "waves": e.waves,
        "busy": e.busy,
        "registers_needed": e.registers_needed,
        "registers": e.registers,
        "registers_spilled": e.registers_spilled,
    }


def render_explanation(explained: Explanation) -> RenderableType:
    """A line on the time, the parts by length, what runs where, and the roofline."""
    p = explained.prediction
    time = (
        f"predicted      {_us(p.time_us)} ({_us(p.low_us)} to {_us(p.high_us)}), "
        f"{explained.tflops:.1f} of {explained.peak_tflops:.1f} Tflop/s"
    )
    bound = f"bound by       {explained.bound_by}; model {p.model_version}"
    return Group(
        Text(time),
        Text(bound),
        _parts(explained),
        *_facts(explained),
        Text(),
        *_roofline(explained),
    )


def _parts(explained: Explanation) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, caption="What each would take alone; they overlap.")
    table.caption_justify = "left"
    for heading in ("part", "time", "", "what it is"):
        table.add_column(heading, justify="right" if heading == "time" else "left", overflow="fold")
    longest = max(part.time_us for part in explained.parts)
    for part in sorted(explained.parts, key=lambda part: -part.time_us):
        table.add_row(part.name, _us(part.time_us), "█" * round(_BAR * part.time_us / longest), part.what)
    return table


def _facts(e: Explanation) -> list[Text]:
    spilled = f", {e.registers_spilled} spill" if e.registers_spilled else ""
    return [
        Text(
            f"work-groups    {e.work_groups}, {e.groups_per_core} on a core at a time in {e.waves} "
            f"wave{'s' if e.waves > 1 else ''}, {e.busy:.0%} of places busy"
        ),
        Text(
            f"threads        up to {e.threads_per_engine} an engine; about {e.registers_needed} registers needed of "
            f"{e.registers}{spilled}"
        ),
    ]


def _roofline(e: Explanation) -> list[RenderableType]:
    """The roof of each level over intensity, on logarithmic axes, and where the configuration stands on each."""
    table = Table(box=None, pad_edge=False)
    for heading in ("level", "GB/s", "flop/byte", "allows Tflop/s"):
        table.add_column(heading, justify="left" if heading == "level" else "right")
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
    lines[0] += "  Tflop/s"
    ends = f"{10**left:.1f}", f"{10**right:,.0f} flop/byte"
    axis = f"{'':8} └{'─' * _WIDTH}"
    named = ", ".join(f"{number} {c.level}" for number, c in enumerate(e.ceilings, 1))
    return [
        *lines,
        axis,
        f"{'':10}{ends[0]}{ends[1]:>{_WIDTH - len(ends[0])}}",
        f"{'':10}this configuration at: {named}",
    ]


def _us(time_us: float) -> str:
    return f"{time_us / 1e3:.2f} ms" if time_us >= 1e3 else f"{time_us:.1f} us"
