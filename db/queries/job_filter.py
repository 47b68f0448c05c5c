"""Filters of job lists."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, case, not_, null, or_, select

from db.schema import (
    Device,
    Job,
    Problem,
    ShapeSetMember,
)

# The first kind whose condition holds is the job's kind; jobs of no kind here are searches.
_TELLS: dict[str, ColumnElement[bool]] = {
    "import": Job.origin.is_not(None),
    "shape": Job.id.in_(select(ShapeSetMember.job_id)),
    "measure": Job.candidates.is_not(null()),
}
SEARCH = "search"
JOB_KINDS = (SEARCH, *_TELLS)
KIND = case(*((tells, kind) for kind, tells in _TELLS.items()), else_=SEARCH)
_OF_PROBLEM = {
    "problem_key": Problem.key,
    "m": Problem.m,
    "n": Problem.n,
    "k": Problem.k,
    "batch": Problem.batch,
    "dtype_a": Problem.dtype_a,
    "dtype_b": Problem.dtype_b,
    "dtype_c": Problem.dtype_c,
    "dtype_acc": Problem.dtype_acc,
}


@dataclass(frozen=True, slots=True)
class JobFilter:
    """Conditions on jobs, all of which must hold; None and empty ones always hold.

    `statuses` and `kinds` hold the accepted values, `device` is a slug, sizes are in elements. Matches jobs
    created from `created_from` on and before `created_before`.
    """

    statuses: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    device: str | None = None
    problem_key: str | None = None
    m: int | None = None
    n: int | None = None
    k: int | None = None
    batch: int | None = None
    dtype_a: str | None = None
    dtype_b: str | None = None
    dtype_c: str | None = None
    dtype_acc: str | None = None
    created_from: datetime | None = None
    created_before: datetime | None = None

    def of(self, query: Select[Any]) -> Select[Any]:
        """Return the query, restricted to matching jobs."""
        if self.statuses:
            query = query.where(Job.status.in_(self.statuses))
        if self.kinds:
            query = query.where(or_(*(_is_of(kind) for kind in self.kinds)))
        if self.device is not None:
            query = query.where(Job.device_id.in_(select(Device.id).where(Device.slug == self.device)))
        given = {column: getattr(self, name) for name, column in _OF_PROBLEM.items()}
        if wanted := [column == value for column, value in given.items() if value is not None]:
            query = query.where(Job.problem_id.in_(select(Problem.id).where(*wanted)))
        if self.created_from is not None:
            query = query.where(Job.created_at >= self.created_from)
        if self.created_before is not None:
            query = query.where(Job.created_at < self.created_before)
        return query


def _is_of(kind: str) -> ColumnElement[bool]:
    names = list(_TELLS)
    before = [not_(_TELLS[name]) for name in (names[: names.index(kind)] if kind in _TELLS else names)]
    return and_(_TELLS[kind], *before) if kind in _TELLS else and_(*before)
