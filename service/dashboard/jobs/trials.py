"""The table of a job's trials: filtered, sorted and cut into pages by the database."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from sqlalchemy import select, tuple_
from sqlalchemy.orm import Session

from db.queries.results import trials
from db.schema.job import Job
from db.schema.reuse import Reuse
from db.schema.trial import Trial
from service.dashboard.evidence import ProofFigure, TimeFigure, trial_figure
from service.dashboard.jobs.figures import GROUP, ORDER, with_times
from service.dashboard.jobs.history import FAILURES
from service.dashboard.naming import config_label
from service.dashboard.problem_filter import misread
from service.dashboard.units import least
from service.evidence import acceptance_of
from service.job_summary import acceptance_words, energy_text

PAGE_SIZE = 25
NOT_RECORDED = "not recorded"
"""Proposer of a trial without one."""
SORTS = ("time", "-time", "number", "-number")
OUTCOMES: Mapping[str, tuple[str, ...]] = {
    "measured": ("measured",),
    "predicted": ("predicted",),
    "failed": FAILURES,
    **{status: (status,) for status in FAILURES},
    "pending": ("pending",),
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """Filters and order of a table of trials. `after` is the end of the previous page, `unread` lists invalid
    parameters.
    """

    sort: str = "time"
    outcome: str = ""
    by: str = ""
    after: str = ""
    unread: tuple[str, ...] = ()

    def link(self, **changes: str) -> str:
        """The address of the table with something else; a change begins at the first page."""
        values = {"sort": self.sort, "outcome": self.outcome, "by": self.by} | changes
        asked = {name: value for name, value in values.items() if value and (name, value) != ("sort", "time")}
        return f"?{urlencode(asked)}#trials"

    def sorted_by(self, sort: str) -> str:
        """The address of the table in that order."""
        return self.link(sort=sort)


@dataclass(frozen=True, slots=True)
class TrialRow:
    """One trial. `against_best` is its time over the best of the same evidence; `reused` is the source of a
    reused time, and `now_us` what it is expected to be now, by the default's time then and now.

    `energy` is the energy per launch, if known.
    """

    number: int
    status: str
    config: str
    time: TimeFigure | None
    against_best: float | None
    proof: ProofFigure
    reason: str | None
    kernel_id: str | None
    proposer: str | None
    reused: tuple[str, int] | None
    now_us: float | None
    measured_by: tuple[str, int] | None
    energy: str | None


@dataclass(frozen=True, slots=True)
class TrialPage:
    """One page of trials; `next` is its address, None on the last."""

    rows: tuple[TrialRow, ...]
    wanted: Wanted
    next: str | None

    @property
    def least_us(self) -> float | None:
        """The least of its times, which sets the unit of all."""
        return least(row.time.time_us for row in self.rows if row.time is not None)

    @property
    def most_gflops(self) -> float:
        """The highest of its rates, which sets the unit of all."""
        return max((row.time.gflops for row in self.rows if row.time is not None), default=0.0)

    @property
    def has_energy(self) -> bool:
        """True if the energy of any of them is known."""
        return any(row.energy is not None for row in self.rows)


def understand(sort: str, outcome: str, by: str, after: str) -> Wanted:
    """Parse the query of a URL; invalid values are replaced by defaults."""
    said = {"sort": sort, "outcome": outcome}
    wrong = *misread(said, "sort", SORTS), *misread(said, "outcome", OUTCOMES)
    return Wanted(sort if sort in SORTS else "time", outcome if outcome in OUTCOMES else "", by[:40], after[:80], wrong)


def trial_page(session: Session, job: Job, wanted: Wanted, best: TimeFigure | None) -> TrialPage:
    """The trials that are wanted; those of one evidence together, by time, unless sorted by number."""
    query = select(Trial.id, Trial.number).where(Trial.job_id == job.id)
    if wanted.outcome:
        query = query.where(Trial.status.in_(OUTCOMES[wanted.outcome]))
    if wanted.by:
        query = query.where(Trial.proposer.is_(None) if wanted.by == NOT_RECORDED else Trial.proposer == wanted.by)
    down = wanted.sort.startswith("-")
    if wanted.sort.endswith("time"):
        order = -ORDER if down else ORDER
        query = with_times(query.add_columns(GROUP, order)).order_by(GROUP, order, Trial.number)
        if (cursor := _cursor(wanted.after)) is not None:
            query = query.where(tuple_(GROUP, order, Trial.number) > tuple_(*cursor))
    else:
        query = query.order_by(Trial.number.desc() if down else Trial.number)
        if wanted.after.isdecimal() and len(wanted.after) < 10:
            last = int(wanted.after)
            query = query.where(Trial.number < last if down else Trial.number > last)
    found = session.execute(query.limit(PAGE_SIZE + 1)).all()
    shown = found[:PAGE_SIZE]
    following = None if len(found) == len(shown) else _after(shown[-1])
    return TrialPage(
        rows=tuple(read_rows(session, job, [row[0] for row in shown], best)),
        wanted=wanted,
        next=None if following is None else wanted.link(after=following),
    )


def read_rows(session: Session, job: Job, ids: Sequence[int], best: TimeFigure | None) -> list[TrialRow]:
    """The trials of these ids, in this order; times are compared with `best` where their evidence is the same."""
    query = select(Trial).where(Trial.id.in_(ids)).options(*trials.evidence_loads())
    rows = {trial.id: trial for trial in session.scalars(query)}
    scale = session.scalar(select(Reuse.scale).where(Reuse.trial_id == job.best_trial_id)) or 1.0
    return [_row(rows[i], job, best, scale) for i in ids]


def _row(trial: Trial, job: Job, best: TimeFigure | None, scale: float) -> TrialRow:
    """Return a trial in a line; `scale` is that of the best's time, if it is reused."""
    time = trial_figure(trial, job.device.slug, job.problem)
    comparable = time is not None and best is not None and time.evidence is best.evidence
    error = None if trial.measurement is not None or trial.prediction is None else trial.prediction.error
    source = None if trial.reused is None else trial.reused.source
    now_us = None if time is None else time.time_us * (1.0 if trial.reused is None else trial.reused.scale)
    against_best = now_us / (best.time_us * scale) if comparable and now_us is not None and best is not None else None
    return TrialRow(
        number=trial.number,
        status=trial.status,
        config=config_label(trial.config),
        time=time,
        against_best=against_best,
        proof=proof_figure(trial),
        reason=trial.reason,
        kernel_id=None if trial.kernel_id is None else str(trial.kernel_id),
        proposer=trial.proposer,
        reused=None if source is None else (str(source.job_id), source.number),
        now_us=None if source is None else now_us,
        measured_by=None if error is None else (str(error.measured_trial.job_id), error.measured_trial.number),
        energy=None if (uj := energy_uj(trial)) is None else energy_text(uj),
    )


def energy_uj(trial: Trial) -> float | None:
    """Microjoules of a launch, as measured; None where that is not known."""
    return None if trial.measurement is None else trial.measurement.energy_uj


def proof_figure(trial: Trial) -> ProofFigure:
    """Return the verification result of a trial's row."""
    errors = trial.max_error, trial.tolerance
    tiles = trial.proof_kind, trial.proof_checked, trial.proof_total
    failed, accepted = trial.status == "wrong_result", acceptance_words(acceptance_of(trial))
    return ProofFigure(*tiles, *errors, trial.proof_method, failed, accepted, trial.proof_refusal)


def _after(row: Sequence[object]) -> str:
    return str(row[1]) if len(row) == 2 else f"{row[2]}~{row[3]!r}~{row[1]}"


def _cursor(text: str) -> tuple[int, float, int] | None:
    try:
        group, order, number = text.split("~")
        return int(group), float(order), int(number)
    except ValueError:
        return None
