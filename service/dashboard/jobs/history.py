"""The charts of a job: the time of each trial with the best so far, the trials without a time, predictions judged."""

import math
from collections.abc import Iterable, Sequence
from statistics import median

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db.schema.job import Job
from db.schema.trial import Trial
from service.dashboard.charts.document import TIME, TRIAL, Chart, ChartAxis, Column, Mark, Row, Series
from service.dashboard.evidence import TimeEvidence
from service.dashboard.jobs.figures import Point, points
from service.dashboard.naming import config_label
from service.dashboard.sampling import sample_of
from service.dashboard.units import duration
from service.evidence import roof_us

MOST_DOTS = 600
"""Most dots of a series: as many as can be told apart."""
WHOLE = 20_000
"""Most trials that are read one by one; of more a sample is."""
FAILURES = ("rejected", "compile_failed", "wrong_result", "timed_out", "crashed")

_NAMES = {
    TimeEvidence.MEASURED: "measured",
    TimeEvidence.EMULATED: "measured, DPAS emulated",
    TimeEvidence.PREDICTED: "predicted",
}
_COLUMNS = (
    Column("Trial"),
    Column("Time", "µs"),
    Column("Low", "µs"),
    Column("High", "µs"),
    Column("Rate", "GFLOP/s"),
    Column("Configuration"),
)


def read_points(session: Session, job: Job, chosen: set[int] | None = None) -> tuple[list[Point], int]:
    """Return the trials for the charts of a job, by number, or those of `chosen` numbers, and the total of all.

    Very many are sampled evenly from the first to the last, including the best.
    """
    last = session.scalar(select(func.max(Trial.number)).where(Trial.job_id == job.id))
    count = 0 if last is None else last + 1
    if chosen is not None:
        return points(session, job, sorted(chosen)), count
    if count <= WHOLE:
        return points(session, job), count
    numbers = set(sample_of(count, 4 * MOST_DOTS))
    best = session.scalar(select(Trial.number).where(Trial.id == job.best_trial_id))
    return points(session, job, sorted(numbers if best is None else numbers | {best})), count


def history_chart(session: Session, job: Job, chosen: set[int] | None = None) -> Chart:
    """The time of each trial, for each evidence the best so far with its spread, and what the device allows.

    `chosen` are the numbers of the trials to show; None shows all.
    """
    found, count = read_points(session, job, chosen)
    series: list[Series] = []
    drawn = 0
    for evidence in TimeEvidence:
        own = [p for p in found if p.time is not None and p.time.evidence is evidence]
        if own:
            best = _improvements(own)
            shown = _spread(own, MOST_DOTS)
            drawn += len(shown)
            configs = _configs(session, job, {p.number for p in (*best, *shown)})
            series += _of_evidence(job, evidence, own, shown, best, configs, count)
    timed = sum(p.time is not None for p in found)
    of = count if chosen is None else len(found)
    series += _roof(job, series, count)
    return Chart(
        title="Time of each trial",
        note=_note(of, timed, drawn, sampled=of > len(found)) + _interleaved(job),
        columns=_COLUMNS,
        series=tuple(series),
        x=_trials_axis(count),
        y=ChartAxis(1, "Time", "µs", "log", field=TIME),
        empty="No trial has a time yet." if job.status in ("queued", "running") else "No trial has a time.",
    )


def failures_chart(session: Session, job: Job, chosen: set[int] | None = None) -> Chart:
    """The trials without a time, by what became of them."""
    found, count = read_points(session, job, chosen)
    series = [
        Series(
            name=status.replace("_", " "),
            mark=Mark.DOTS,
            rows=[(p.number, status.replace("_", " ")) for p in _spread(failed, MOST_DOTS)],
            role="failed",
            links=[f"/jobs/{job.id}/trials/{p.number}" for p in _spread(failed, MOST_DOTS)],
        )
        for status in reversed(FAILURES)
        if (failed := [p for p in found if p.status == status])
    ]
    failed = sum(p.status in FAILURES for p in found)
    return Chart(
        title="Trials without a time",
        note=f"{failed:,} of {len(found):,} trials{' in a sample' if chosen is None and count > len(found) else ''}",
        columns=(Column("Trial"), Column("Outcome")),
        series=tuple(series),
        x=_trials_axis(count),
        y=ChartAxis(1, "", scale="category", categories=tuple(s.name for s in series)),
        empty="No trials yet."
        if not count
        else "Every trial that ended has a time."
        if chosen is None
        else "No selected trial is without a time.",
    )


