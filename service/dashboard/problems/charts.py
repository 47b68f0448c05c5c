"""The charts of a problem on a device."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from codegen import GemmProblem, Refused
from codegen.xe.rules import check_problem
from hal import DeviceSpec
from service.dashboard.charts.document import TIME, Chart, ChartAxis, Column, Kind, Mark, Row, Series
from service.dashboard.evidence import TimeEvidence
from service.dashboard.naming import config_label
from service.dashboard.problems.choices import choices_of
from service.dashboard.problems.fields import Value
from service.dashboard.problems.importance import LEAST_TRIALS, Share, shares
from service.dashboard.problems.samples import Pair, Sample
from service.evidence import rates_of
from service.gemm_json import config_from_json
from tuner.backend import tuning_of
from tuner.errors import CannotPredict, NoRoofline
from tuner.model.core_clocks import gpu_rates
from tuner.model.cpu_roof import cpu_roof

Item = TypeVar("Item")

MOST_DOTS = 600
MOST_PATHS = 300
MOST_AXES = 8

_NAMES = {
    TimeEvidence.MEASURED: "measured",
    TimeEvidence.EMULATED: "measured, DPAS emulated",
    TimeEvidence.PREDICTED: "predicted",
}


def roofline(pair: Pair) -> Chart:
    """The rate of each trial over the operations it does for each byte that it moves, under the device's limits."""
    series: list[Series] = []
    bytes_of = _bytes_of(pair)
    ends: list[float] = []
    for evidence in TimeEvidence:
        own = _spread(pair.of(evidence), MOST_DOTS)
        if own:
            rows: list[Row] = []
            for s in own:
                intensity = pair.flops / bytes_of(s)
                rows.append((intensity, pair.flops / s.time_us / 1e6, s.time_us, config_label(s.config)))
                ends.append(intensity)
            series.append(Series(_NAMES[evidence], Mark.DOTS, rows, evidence, links=[s.href for s in own]))
    limits = _limits(pair)
    if ends and limits is not None:
        peak, bandwidth = limits.peak_tflops, limits.bytes_per_s
        low, high = min(ends) / 2, max(*ends, peak * 1e12 / bandwidth) * 2
        series += (
            Series(f"limit of memory, {limits.memory}", Mark.LIMIT, _memory_line(low, high, peak, bandwidth)),
            Series(
                f"limit of the multiply units{limits.units}",
                Mark.LIMIT,
                [(low, peak, None, None), (high, peak, None, None)],
            ),
        )
    known = "" if limits is not None else " The limits of this device are not known."
    return Chart(
        title="Roofline",
        note=f"{pair.note}. {_traffic_note(pair)}{known}",
        columns=(
            Column("Intensity", "FLOP/B"),
            Column("Rate", "TFLOP/s"),
            Column("Time", "µs"),
            Column("Configuration"),
        ),
        series=tuple(series),
        x=ChartAxis(0, "Operations for each byte of memory traffic", "FLOP/B", "log"),
        y=ChartAxis(1, "Rate", "TFLOP/s", "log"),
        empty="No trial has a time yet.",
    )


