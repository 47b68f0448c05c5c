"""Problems on devices in lists: which were tuned where, how often, and how fast they became."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from sqlalchemy import case, func, select
from sqlalchemy.orm import Session

from db.queries.results.headline import order_us
from db.schema.job import Job
from db.schema.target import Device, Problem
from db.schema.trial import Measurement, Prediction, Trial
from service.dashboard.evidence import TimeEvidence
from service.dashboard.naming import problem_label
from service.dashboard.problem_filter import (
    ProblemFilter,
    number,
    problem_words,
    unread_number,
)
from service.job_summary import Basis
from tuner.session.evidence import NATIVE

PAGE_SIZE = 50
KEY_LENGTH = 16
"""Hexadecimal digits of a problem's key in an address: enough to tell any two apart."""


@dataclass(frozen=True, slots=True)
class BestTime:
    """The least time of a problem on a device with one evidence, in us, the rate it means, and how it came about."""

    time_us: float
    evidence: TimeEvidence
    gflops: float
    basis: Basis

    @property
    def words(self) -> str:
        """Evidence and basis."""
        if self.basis is Basis.PREDICTED:
            return self.evidence.words
        how = "measured interleaved" if self.basis is Basis.INTERLEAVED else "single measurement"
        return f"{how}, DPAS emulated" if self.evidence is TimeEvidence.EMULATED else how


@dataclass(frozen=True, slots=True)
class PairRow:
    """A problem on a device."""

    href: str
    problem: str
    device: str
    jobs: int
    best: BestTime | None


@dataclass(frozen=True, slots=True)
class Filter(ProblemFilter):
    """Filters of a list of problems. `before` is the last problem of the previous page."""

    before: int | None = None

    def link(self, before: int | None = None) -> str:
        """The address of these problems, from the first or after one."""
        return self.address("/problems", before=before)


@dataclass(frozen=True, slots=True)
class PairList:
    """One page of problems, the newest first; `next` is its address, None on the last."""

    pairs: tuple[PairRow, ...]
    filter: Filter
    devices: tuple[str, ...]
    next: str | None


def pair_href(problem: Problem, slug: str) -> str:
    """The address of the page of a problem on a device."""
    return f"/problems/{problem.key[:KEY_LENGTH]}/on/{quote(slug, safe='')}"


def understand(of: Mapping[str, str]) -> Filter:
    """Parse the query of a URL."""
    words = problem_words(of)
    words["unread"] += unread_number(of)
    return Filter(**words, before=number(of, "before"))


def pair_list(session: Session, wanted: Filter) -> PairList:
    """A page of the problems that are wanted, each with every device that jobs tuned it on."""
    problems = select(Problem.id).where(*wanted.conditions()).order_by(Problem.id.desc()).limit(PAGE_SIZE + 1)
    if wanted.before is not None:
        problems = problems.where(Problem.id < wanted.before)
    tuned = select(Job.id).where(Job.problem_id == Problem.id)
    if wanted.device:
        tuned = tuned.join(Device).where(Device.slug == wanted.device)
    found = session.scalars(problems.where(tuned.exists())).all()
    shown = found[:PAGE_SIZE]
    return PairList(
        pairs=tuple(_pairs(session, shown, wanted.device)),
        filter=wanted,
        devices=tuple(session.scalars(select(Device.slug).distinct().order_by(Device.slug))),
        next=wanted.link(shown[-1]) if len(found) > len(shown) else None,
    )


def _pairs(session: Session, problem_ids: Sequence[int], slug: str) -> list[PairRow]:
    jobs = (
        select(Problem, Device.slug, func.count())
        .select_from(Job)
        .join(Problem)
        .join(Device, Device.id == Job.device_id)
    )
    jobs = jobs.where(Job.problem_id.in_(problem_ids)).group_by(Problem.id, Device.slug)
    if slug:
        jobs = jobs.where(Device.slug == slug)
    single = case((Job.compared_best_us.is_(None), Measurement.median_us))
    found = {
        Basis.INTERLEAVED: _least(session, problem_ids, Job.compared_best_us, Measurement.label),
        Basis.SINGLE: _least(session, problem_ids, single, Measurement.label),
        Basis.PREDICTED: _least(session, problem_ids, Prediction.time_us, Prediction.model_version),
    }
    rows = session.execute(jobs.order_by(Problem.id.desc(), Device.slug)).all()
    return [
        PairRow(
            href=pair_href(problem, device),
            problem=problem_label(problem),
            device=device,
            jobs=count,
            best=_best(problem, {basis: of.get((problem.id, device)) for basis, of in found.items()}),
        )
        for problem, device, count in rows
    ]


def _least(session: Session, problem_ids: Sequence[int], time: Any, said: Any) -> dict[tuple[int, str], Any]:
    """The least of a time over jobs whose best trial has one, with what is `said` of it, by problem and device."""
    table = said.class_
    query = (
        select(Job.problem_id, Device.slug, func.min(time), func.min(said))
        .join(Device, Device.id == Job.device_id)
        .join(Trial, Trial.id == Job.best_trial_id)
        .join(table, table.trial_id == Trial.id)
        .where(Job.problem_id.in_(problem_ids), time.is_not(None))
        .group_by(Job.problem_id, Device.slug)
    )
    return {(problem, slug): (time_us, label) for problem, slug, time_us, label in session.execute(query)}


def _best(problem: Problem, found: Mapping[Basis, Any]) -> BestTime | None:
    """The one that stands for the problem: the least headline time; a prediction only if nothing was measured."""

    def order(basis: Basis) -> tuple[bool, float]:
        interleaved = basis is Basis.INTERLEAVED
        return basis is Basis.PREDICTED, order_us(found[basis][0], interleaved=interleaved)

    basis = min((basis for basis, least in found.items() if least is not None), key=order, default=None)
    if basis is None:
        return None
    time_us, label = found[basis]
    evidence = TimeEvidence.MEASURED if label == NATIVE else TimeEvidence.EMULATED
    if basis is Basis.PREDICTED:
        evidence = TimeEvidence.PREDICTED
    return BestTime(time_us, evidence, problem.flops / time_us / 1e3, basis)
