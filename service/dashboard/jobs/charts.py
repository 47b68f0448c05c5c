"""The charts on a job's page, of all of its trials or of those that are selected in one of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db.schema.job import Job
from db.schema.trial import Trial
from service.dashboard.charts.document import Chart, ChartAxis, Column, Mark, Row, Series
from service.dashboard.jobs.history import failures_chart, history_chart, judged_chart
from service.dashboard.jobs.outcomes import Times, times
from service.dashboard.jobs.selection import Selection
from service.dashboard.problems import charts as of_problem
from service.dashboard.problems.heat import heat_map, read_heat_map
from service.dashboard.problems.samples import read_job
from service.errors import NotFound


@dataclass(frozen=True, slots=True)
class Asked:
    """A chart of a job: the selected trials, and the two parameters of the map."""

    session: Session
    job: Job
    selection: Selection
    x: str
    y: str


def job_chart(name: str, asked: Asked) -> Chart:
    """Return a chart of a job.

    Raises:
        NotFound: there is no such chart, or no trial has a parameter of the map.
    """
    if name not in CHARTS:
        raise NotFound(f"a job has no chart {name!r}; it has {', '.join(CHARTS)}")
    return CHARTS[name](asked)


def _importance(asked: Asked) -> Chart:
    return of_problem.importance(asked.selection.of(read_job(asked.session, str(asked.job.id))))


def _parallel(asked: Asked) -> Chart:
    return of_problem.parallel(asked.selection.of(read_job(asked.session, str(asked.job.id))))


def _heat(asked: Asked) -> Chart:
    pair = read_job(asked.session, str(asked.job.id))
    known = {name for sample in pair.samples for name in sample.fields}
    if known and (unknown := [name for name in (asked.x, asked.y) if name and name not in known]):
        raise NotFound(f"no trial has the parameter {unknown[0][:80]!r}; there are {', '.join(sorted(known))}")
    if not asked.selection.conditions:
        return read_heat_map(asked.session, pair, asked.x[:80], asked.y[:80])
    return heat_map(asked.session, asked.selection.of(pair), asked.x[:80], asked.y[:80], of_samples=True)


def _stages(asked: Asked) -> Chart:
    """Return the wall time by stage: of the whole job by its own accounts, else the sums over the selected trials."""
    numbers = _numbers(asked)
    found = times(asked.session, asked.job) if numbers is None else _sums(asked, numbers)
    rows: list[Row] = []
    if found is not None:
        rows = [(stage.name, stage.seconds) for stage in found.stages if stage.seconds]
        rows.append(("compiling", found.compile_s))
    return Chart(
        title="Wall time by stage",
        note=_stages_note(found, numbers),
        columns=(Column("Stage"), Column("Time", "s")),
        series=(Series("wall time", Mark.BARS, rows, palette=0),) if rows else (),
        x=ChartAxis(1, "Time", "s", from_zero=True),
        y=ChartAxis(0, "", scale="category", categories=tuple(row[0] for row in reversed(rows))),
        empty="No times.",
    )


def _sums(asked: Asked, numbers: set[int]) -> Times:
    columns = func.sum(Trial.compile_s), func.sum(Trial.verify_s), func.sum(Trial.measure_s)
    query = select(*columns).where(Trial.job_id == asked.job.id, Trial.number.in_(sorted(numbers)))
    compiled, verified, measured = asked.session.execute(query).one()
    return Times.of_trials(compiled or 0.0, verified or 0.0, measured or 0.0)


def _stages_note(found: Times | None, numbers: set[int] | None) -> str:
    if found is None:
        return ""
    if found.total_s is None:
        of = "Sums over trials" if numbers is None else f"Sums over {len(numbers):,} selected trials"
        return f"{of}; compiling runs concurrently."
    restarts = f" The device's process was lost {found.device_restarts} times." if found.device_restarts else ""
    return f"{found.total_s:.1f} s in all; compiling runs concurrently and is not part of it.{restarts}"


def _numbers(asked: Asked) -> set[int] | None:
    if not asked.selection.conditions:
        return None
    return asked.selection.numbers(read_job(asked.session, str(asked.job.id)))


CHARTS: Mapping[str, Callable[[Asked], Chart]] = {
    "history": lambda asked: history_chart(asked.session, asked.job, _numbers(asked)),
    "failures": lambda asked: failures_chart(asked.session, asked.job, _numbers(asked)),
    "judged": lambda asked: judged_chart(asked.session, asked.job, _numbers(asked)),
    "importance": _importance,
    "heat": _heat,
    "parallel": _parallel,
    "stages": _stages,
}
