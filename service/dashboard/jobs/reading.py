"""Reads one job for its page: all but its charts, at a cost that hardly grows with its trials."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload

from db.queries.results import trials
from db.schema.job import Job
from db.schema.kernel import Artifact, Kernel
from db.schema.trial import Measurement, PredictionError, Trial
from service.api.jobs.schemas import RestrictionOut
from service.api.jobs.service import choices, describe_restrictions
from service.dashboard.evidence import TimeEvidence, TimeFigure
from service.dashboard.jobs.advice import Advice, State, advice
from service.dashboard.jobs.bounds import Bounds, Roof, bounds_of, roof_of
from service.dashboard.jobs.commands import Again, Commands, again, commands, option_pairs
from service.dashboard.jobs.figures import points
from service.dashboard.jobs.outcomes import Outcomes, outcomes, proposers
from service.dashboard.jobs.rows import JobRow, job_row, times_of
from service.dashboard.jobs.trials import TrialPage, TrialRow, Wanted, read_rows, trial_page
from service.dashboard.naming import config_pairs, problem_pairs
from service.dashboard.problem_filter import identity
from service.dashboard.problems.fields import fields_of
from service.errors import NotFound
from service.job_summary import Basis, stop_words
from service.manifest_reader import (
    Launch,
    read_launch,
)
from tuner.search.method import (
    Objective,
    front,
)

_LOOKED_AT = 200  # trials, for the names of parameters


@dataclass(frozen=True, slots=True)
class JobPage:
    """A job and one page of its trials. `news` changes whenever the page changes.

    `default_kernel_id` is the kernel of trial 0, `best_launch` the launch of the best trial's kernel;
    `donors` is the number of warm starts, `restrictions` are those of the device; `commands` is None for a
    problem of another version; `judged` states whether any prediction has a measurement; `stop` is the stop
    reason of the search, None before its end and if not recorded; `choice` is why the best of predicted times that the
    model does not tell apart is that, None without such. `options` are those of the job by name.
    `spent_s` is the wall time of its runs so far, None if not recorded. `bounds` is what bounds the best kernel,
    `advice` what to do next. `parameters` took several values in its first trials, `axes` are those of the map.
    `binaries` are the native binaries of the kernel of which the job builds one.
    `front` are, if energy was an objective, the trials of the Pareto front of time and energy.
    """

    job: JobRow
    best: TrialRow | None
    default_kernel_id: str | None
    outcomes: Outcomes
    spent_s: float | None
    trials: TrialPage
    proposers: tuple[tuple[str, int], ...]
    started_at: datetime | None
    finished_at: datetime | None
    problem_facts: tuple[tuple[str, str], ...]
    best_launch: Launch | None
    roof: Roof | None
    bounds: Bounds | None
    advice: tuple[Advice, ...]
    parameters: tuple[str, ...]
    axes: tuple[str, str]
    commands: Commands | None
    stop: str | None
    choice: str | None
    options: tuple[tuple[str, str], ...]
    front: tuple[TrialRow, ...]
    donors: int
    restrictions: tuple[RestrictionOut, ...]
    judged: bool
    binaries: tuple[Artifact, ...]
    news: str

    @property
    def live(self) -> bool:
        """True if the job is not over."""
        return self.job.status in ("queued", "running", "cancelling")

    @property
    def least_of_single(self) -> bool:
        """True if the job is over, and its winner is not the default and was not re-measured, interleaved."""
        if self.live or self.best is None or self.best.number == 0 or self.job.reported_times is None:
            return False
        return self.job.reported_times.basis is Basis.SINGLE


def find_job(session: Session, text: str) -> Job:
    """The job of an id.

    Raises:
        NotFound: there is none.
    """
    columns = (Job.problem, Job.device)
    query = select(Job).options(*(joinedload(column) for column in columns))
    job = None if (job_id := identity(text)) is None else session.scalars(query.where(Job.id == job_id)).one_or_none()
    if job is None:
        raise NotFound(f"no job has the id {text}")
    return job


def news_of(session: Session, job: Job) -> str:
    """A short text that changes when anything of a job's page does."""
    counts = sorted(trials.count_by_status(session, job.id).items())
    seen = job.status, job.cancel_requested, job.best_trial_id, job.error, counts, job.total_s, job.restrictions
    return hashlib.sha256(repr(seen).encode()).hexdigest()[:12]


def job_page(session: Session, job: Job, wanted: Wanted, base: str, keyed: bool) -> JobPage:
    """The page of a job; `base` is the address of the service and `keyed` whether it wants a key, for the commands."""
    found = outcomes(session, job.id)
    best_time, default_time = times_of(session, [job]).get(job.id, (None, None))
    best = next(iter(read_rows(session, job, [job.best_trial_id], best_time)), None) if job.best_trial_id else None
    line = job_row(job, best_time, default_time, found.ended)
    best_us = None if line.reported_times is None else line.reported_times.best_us
    state, roof = None, roof_of(job, best_us)
    if best is not None and best_time is not None and best_us is not None and job.finished_at is not None:
        of_roof = None if roof is None else roof.fraction
        state = State(best, best_time, best_us, of_roof, found.ended, job.device.kind == "cpu")
    names, axes = _parameters(session, job)
    return JobPage(
        job=line,
        best=best,
        default_kernel_id=_default_kernel(session, job.id),
        outcomes=found,
        spent_s=job.total_s,
        trials=trial_page(session, job, wanted, best_time),
        proposers=tuple(proposers(session, job.id)),
        started_at=job.started_at,
        finished_at=job.finished_at,
        problem_facts=tuple(problem_pairs(job.problem)),
        best_launch=_launch(session, best),
        roof=roof,
        bounds=bounds_of(job, session.get(Trial, job.best_trial_id) if job.best_trial_id else None, best_us),
        advice=() if state is None else tuple(advice(session, job, state, base, keyed)),
        parameters=names,
        axes=axes,
        commands=commands(job, base, keyed),
        stop=None if job.stop is None or job.finished_at is None else stop_words(job.stop),
        choice=_choice(session, job.id, best, best_time),
        options=tuple(option_pairs(job)),
        front=tuple(_front(session, job, best_time)),
        donors=len(job.warm_starts or ()),
        restrictions=tuple(describe_restrictions(job)),
        judged=_judged(session, job.id),
        binaries=tuple(_binaries(session, job.kernel_id)) if job.kernel_id is not None else (),
        news=news_of(session, job),
    )


