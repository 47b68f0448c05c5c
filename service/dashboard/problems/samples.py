"""The trials of a problem on a device over all its jobs: all of them, or an even sample of very many."""

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session, aliased, joinedload

from codegen import InvalidProblem
from codegen.problem import GemmProblem
from db.models import Device, Job, Measurement, Prediction, Problem, Trial
from hal import DeviceSpec
from service.convert import problem_from_json, spec_from_json
from service.dashboard.evidence import NATIVE_LABEL, TimeEvidence
from service.dashboard.naming import config_pairs, problem_flops
from service.errors import NotFound

MOST_TRIALS = 4000
MOST_JOBS = 100
_KEPT = 4

Value = str | int


@dataclass(frozen=True, slots=True)
class Sample:
    """A trial with a time. `fields` are its configuration, flat; `foreseen` is time, low and high of its prediction."""

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

    @property
    def href(self) -> str:
        """The page of the trial."""
        return f"/jobs/{self.job_id}/trials/{self.number}"


@dataclass(frozen=True, slots=True)
class Pair:
    """A problem on a device with all that its page needs. `trials` is how many there are, `samples` those with times.

    `gemm` and `spec` are None where this version cannot read them.
    """

    problem: Problem
    slug: str
    device: Device
    jobs: tuple[Job, ...]
    trials: int
    looked_at: int
    samples: tuple[Sample, ...]
    gemm: GemmProblem | None
    spec: DeviceSpec | None

    @property
    def flops(self) -> int:
        """Operations of the multiply."""
        return problem_flops(self.problem)

    def of(self, evidence: TimeEvidence) -> list[Sample]:
        """The samples of one evidence, the fastest first."""
        return sorted((s for s in self.samples if s.evidence is evidence), key=lambda s: s.time_us)

    @property
    def measured(self) -> list[Sample]:
        """Those measured on the device; where there are none, those measured with DPAS emulated."""
        return self.of(TimeEvidence.MEASURED) or self.of(TimeEvidence.EMULATED)

    @property
    def note(self) -> str:
        """Of how many trials the charts are."""
        sample = f" in an even sample of {self.looked_at:,}" if self.looked_at < self.trials else ""
        jobs = "1 job" if len(self.jobs) == 1 else f"{len(self.jobs):,} jobs"
        return f"{len(self.samples):,} of {self.trials:,} trials of {jobs} have a time{sample}"


_lock = threading.Lock()
_kept: OrderedDict[tuple[object, ...], Pair] = OrderedDict()


def read_pair(session: Session, key: str, slug: str) -> Pair:
    """A problem, by the beginning of its key, on a device. The last few are kept while nothing of them changes.

    Raises:
        NotFound: no job tuned such a problem there.
    """
    problem = _problem(session, key)
    jobs, counts = _jobs(session, problem, slug)
    if not jobs:
        raise NotFound(f"no job tuned the problem {key} on {slug}")
    state = (str(session.get_bind().engine.url), problem.id, slug, *((j.id, j.best_trial_id, j.status) for j in jobs))
    token = (*state, *counts.values())
    with _lock:
        if (kept := _kept.get(token)) is not None:
            _kept.move_to_end(token)
            return kept
    pair = _read(session, problem, slug, jobs, counts)
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


def _jobs(session: Session, problem: Problem, slug: str) -> tuple[tuple[Job, ...], dict[UUID, int]]:
    devices = select(Device.id).where(Device.slug == slug)
    query = select(Job).where(Job.problem_id == problem.id, Job.device_id.in_(devices)).order_by(Job.id.desc())
    jobs = session.scalars(
        query.limit(MOST_JOBS).options(joinedload(Job.device), joinedload(Job.problem), joinedload(Job.imported))
    ).all()
    highest = select(func.max(Trial.number)).where(Trial.job_id == Job.id).correlate(Job).scalar_subquery()
    last: list[tuple[UUID, int | None]] = [
        (job_id, number)
        for job_id, number in session.execute(select(Job.id, highest).where(Job.id.in_([j.id for j in jobs])))
    ]
    return tuple(jobs), {job_id: 0 if number is None else number + 1 for job_id, number in last}


def _read(session: Session, problem: Problem, slug: str, jobs: Sequence[Job], counts: Mapping[UUID, int]) -> Pair:
    share = max(1, MOST_TRIALS // len(jobs))
    samples: list[Sample] = []
    looked_at = 0
    for job in jobs:
        count = counts.get(job.id, 0)
        numbers = None if count <= share else sorted({i * count // share for i in range(share)})
        looked_at += min(count, share)
        samples += _samples(session, job, numbers)
    return Pair(
        problem=problem,
        slug=slug,
        device=jobs[0].device,
        jobs=tuple(jobs),
        trials=sum(counts.values()),
        looked_at=looked_at,
        samples=tuple(samples),
        gemm=_gemm(problem),
        spec=_spec(jobs[0].device),
    )


def _samples(session: Session, job: Job, numbers: list[int] | None) -> list[Sample]:
    own, foreseen = aliased(Measurement), aliased(Prediction)
    columns = (
        *(Trial.number, Trial.config, own.median_us, own.p10_us, own.p90_us, own.label),
        *(foreseen.time_us, foreseen.low_us, foreseen.high_us, foreseen.model_version),
    )
    query = select(*columns).outerjoin(own, own.trial_id == Trial.id).outerjoin(foreseen, foreseen.trial_id == Trial.id)
    query = query.where(Trial.job_id == job.id, Trial.status.in_(("measured", "predicted")))
    if numbers is not None:
        query = query.where((Trial.number.in_(numbers)) | (Trial.id == job.best_trial_id))
    found: list[Sample] = []
    for number, config, median, p10, p90, label, time, low, high, model in map(_plain, session.execute(query)):
        prediction = None if time is None else (time, low, high)
        if median is not None:
            evidence = TimeEvidence.MEASURED if label == NATIVE_LABEL else TimeEvidence.EMULATED
            times = median, p10, p90
        elif prediction is not None:
            evidence, times = TimeEvidence.PREDICTED, prediction
        else:
            continue
        found.append(Sample(str(job.id), number, evidence, *times, config, fields_of(config), prediction, model))
    return found


def _plain(row: Any) -> tuple[Any, ...]:
    # Outer joins leave columns empty, which their types do not say.
    return tuple(row)


def fields_of(config: Mapping[str, object]) -> dict[str, Value]:
    """A configuration as one value for each of its parameters, numbers as numbers: `block m` is 256."""
    found: dict[str, Value] = {}
    for path, text in config_pairs(config):
        name = path.removeprefix("matmul ").removeprefix("strategy ").replace("_", " ")
        parts = text.split("x")
        if len(parts) == 3 and all(part.isdecimal() for part in parts):
            found |= {f"{name} {side}": int(part) for side, part in zip("mnk", parts, strict=True)}
        else:
            found[name] = int(text) if text.isdecimal() else text
    return found


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
