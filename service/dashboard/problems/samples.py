"""The trials of a problem on a device over all its jobs: all of them, or an even sample of very many."""

import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session, aliased, joinedload

from codegen import InvalidProblem
from codegen.problem.gemm import GemmProblem
from db.queries.results.headline import NEAR
from db.schema.job import Job
from db.schema.target import Device, Problem
from db.schema.trial import Measurement, Prediction, Trial
from hal import DeviceSpec
from service.dashboard.evidence import TimeEvidence
from service.dashboard.jobs.reading import find_job
from service.dashboard.naming import problem_label
from service.dashboard.problems.fields import Value, fields_of
from service.dashboard.sampling import sample_of
from service.device_json import spec_from_json
from service.errors import NotFound
from service.gemm_json import problem_from_json
from tuner.session.evidence import NATIVE

MOST_TRIALS = 4000
MOST_JOBS = 100
_KEPT = 4


@dataclass(frozen=True, slots=True)
class Sample:
    """A trial with a time. `fields` are its configuration, flat; `foreseen` is time, low and high of its prediction.

    `best_of_job` says that its job chose it as the best, which may rest on more measurements than this time.
    """

    job_id: str
    number: int
    evidence: TimeEvidence
    time_us: float
    low_us: float
    high_us: float
    config: Mapping[str, object]
    fields: Mapping[str, Value]
    foreseen: tuple[float, float, float] | None
    model: str | None
    best_of_job: bool = False

    @property
    def href(self) -> str:
        """The page of the trial."""
        return f"/jobs/{self.job_id}/trials/{self.number}"

    @property
    def spread(self) -> float:
        """The interval of its time as a part of it."""
        return (self.high_us - self.low_us) / self.time_us


@dataclass(frozen=True, slots=True)
class Failure:
    """A trial that ended without a time; `status` says how."""

    job_id: str
    number: int
    status: str
    config: Mapping[str, object]
    fields: Mapping[str, Value]

    @property
    def href(self) -> str:
        """The page of the trial."""
        return f"/jobs/{self.job_id}/trials/{self.number}"


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Pair:
    """Trials of a problem on a device, of its jobs or of one. `trials` is how many there are, `all_jobs` how many jobs.

    Of very many jobs `jobs` are the latest, and the one of the least time. `samples` are those with times,
    `failures` those that ended without. `gemm` and `spec` are None where this version cannot read them. Two
    are equal only if they are the same, so that what is worked out of one can be kept.
    """

    problem: Problem
    slug: str
    device: Device
    jobs: tuple[Job, ...]
    all_jobs: int
    trials: int
    looked_at: int
    samples: tuple[Sample, ...]
    failures: tuple[Failure, ...]
    gemm: GemmProblem | None
    spec: DeviceSpec | None

    @property
    def label(self) -> str:
        """The problem and the device."""
        return f"{problem_label(self.problem)} on {self.slug}"

    @property
    def flops(self) -> int:
        """Operations of the multiply."""
        return self.problem.flops

    def of(self, evidence: TimeEvidence) -> list[Sample]:
        """The samples of one evidence, the fastest first, of equal times the first trial."""
        return sorted(
            (s for s in self.samples if s.evidence is evidence), key=lambda s: (s.time_us, s.job_id, s.number)
        )

    @property
    def measured(self) -> list[Sample]:
        """Those measured on the device; where there are none, those measured with DPAS emulated."""
        return self.of(TimeEvidence.MEASURED) or self.of(TimeEvidence.EMULATED)

    @property
    def jobs_note(self) -> str:
        """Of how many jobs the trials are."""
        if len(self.jobs) < self.all_jobs:
            return f"{len(self.jobs):,} jobs (the latest and the fastest of {self.all_jobs:,})"
        return "1 job" if len(self.jobs) == 1 else f"{len(self.jobs):,} jobs"

    @property
    def note(self) -> str:
        """Of how many trials the charts are."""
        jobs = self.jobs_note
        if self.looked_at < self.trials:
            of = f"{self.looked_at:,} trials that were looked at, of {self.trials:,} of {jobs},"
            return f"{len(self.samples):,} of the {of} have a time"
        return f"{len(self.samples):,} of {self.trials:,} trials of {jobs} have a time"


_lock = threading.Lock()
_kept: OrderedDict[tuple[object, ...], Pair] = OrderedDict()


def read_pair(session: Session, key: str, slug: str) -> Pair:
    """A problem, by the beginning of its key, on a device. The last few are kept while nothing of them changes.

    Raises:
        NotFound: no job tuned such a problem there.
    """
    problem = _problem(session, key)
    jobs = _jobs(session, problem, slug)
    if not jobs:
        raise NotFound(f"no job tuned the problem {key} on {slug}")
    return _kept_or_read(session, problem, slug, jobs, len(jobs) if len(jobs) < MOST_JOBS else _count(session, jobs[0]))


def read_job(session: Session, job_id: str) -> Pair:
    """The trials of one job alone, kept as those of `read_pair`.

    Raises:
        NotFound: there is no such job.
    """
    job = find_job(session, job_id)
    return _kept_or_read(session, job.problem, job.device.slug, (job,), 1)


