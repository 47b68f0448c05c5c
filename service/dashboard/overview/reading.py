"""Data of the first page: current work, latest winners, devices and schedules."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session, joinedload

from db.schema.job import Job
from db.schema.schedule import Schedule, ScheduleFire
from db.schema.trial import Measurement
from hal.devices.listed import ListedDevice
from service.dashboard.charts.document import Chart, ChartAxis, Column, Mark, Row, Series
from service.dashboard.evidence import TimeEvidence
from service.dashboard.jobs.rows import JobRow, job_rows
from service.dashboard.naming import problem_label
from service.dashboard.overview.attention import Note, attention
from tuner.session.evidence import NATIVE

MOST_ACTIVE = 12
MOST_WINNERS = 12
MOST_GAINS = 400
ACTIVE = ("running", "queued")


@dataclass(frozen=True, slots=True)
class ScheduleRow:
    """One schedule and when it fires next; None when it is paused."""

    id: str
    name: str
    cron: str
    time_zone: str
    enabled: bool
    next_run: datetime | None
    last_run: datetime | None


@dataclass(frozen=True, slots=True)
class Now:
    """Live data. `more_active` states that not all active jobs are shown; `news` changes with any of it."""

    attention: tuple[Note, ...]
    active: tuple[JobRow, ...]
    more_active: bool
    winners: tuple[JobRow, ...]
    any_jobs: bool

    @property
    def news(self) -> str:
        """Return a short text that changes with the live data."""
        return hashlib.sha256(repr(self).encode()).hexdigest()[:12]


def read_now(session: Session, present: Sequence[ListedDevice], now: datetime) -> Now:
    """The live part of the first page."""
    active = session.scalars(_jobs().where(Job.status.in_(ACTIVE)).order_by(Job.status.desc(), Job.id)).all()
    won = session.scalars(_jobs().where(Job.status == "succeeded").order_by(Job.id.desc()).limit(MOST_WINNERS)).all()
    return Now(
        attention=attention(session, present, now),
        active=tuple(job_rows(session, active[:MOST_ACTIVE])),
        more_active=len(active) > MOST_ACTIVE,
        winners=tuple(row for row in job_rows(session, won) if row.best is not None),
        any_jobs=bool(active or won) or session.scalar(select(Job.id).limit(1)) is not None,
    )


def gains_chart(session: Session) -> Chart:
    """Return the speedups over the default of the latest jobs with an interleaved re-measurement."""
    query = (
        select(Job, Measurement.label)
        .join(Measurement, Measurement.trial_id == Job.best_trial_id)
        .where(Job.compared_best_us.is_not(None))
        .order_by(Job.id.desc())
        .limit(MOST_GAINS)
        .options(joinedload(Job.problem), joinedload(Job.device))
    )
    rows: dict[TimeEvidence, list[tuple[Row, str]]] = {}
    for job, label in session.execute(query):
        evidence = TimeEvidence.MEASURED if label == NATIVE else TimeEvidence.EMULATED
        before, after = job.compared_default_us, job.compared_best_us
        assert before is not None  # as the query asks; the database has both or neither
        assert after is not None
        flops = job.problem.flops
        row = flops / 1e9, before / after, before, after, problem_label(job.problem), job.device.slug
        rows.setdefault(evidence, []).append((row, f"/jobs/{job.id}"))
    names = {TimeEvidence.MEASURED: "measured", TimeEvidence.EMULATED: "measured, DPAS emulated"}
    series = tuple(
        Series(names[evidence], Mark.DOTS, [row for row, _ in found], evidence, links=[link for _, link in found])
        for evidence, found in rows.items()
    )
    columns = (
        Column("Operations", "GFLOP"),
        Column("Gain over the default", "x"),
        Column("Default, interleaved", "µs"),
        Column("Best, interleaved", "µs"),
        Column("Problem"),
        Column("Device"),
    )
    count = sum(len(s.rows) for s in series)
    return Chart(
        title="Gain over the default configuration",
        note=f"The latest jobs that re-measured default and best, interleaved: {count:,}.",
        columns=columns,
        series=series,
        x=ChartAxis(0, "Operations of the problem", "GFLOP", "log"),
        y=ChartAxis(1, "Gain", "x", from_zero=True),
        empty="No job has measured its best against the default yet.",
    )


def schedule_rows(session: Session) -> Iterable[ScheduleRow]:
    """Schedules by name, with their last and next times."""
    query = select(ScheduleFire.schedule_id, func.max(ScheduleFire.due_at)).group_by(ScheduleFire.schedule_id)
    last = dict(session.execute(query).all())
    for s in session.scalars(select(Schedule).order_by(Schedule.name)):
        yield ScheduleRow(str(s.id), s.name, s.cron, s.timezone, s.enabled, s.next_due_at, last.get(s.id))


def _jobs():  # of a type that SQLAlchemy keeps to itself
    columns = (Job.problem, Job.device)
    return select(Job).options(*(joinedload(column) for column in columns)).limit(MOST_ACTIVE + 1)