def judged_chart(session: Session, job: Job, chosen: set[int] | None = None) -> Chart:
    """Measured over predicted time of trials that have both; equal times lie on the line."""
    found, _ = read_points(session, job, chosen)
    known = [(p, p.judged, p.time, p.ratio) for p in found]
    both = [(p, j, t, r) for p, j, t, r in known if j is not None and t is not None and r is not None]
    series: list[Series] = []
    for evidence in (TimeEvidence.MEASURED, TimeEvidence.EMULATED):
        own = [of for of in both if of[2].evidence is evidence][:MOST_DOTS]
        if own:
            rows: list[Row] = [(p.number, j.time_us, t.time_us, r, j.low_us, j.high_us) for p, j, t, r in own]
            links = [f"/jobs/{job.id}/trials/{p.number}" for p, *_ in own]
            series.append(Series(_NAMES[evidence], Mark.DOTS, rows, evidence, links=links))
    note = "No trial was both predicted and measured."
    if both:
        inside = sum(j.low_us <= t.time_us <= j.high_us for _, j, t, _ in both)
        off = median(max(r, 1 / r) for *_, r in both)
        note = f"Off by {off:.2f}x (median of {len(both):,}); {inside:,} of {len(both):,} within the interval."
        times = [time for _, j, t, _ in both for time in (j.time_us, t.time_us)]
        ends: list[Row] = [(None, time, time, 1.0, None, None) for time in (min(times), max(times))]
        series.append(Series("equal", Mark.LIMIT, ends))
    columns = (
        Column("Trial"),
        Column("Predicted", "µs"),
        Column("Measured", "µs"),
        Column("Measured over predicted", "x"),
        Column("Interval from", "µs"),
        Column("Interval to", "µs"),
    )
    x, y = ChartAxis(1, "Predicted", "µs", "log"), ChartAxis(2, "Measured", "µs", "log", field=TIME)
    return Chart("Predicted against measured", note, columns, tuple(series), x=x, y=y, empty=note)


def _trials_axis(count: int) -> ChartAxis:
    """Return the axis of trial numbers, the same on every chart of a job."""
    return ChartAxis(0, "Trial", whole=True, low=0, high=max(1, count - 1), field=TRIAL)


def _roof(job: Job, drawn: Sequence[Series], count: int) -> list[Series]:
    """Return the line of the time that the device allows at the least, where that is known and trials have times."""
    least_us = roof_us(job.problem, job.device) if drawn else None
    if least_us is None:
        return []
    rate = round(job.problem.flops / least_us / 1e3, 1)
    ends: list[Row] = [(number, least_us, None, None, rate, None) for number in (0, max(1, count - 1))]
    return [Series("what the device allows", Mark.LIMIT, ends)]


def _of_evidence(
    job: Job,
    evidence: TimeEvidence,
    own: Sequence[Point],
    shown: Sequence[Point],
    best: Sequence[Point],
    configs: dict[int, str],
    count: int,
) -> Iterable[Series]:
    name = _NAMES[evidence]
    line = f"best so far, {name}"
    steps = [_row(p, configs) for p in best]
    last: Row = (count - 1, *steps[-1][1:])
    links = [f"/jobs/{job.id}/trials/{p.number}" for p in shown]
    yield Series(f"trials, {name}", Mark.DOTS, [_row(p, configs) for p in shown], evidence, links=links)
    yield Series(line, Mark.STEPS, [*steps, last], evidence)
    yield Series("spread of the best", Mark.SPANS, steps, evidence, part_of=line, low=2, high=3)
    links = [f"/jobs/{job.id}/trials/{p.number}" for p in best]
    yield Series("improvements", Mark.DOTS, steps, evidence, role="best", links=links, part_of=line)


def _row(point: Point, configs: dict[int, str]) -> Row:
    assert point.time is not None  # those without one are drawn elsewhere
    time = point.time
    return point.number, time.time_us, time.low_us, time.high_us, round(time.gflops, 1), configs.get(point.number)


def _improvements(own: Sequence[Point]) -> list[Point]:
    best, found = math.inf, list[Point]()
    for point in own:
        if point.time is not None and point.time.time_us < best:
            best = point.time.time_us
            found.append(point)
    return found


def _spread(own: Sequence[Point], most: int) -> Sequence[Point]:
    return own if len(own) <= most else [own[i * len(own) // most] for i in range(most)]


def _configs(session: Session, job: Job, numbers: set[int]) -> dict[int, str]:
    query = select(Trial.number, Trial.config).where(Trial.job_id == job.id, Trial.number.in_(sorted(numbers)))
    return {number: config_label(config) for number, config in session.execute(query)}


def _interleaved(job: Job) -> str:
    """Return the note on the re-measured times, which are not drawn."""
    default_us, best_us = job.compared_default_us, job.compared_best_us
    if default_us is None or best_us is None:
        return ""
    times = f"interleaved at the end, the default took {duration(default_us)}, the best {duration(best_us)}"
    return f". Drawn are single measurements; {times}"


def _note(count: int, timed: int, drawn: int, *, sampled: bool) -> str:
    if sampled:
        return f"{drawn:,} of {count:,} trials, evenly spread; best so far of {timed:,} of them and the job's best"
    return f"{timed:,} of {count:,} trials have a time" + (f"; {drawn:,} are shown" if drawn < timed else "")