def _binaries(session: Session, kernel_id: UUID) -> Sequence[Artifact]:
    """Return the native binaries of a kernel, newest first."""
    query = select(Artifact).where(Artifact.kernel_id == kernel_id, Artifact.chip.is_not(None))
    return session.scalars(query.order_by(Artifact.id.desc())).all()


@dataclass(frozen=True, slots=True)
class OneTrial:
    """One trial in full. `times` are wall seconds of compiling, proving and measuring; `is_last`: none follows.

    `again` compiles its configuration once more, None for a problem of another version.
    """

    job: JobRow
    trial: TrialRow
    config: tuple[tuple[str, str], ...]
    prediction: TimeFigure | None
    conditions: Mapping[str, object]
    times: tuple[tuple[str, float], ...]
    begun_at: datetime
    ended_at: datetime | None
    is_last: bool
    again: Again | None


def one_trial(session: Session, job: Job, number: int) -> OneTrial:
    """A trial of a job.

    Raises:
        NotFound: it has none of that number.
    """
    query = select(Trial).where(Trial.job_id == job.id, Trial.number == number).options(*trials.evidence_loads())
    trial = session.scalars(query).one_or_none()
    if trial is None:
        raise NotFound(f"the job has no trial {number}")
    best, default = times_of(session, [job]).get(job.id, (None, None))
    measurement, conditions = trial.measurement, dict[str, object]()
    if measurement is not None:
        conditions = {"samples": measurement.samples, "driver": measurement.driver or "not recorded"}
        if measurement.clock_mhz is not None:
            conditions["clock"] = f"{measurement.clock_mhz:,.0f} MHz"
        if measurement.stopped_early:
            conditions["stopped early"] = "it was clearly slower than the best"
        conditions |= {name: str(version) for name, version in measurement.versions.items()}
    return OneTrial(
        job=job_row(job, best, default, 0),
        trial=read_rows(session, job, [trial.id], best)[0],
        config=tuple(config_pairs(trial.config)),
        prediction=next(p.judged for p in points(session, job, [number])) if measurement is not None else None,
        conditions=conditions,
        times=(("compiling", trial.compile_s), ("verification", trial.verify_s), ("measuring", trial.measure_s)),
        begun_at=trial.begun_at,
        ended_at=trial.ended_at,
        is_last=session.scalar(select(Trial.id).where(Trial.job_id == job.id, Trial.number == number + 1)) is None,
        again=again(job, trial.config),
    )


def _parameters(session: Session, job: Job) -> tuple[tuple[str, ...], tuple[str, str]]:
    """Return the parameters that took several values, and two of them for the map: sides of the block, if they did."""
    query = select(Trial.config).where(Trial.job_id == job.id).order_by(Trial.number).limit(_LOOKED_AT)
    values: dict[str, set[object]] = {}
    for config in session.scalars(query):
        for name, value in fields_of(config).items():
            values.setdefault(name, set()).add(value)
    names = tuple(name for name, taken in values.items() if len(taken) > 1)
    tiles = [name for name in ("block m", "block n") if name in names]
    x, y = (*tiles, *(name for name in names if name not in tiles), "", "")[:2]
    return names, (x, y)


def _choice(session: Session, job_id: UUID, best: TrialRow | None, time: TimeFigure | None) -> str | None:
    if best is None or time is None or time.evidence is not TimeEvidence.PREDICTED:
        return None
    choice = choices(session, {job_id: (best.number, time.time_us)}).get(job_id)
    return None if choice is None else choice.sentence


def _default_kernel(session: Session, job_id: UUID) -> str | None:
    found = session.scalar(select(Trial.kernel_id).where(Trial.job_id == job_id, Trial.number == 0))
    return None if found is None else str(found)


def _launch(session: Session, best: TrialRow | None) -> Launch | None:
    if best is None or best.kernel_id is None:
        return None
    manifest = session.scalar(select(Kernel.manifest).where(Kernel.id == UUID(best.kernel_id)))
    return None if manifest is None else read_launch(manifest)


def _front(session: Session, job: Job, best: TimeFigure | None) -> list[TrialRow]:
    if job.objective != Objective.TIME_ENERGY:
        return []
    columns = select(Trial.id, Measurement.median_us, Measurement.energy_uj).join(Measurement)
    own = columns.where(Trial.job_id == job.id, ~Trial.reused.has()).order_by(Trial.number)
    points = [(trial, us, uj) for trial, us, uj in session.execute(own) if uj is not None]
    return read_rows(session, job, front(points), best)


def _judged(session: Session, job_id: UUID) -> bool:
    """Return whether any prediction of a job has a measurement."""
    query = select(PredictionError.trial_id).join(Trial, Trial.id == PredictionError.trial_id)
    return session.scalar(query.where(Trial.job_id == job_id).limit(1)) is not None