def _kept_or_read(session: Session, problem: Problem, slug: str, jobs: tuple[Job, ...], all_jobs: int) -> Pair:
    counts = _counts(session, jobs)
    state = (str(session.get_bind().engine.url), problem.id, slug, *((j.id, j.best_trial_id, j.status) for j in jobs))
    token = (*state, *counts.values(), all_jobs)
    with _lock:
        if (kept := _kept.get(token)) is not None:
            _kept.move_to_end(token)
            return kept
    pair = _read(session, problem, slug, jobs, counts, all_jobs)
    with _lock:
        _kept[token] = pair
        while len(_kept) > _KEPT:
            _kept.popitem(last=False)
    return pair


def _problem(session: Session, key: str) -> Problem:
    plain = key.isascii() and key.isalnum() and 8 <= len(key) <= 64
    query = select(Problem).where(Problem.key >= key, Problem.key < f"{key}g").limit(2)
    found = session.scalars(query).all() if plain else []
    if len(found) != 1:
        raise NotFound(f"no problem has the key {key[:80]}")
    return found[0]


def _jobs(session: Session, problem: Problem, slug: str) -> tuple[Job, ...]:
    query = select(Job).where(*_tuned(problem.id, slug))
    columns = (Job.device, Job.problem)
    query = query.options(*(joinedload(column) for column in columns))
    latest = session.scalars(query.order_by(Job.id.desc()).limit(MOST_JOBS)).all()
    if len(latest) < MOST_JOBS:
        return tuple(latest)
    time_us = func.coalesce(Job.compared_best_us, Measurement.median_us * NEAR)
    fastest = query.join(Measurement, Measurement.trial_id == Job.best_trial_id).order_by(time_us, Job.id).limit(1)
    return (*latest, *(job for job in session.scalars(fastest) if job not in latest))


def _count(session: Session, job: Job) -> int:
    """Return the number of jobs of a job's problem on its device."""
    return session.scalar(select(func.count(Job.id)).where(*_tuned(job.problem_id, job.device.slug))) or 0


def _tuned(problem_id: int, slug: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    devices = select(Device.id).where(Device.slug == slug)
    return Job.problem_id == problem_id, Job.device_id.in_(devices)


def _counts(session: Session, jobs: Sequence[Job]) -> dict[UUID, int]:
    """Return the number of trials of each job."""
    highest = select(func.max(Trial.number)).where(Trial.job_id == Job.id).correlate(Job).scalar_subquery()
    last: list[tuple[UUID, int | None]] = [
        (job_id, number)
        for job_id, number in session.execute(select(Job.id, highest).where(Job.id.in_([j.id for j in jobs])))
    ]
    return {job_id: 0 if number is None else number + 1 for job_id, number in last}


def _read(
    session: Session, problem: Problem, slug: str, jobs: Sequence[Job], counts: Mapping[UUID, int], all_jobs: int
) -> Pair:
    share = max(1, MOST_TRIALS // len(jobs))
    samples: list[Sample] = []
    failures: list[Failure] = []
    looked_at = 0
    for job in jobs:
        count = counts.get(job.id, 0)
        numbers = None if count <= share else sample_of(count, share)
        looked_at += min(count, share)
        for found in _trials(session, job, numbers):
            if isinstance(found, Sample):
                samples.append(found)
            else:
                failures.append(found)
    return Pair(
        problem=problem,
        slug=slug,
        device=jobs[0].device,
        jobs=tuple(jobs),
        all_jobs=all_jobs,
        trials=sum(counts.values()),
        looked_at=looked_at,
        samples=tuple(samples),
        failures=tuple(failures),
        gemm=_gemm(problem),
        spec=_spec(jobs[0].device),
    )


def _trials(session: Session, job: Job, numbers: list[int] | None) -> Iterator[Sample | Failure]:
    own, foreseen = aliased(Measurement), aliased(Prediction)
    columns = (
        *(Trial.id, Trial.number, Trial.status, Trial.config, own.median_us, own.p10_us, own.p90_us, own.label),
        *(foreseen.time_us, foreseen.low_us, foreseen.high_us, foreseen.model_version),
    )
    query = select(*columns).outerjoin(own, own.trial_id == Trial.id).outerjoin(foreseen, foreseen.trial_id == Trial.id)
    query = query.where(Trial.job_id == job.id, Trial.status != "pending")
    if numbers is not None:
        query = query.where((Trial.number.in_(numbers)) | (Trial.id == job.best_trial_id))
    job_id = str(job.id)
    for trial_id, number, status, config, median, p10, p90, label, time, low, high, model in map(
        _plain, session.execute(query)
    ):
        fields, is_best = fields_of(config), trial_id == job.best_trial_id
        prediction = None if time is None else (time, low, high)
        if status not in ("measured", "predicted"):
            yield Failure(job_id, number, status, config, fields)
        elif median is not None:
            evidence = TimeEvidence.MEASURED if label == NATIVE else TimeEvidence.EMULATED
            yield Sample(job_id, number, evidence, median, p10, p90, config, fields, prediction, model, is_best)
        elif prediction is not None:
            yield Sample(
                job_id, number, TimeEvidence.PREDICTED, *prediction, config, fields, prediction, model, is_best
            )


def _plain(row: Any) -> tuple[Any, ...]:
    # Outer joins leave columns empty, which their types do not say.
    return tuple(row)


def _gemm(problem: Problem) -> GemmProblem | None:
    try:
        return problem_from_json(problem.definition)
    except InvalidProblem:
        return None


def _spec(device: Device) -> DeviceSpec | None:
    try:
        return spec_from_json(device.spec)
    except ValueError:
        return None