def parallel(pair: Pair) -> Chart:
    """An axis for each of the parameters that matter most, and one for time; a path is a trial."""
    own = pair.measured or pair.of(TimeEvidence.PREDICTED)
    names = [share.name for share in importances(pair)][: MOST_AXES - 1] or _varied(own)[: MOST_AXES - 1]
    # The fastest are drawn whole, the others thinned.
    shown = [*own[: MOST_PATHS // 3], *_spread(own[MOST_PATHS // 3 :], MOST_PATHS - MOST_PATHS // 3)]
    rows: list[Row] = [(*(s.fields.get(name) for name in names), s.time_us) for s in reversed(shown)]
    time = ChartAxis(len(names), "Time", "µs", "log", field=TIME)
    axes = [
        ChartAxis(
            i,
            name.capitalize(),
            scale="category",
            categories=ordered(s.fields.get(name, "none") for s in shown),
            field=name,
        )
        for i, name in enumerate(names)
    ]
    evidence = own[0].evidence if own else None
    links = [s.href for s in reversed(shown)]
    name = "" if evidence is None else _NAMES[evidence]
    return Chart(
        title="Parameters and time",
        note=f"{len(shown):,} trials, the fastest among them; the parameters that explain most first. Drag along an "
        "axis to choose some of its values.",
        columns=(*(Column(name.capitalize()) for name in names), Column("Time", "µs")),
        series=(Series(name, Mark.PATHS, rows, evidence, links=links),) if rows and names else (),
        kind=Kind.PARALLEL,
        axes=(*axes, time),
        color=time,
        empty="Too few trials have a time.",
    )


def importance(pair: Pair) -> Chart:
    """The share of the variance of log time that each parameter explains alone; of measured times only."""
    own = pair.measured
    found = [share for share in importances(pair) if share.share > 0.001][:12] if own else []
    rows: list[Row] = [(share.name, round(100 * share.share, 2), share.values) for share in found]
    evidence = own[0].evidence if own else None
    return Chart(
        title="Explained by each parameter",
        note=f"Share of the variance of log time between a parameter's values (omega squared), of {len(own):,} "
        "measured trials, as the search chose them. What matters only together shows little.",
        columns=(Column("Parameter"), Column("Explained", "%"), Column("Values tried")),
        series=(Series("explained alone", Mark.BARS, rows, evidence),) if rows else (),
        x=ChartAxis(1, "Explained", "%", from_zero=True),
        y=ChartAxis(0, "", scale="category", categories=tuple(row[0] for row in reversed(rows))),
        empty=f"At least {LEAST_TRIALS} measured trials that differ are needed; there are {len(own):,}.",
    )


def judged(pair: Pair) -> Chart:
    """Measured over predicted time of every trial that has both; equal times lie on the line."""
    both = [(s, s.foreseen) for s in pair.measured]
    known = [(s, foreseen) for s, foreseen in both if foreseen is not None]
    shown = _spread(known, MOST_DOTS)
    rows: list[Row] = [(f[0], s.time_us, s.time_us / f[0], f[1], f[2], config_label(s.config)) for s, f in shown]
    series: list[Series] = []
    note = "No trial was both predicted and measured."
    if known:
        off = sorted(max(s.time_us / f[0], f[0] / s.time_us) for s, f in known)[len(known) // 2]
        inside = sum(f[1] <= s.time_us <= f[2] for s, f in known)
        note = f"Off by {off:.2f}x (median of {len(known):,}); {inside:,} of {len(known):,} within the interval."
        evidence = known[0][0].evidence
        series.append(Series(_NAMES[evidence], Mark.DOTS, rows, evidence, links=[s.href for s, _ in shown]))
        times = [time for s, f in shown for time in (s.time_us, f[0])]
        ends: list[Row] = [(time, time, 1.0, None, None, None) for time in (min(times), max(times))]
        series.append(Series("equal", Mark.LIMIT, ends))
    columns = (
        Column("Predicted", "µs"),
        Column("Measured", "µs"),
        Column("Measured over predicted", "x"),
        Column("Interval from", "µs"),
        Column("Interval to", "µs"),
        Column("Configuration"),
    )
    x, y = ChartAxis(0, "Predicted", "µs", "log"), ChartAxis(1, "Measured", "µs", "log")
    return Chart("Predicted against measured", note, columns, tuple(series), x=x, y=y, empty=note)


@lru_cache(maxsize=4)
def importances(pair: Pair) -> tuple[Share, ...]:
    """The parameters of its measured trials, where there are none of its predicted ones, by what they explain."""
    own = pair.measured or pair.of(TimeEvidence.PREDICTED)
    return tuple(shares([s.fields for s in own], [s.time_us for s in own]))


def parameters(pair: Pair) -> list[str]:
    """The parameters that took more than one value, those that explain most first."""
    own = pair.measured or pair.of(TimeEvidence.PREDICTED)
    ranked = [share.name for share in importances(pair)]
    return [*ranked, *(name for name in _varied(own) if name not in ranked)]


def _varied(own: Sequence[Sample]) -> list[str]:
    values: dict[str, set[Value]] = {}
    for sample in own:
        for name, value in sample.fields.items():
            values.setdefault(name, set()).add(value)
    return [name for name, taken in values.items() if len(taken) > 1]


def _bytes_of(pair: Pair) -> Callable[[Sample], float]:
    """Bytes that a trial moves: as the model of GPUs counts them, else each operand once."""
    least = float(_least_bytes(pair))
    gemm, spec = pair.gemm, pair.spec

    def of(sample: Sample) -> float:
        if gemm is None or spec is None:
            return least
        try:
            config = config_from_json(dict(sample.config))
            moved = tuning_of(config).memory_bytes(gemm, config, spec)
            return least if moved is None else float(moved)
        except (CannotPredict, ValueError):
            return least

    return of


def _least_bytes(pair: Pair) -> int:
    gemm = pair.gemm
    if gemm is None:
        p = pair.problem
        return p.batch * 2 * (p.m * p.k + p.k * p.n + p.m * p.n)
    return sum(gemm.accessed_bytes(operand) for operand in gemm.operands)


def _traffic_note(pair: Pair) -> str:
    modelled = pair.spec is not None and pair.spec.xe_cores is not None
    if modelled:
        return "Traffic is as the model counts it: each operand once, and what L2 cannot hold once a wave."
    return "Traffic is each operand once."


@dataclass(frozen=True, slots=True)
class _Limits:
    """The most TFLOP/s of the multiply units, and bytes a second of memory, each with its source in words."""

    peak_tflops: float
    bytes_per_s: float
    units: str
    memory: str


def _limits(pair: Pair) -> _Limits | None:
    """Return the limits of the device; None where a fact is missing or was not measured."""
    gemm, spec = pair.gemm, pair.spec
    if gemm is None or spec is None or spec.emulates is not None:
        return None
    if spec.xe_cores is None:
        return _limits_of_cpu(pair, gemm, spec)
    clock, bandwidth = spec.clock_mhz, spec.bandwidth_bytes_per_s
    if clock is None or bandwidth is None:
        return None
    try:
        rates = gpu_rates(check_problem(gemm, spec))
    except (CannotPredict, Refused):
        return None
    peak = 2 * rates.cores * rates.engines * rates.fma_per_engine * clock / 1e6
    return _Limits(peak, float(bandwidth), "", "as sold")


def _limits_of_cpu(pair: Pair, gemm: GemmProblem, spec: DeviceSpec) -> _Limits | None:
    try:
        rates = rates_of(pair.device)
        roof = cpu_roof(gemm, spec, rates)
    except (NoRoofline, ValueError):
        return None
    if rates is None:
        return None
    return _Limits(
        gemm.flops / roof.multiply_us / 1e6, rates.bytes_per_s, f" ({roof.instruction}), measured", "measured"
    )


def _memory_line(low: float, high: float, peak: float, bandwidth: float) -> list[Row]:
    ridge = peak * 1e12 / bandwidth
    return [(x, x * bandwidth / 1e12, None, None) for x in (low, min(max(low, ridge), high))]


def ordered(values: Iterable[object]) -> tuple[Value, ...]:
    """The values, each once: numbers by size, then texts."""
    known = {value for value in values if isinstance(value, str | int)}
    numbers = sorted(value for value in known if isinstance(value, int))
    return (*numbers, *sorted(value for value in known if isinstance(value, str)))


def _spread(own: Sequence[Item], most: int) -> Sequence[Item]:
    return own if len(own) <= most else [own[i * len(own) // most] for i in range(most)]


def choices(pair: Pair) -> Chart:
    """The default, what the model would have chosen, and the best that was found: measured and predicted times."""
    rows: dict[TimeEvidence, list[Row]] = {}
    links: dict[TimeEvidence, list[str | None]] = {}
    for choice in choices_of(pair):
        rows.setdefault(choice.evidence, []).append(
            (choice.name, choice.time_us, str(choice.basis), config_label(choice.sample.config))
        )
        links.setdefault(choice.evidence, []).append(choice.sample.href)
    series = [Series(_NAMES[e], Mark.BARS, found, e, links=links[e]) for e, found in rows.items()]
    return Chart(
        title="Default, model's choice, tuned",
        note="The model's choice is the configuration that it predicts to be fastest of those that were tried.",
        columns=(Column("Choice"), Column("Time", "µs"), Column("Basis"), Column("Configuration")),
        series=tuple(series),
        x=ChartAxis(0, "", scale="category", categories=tuple(dict.fromkeys(c.name for c in choices_of(pair)))),
        y=ChartAxis(1, "Time", "µs", from_zero=True),
        empty="No trial has a time yet.",
    )


CHARTS: Mapping[str, Callable[[Pair], Chart]] = {
    "choices": choices,
    "roofline": roofline,
    "parallel": parallel,
    "importance": importance,
    "judged": judged,
}
