"""Kernels in lists: a page of them by filters, each in a line."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import Select, select
from sqlalchemy.orm import Session, joinedload

from db.queries.results import kernels
from db.schema.kernel import Kernel
from db.schema.target import Device, Problem
from db.schema.trial import Trial
from service.api.kernels.listing import (
    EvidenceFilter,
    has_time,
    newest,
)
from service.dashboard.evidence import ProofFigure, TimeFigure, headline_figure
from service.dashboard.jobs.trials import proof_figure
from service.dashboard.naming import config_label, problem_label
from service.dashboard.problem_filter import (
    ProblemFilter,
    identity,
    misread,
    problem_words,
    unread_id,
    word,
)

PAGE_SIZE = 25
EVIDENCES = tuple(EvidenceFilter)
NO_PROOF = ProofFigure("none", 0, 0, None, None)


@dataclass(frozen=True, slots=True)
class KernelRow:
    """One kernel in a list; `winner` if it won a job; `origin` is where it was compiled, if it was imported."""

    id: str
    problem: str
    device: str
    driver: str
    config: str
    winner: bool
    time: TimeFigure | None
    proof: ProofFigure
    created_at: datetime
    origin: str | None
    withdrawn: str | None


@dataclass(frozen=True, slots=True)
class Filter(ProblemFilter):
    """Filters of a list of kernels. `before` is the last kernel of the previous page, `others` if it won no job."""

    evidence: str = ""
    before: UUID | None = None
    others: bool = False

    def link(self, before: UUID | None = None, *, others: bool = False) -> str:
        """The address of these kernels, from the first or after one."""
        return self.address("/kernels", evidence=self.evidence, before=before, others="yes" if others else "")


@dataclass(frozen=True, slots=True)
class KernelList:
    """One page of kernels: winners of jobs, then the others, each newest first; `next` is None on the last."""

    kernels: tuple[KernelRow, ...]
    filter: Filter
    devices: tuple[str, ...]
    next: str | None


def understand(of: Mapping[str, str]) -> Filter:
    """Parse the query of a URL."""
    words = problem_words(of)
    words["unread"] += (*misread(of, "evidence", EVIDENCES), *unread_id(of))
    before, others = identity(of.get("before", "")), of.get("others") == "yes"
    return Filter(**words, evidence=word(of, "evidence"), before=before, others=others)


def kernel_list(session: Session, wanted: Filter) -> KernelList:
    """A page of the kernels that are wanted."""
    query = select(Kernel.id)
    if asked := wanted.conditions():
        query = query.where(Kernel.problem_id.in_(select(Problem.id).where(*asked)))
    if wanted.evidence in EVIDENCES:
        query = query.where(*has_time(EvidenceFilter(wanted.evidence)))
    found = _winners_first(session, query, wanted)
    shown = found[:PAGE_SIZE]
    rows = tuple(kernel_rows(session, shown))
    more = len(found) > len(shown)
    return KernelList(
        kernels=rows,
        filter=wanted,
        devices=tuple(session.scalars(select(Device.slug).distinct().order_by(Device.slug))),
        next=wanted.link(shown[-1], others=not rows[-1].winner) if more else None,
    )


def _winners_first(session: Session, query: Select[UUID], wanted: Filter) -> list[UUID]:
    """Return the ids of a page and of one kernel more: winners of jobs, then the others."""
    older = query if wanted.before is None else query.where(Kernel.id < wanted.before)
    won, device, most = kernels.is_winner(), wanted.device or None, PAGE_SIZE + 1
    found = [] if wanted.others else newest(session, older.where(won), device, most)
    others = (older if wanted.others else query).where(~won)
    return [*found, *newest(session, others, device, most - len(found))] if len(found) < most else found


def kernel_rows(session: Session, ids: Sequence[UUID]) -> Iterable[KernelRow]:
    """The kernels of these ids, in this order, each in a line."""
    columns = (Kernel.problem, Kernel.device)
    query = select(Kernel).where(Kernel.id.in_(ids)).options(*(joinedload(column) for column in columns))
    by_id = {kernel.id: kernel for kernel in session.scalars(query)}
    telling, won = kernels.telling_trials(session, ids, judges=True), kernels.winners_of(session, ids)
    return (_row(by_id[i], telling.get(i), i in won) for i in ids)


def _row(kernel: Kernel, trial: Trial | None, is_winner: bool) -> KernelRow:
    return KernelRow(
        id=str(kernel.id),
        problem=problem_label(kernel.problem),
        device=kernel.device.slug,
        driver=kernel.device.driver,
        config=config_label(kernel.config),
        winner=is_winner,
        time=None if trial is None else headline_figure(trial, kernel.device.slug, kernel.problem),
        proof=NO_PROOF if trial is None else proof_figure(trial),
        created_at=kernel.created_at,
        origin=kernel.origin,
        withdrawn=kernel.withdrawn,
    )
