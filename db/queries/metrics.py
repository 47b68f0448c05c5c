"""Counters, and counts over whole tables, for monitoring; an index or a range of ids keeps each query cheap."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import ColumnElement, Float, case, func, select, update
from sqlalchemy.orm import InstrumentedAttribute, Session

from db.queries.insert import insert_missing
from db.schema.change import Tallied, Tally
from db.schema.job import Job
from db.schema.reuse import Reuse
from db.schema.schedule import ScheduleFire
from db.schema.target import Device, Problem
from db.schema.trial import Measurement, Trial

PHASES = ("compile", "verify", "measure")
BUCKETS_S = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
"""Upper bounds of the histogram buckets for wall times of trials, in seconds; the last bucket is unbounded."""


@dataclass(slots=True)
class Durations:
    """Histogram of phase durations: cumulative counts by BUCKETS_S, total count, and sum in seconds."""

    at_most: list[int] = field(default_factory=lambda: [0] * len(BUCKETS_S))
    number: int = 0
    sum_s: float = 0.0

    def add(self, other: "Durations") -> None:
        """Add the counts of another."""
        self.at_most = [a + b for a, b in zip(self.at_most, other.at_most, strict=True)]
        self.number += other.number
        self.sum_s += other.sum_s


@dataclass(slots=True)
class TrialTotals:
    """Ended trials by status, how many of them took a known time, and the durations of their phases."""

    ended: dict[str, int] = field(default_factory=dict[str, int])
    reused: int = 0
    phases: dict[str, Durations] = field(default_factory=lambda: {phase: Durations() for phase in PHASES})

    def add(self, other: "TrialTotals") -> None:
        """Add the counts of another."""
        for status, number in other.ended.items():
            self.ended[status] = self.ended.get(status, 0) + number
        self.reused += other.reused
        for phase, durations in other.phases.items():
            self.phases[phase].add(durations)


def trials_of(session: Session, chosen: ColumnElement[bool]) -> TrialTotals:
    """Return the totals of ended trials that match a condition."""
    ended = chosen & (Trial.status != "pending")
    columns: list[ColumnElement[int] | ColumnElement[float]] = [func.count()]
    for phase in PHASES:
        columns += _durations(getattr(Trial, f"{phase}_s"))
    totals = TrialTotals()
    for status, number, *values in session.execute(select(Trial.status, *columns).where(ended).group_by(Trial.status)):
        found = TrialTotals({status: int(number)})
        width = len(BUCKETS_S) + 2
        for place, phase in enumerate(PHASES):
            numbers: Sequence[int | float | None] = values[place * width : (place + 1) * width]
            *at_most, count, sum_s = (value or 0 for value in numbers)
            found.phases[phase] = Durations([int(n) for n in at_most], int(count), float(sum_s))
        totals.add(found)
    totals.reused = (
        session.scalar(select(func.count()).join_from(Reuse, Trial, Reuse.trial_id == Trial.id).where(ended)) or 0
    )
    return totals


def _durations(column: InstrumentedAttribute[float]) -> list[ColumnElement[int] | ColumnElement[float]]:
    happened = column > 0  # a trial without this phase has 0
    at_most = [func.sum(case((happened & (column <= end), 1), else_=0)) for end in BUCKETS_S]
    return [*at_most, func.sum(case((happened, 1), else_=0)), func.sum(column)]


def last_trial(session: Session) -> int:
    """Return the greatest id of a trial; 0 when there is none."""
    return session.scalar(select(func.max(Trial.id))) or 0


def pending_trials(session: Session, above: int, upto: int) -> list[int]:
    """Return the ids above `above`, up to `upto`, of trials that have not ended."""
    return list(session.scalars(select(Trial.id).where(Trial.id > above, Trial.id <= upto, Trial.status == "pending")))


def still_pending(session: Session, ids: Collection[int]) -> set[int]:
    """Return those of them that have not ended."""
    return set(session.scalars(select(Trial.id).where(Trial.id.in_(ids), Trial.status == "pending")))


def oldest_queued(session: Session) -> datetime | None:
    """Return when the oldest queued job was created; None when none is queued."""
    return session.scalar(select(Job.created_at).where(Job.status == "queued").order_by(Job.id).limit(1))


def best_tflops(session: Session) -> list[tuple[str, str, float]]:
    """Return for each device and kind of measurement the highest measured TFLOP/s of any problem."""
    flop = 2.0 * Problem.products * Problem.batch.cast(Float) * Problem.m * Problem.n * Problem.k
    query = (
        select(
            Device.slug,
            Measurement.label,
            func.max(flop / func.coalesce(Job.compared_best_us, Measurement.median_us)) * 1e-6,
        )
        .select_from(Job)
        .join(Measurement, Measurement.trial_id == Job.best_trial_id)
        .join(Problem, Problem.id == Job.problem_id)
        .join(Device, Device.id == Job.device_id)
    )
    rows = session.execute(query.group_by(Device.slug, Measurement.label).order_by(Device.slug, Measurement.label))
    return [(slug, label, float(best)) for slug, label, best in rows]


def fires(session: Session) -> dict[str, int]:
    """Return the number of due times of schedules by outcome."""
    rows = session.execute(select(ScheduleFire.outcome, func.count()).group_by(ScheduleFire.outcome))
    return dict(rows.all())


def count(session: Session, numbers: Mapping[Tallied, int]) -> None:
    """Increase counters, in the order of their names, so that two transactions cannot deadlock."""
    for name, number in sorted(numbers.items()):
        if number:
            insert_missing(session, Tally, {"name": name.value, "number": 0})
            session.execute(update(Tally).where(Tally.name == name.value).values(number=Tally.number + number))


def counts(session: Session) -> dict[Tallied, int]:
    """Return the count of each event."""
    found = dict(session.execute(select(Tally.name, Tally.number)).all())
    return {name: found.get(name.value, 0) for name in Tallied}
