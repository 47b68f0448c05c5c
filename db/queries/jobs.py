"""Queries on jobs, filters of their lists, and their wall times; leases are in `cluster/leases.py`."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    Update,
    and_,
    bindparam,
    case,
    column,
    func,
    not_,
    null,
    or_,
    select,
    table,
    update,
)
from sqlalchemy.orm import Session, joinedload, selectinload

from db.queries.insert import insert_missing
from db.queries.problems import is_quantized_by
from db.queries.results import trials
from db.schema.base import table_of
from db.schema.job import ACTIVE_STATUSES, Job
from db.schema.kernel import Kernel
from db.schema.target import Device, Problem
from db.schema.trial import Trial
from db.values import JsonObject, new_id

# The first kind whose condition holds is the job's kind; jobs of no kind here are searches.
_TELLS: dict[str, ColumnElement[bool]] = {
    "import": Job.origin.is_not(None),
    # By name: a list of jobs needs no other tables of sets.
    "shape": Job.id.in_(select(column("job_id")).select_from(table("shape_set_member"))),
    "measure": Job.candidates.is_not(null()),
    "binary": Job.kernel_id.is_not(None),
}
SEARCH = "search"
KIND = case(*((tells, kind) for kind, tells in _TELLS.items()), else_=SEARCH)
_COMPARED = ("compared_default_us", "compared_best_us")
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


class Target(NamedTuple):
    """The problem of a job, and its device, a slug with its stored facts."""

    problem_id: int
    problem_key: str
    device_id: int
    device: str
    device_spec: JsonObject


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
    quantization: str | None = None
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
        wanted = [column == value for column, value in given.items() if value is not None]
        if self.quantization is not None:
            wanted.append(is_quantized_by(self.quantization))
        if wanted:
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


def create(session: Session, *, problem_id: int, device_id: int, request_hash: str, **columns: object) -> Job | None:
    """Queue a job with these `columns`; return None when one for an equal request is active.

    Waits for another transaction that is queueing an equal one.

    Raises:
        sqlalchemy.exc.IntegrityError: a budget is not positive, or the like.
    """
    job_id = new_id()
    keys = {"id": job_id, "problem_id": problem_id, "device_id": device_id, "request_hash": request_hash}
    return get(session, job_id) if insert_missing(session, Job, keys | columns) else None


def get(session: Session, job_id: UUID) -> Job | None:
    """Return a job with its problem, device and best trial, as currently stored."""
    query = _whole().where(Job.id == job_id).execution_options(populate_existing=True)
    return session.scalars(query).first()


def list_page(
    session: Session, *, limit: int, before: UUID | None = None, wanted: JobFilter | None = None
) -> list[Job]:
    """Return the newest matching jobs, at most `limit`, older than `before`."""
    # Identifiers first: the sort covers many rows, of which few are then read in full.
    query = select(Job.id).order_by(Job.id.desc()).limit(limit)
    if before is not None:
        query = query.where(Job.id < before)
    ids = session.scalars(query if wanted is None else wanted.of(query)).all()
    if not ids:
        return []
    # Few devices, each with much to decode: load each once for all jobs, not with every row.
    whole = select(Job).options(*_loads(), selectinload(Job.device))
    return list(session.scalars(whole.where(Job.id.in_(ids)).order_by(Job.id.desc())))


def matching(session: Session, wanted: JobFilter) -> list[Job]:
    """Return the matching jobs, oldest first, with their problems and devices."""
    query = select(Job).options(joinedload(Job.problem), selectinload(Job.device)).order_by(Job.id)
    return list(session.scalars(wanted.of(query)))


def kinds(session: Session, job_ids: Collection[UUID]) -> dict[UUID, str]:
    """Return the kind of each job."""
    return dict(session.execute(select(Job.id, KIND).where(Job.id.in_(job_ids))).all())


def set_retry(session: Session, job_id: UUID, retry_of: UUID) -> None:
    """Store which job a new one resubmits."""
    session.execute(update(Job).where(Job.id == job_id).values(retry_of=retry_of))


def trace_of(session: Session, job_id: UUID) -> str | None:
    """Return the span that queued a job; None if none was recorded."""
    return session.scalar(select(Job.traceparent).where(Job.id == job_id))


def request_of(session: Session, job_id: UUID) -> str | None:
    """Return the id of the request that queued a job; None if no request did."""
    return session.scalar(select(Job.request_id).where(Job.id == job_id))


def binary_of(session: Session, job_id: UUID) -> UUID | None:
    """Return the kernel whose native binary a job builds; None for a job that tunes."""
    return session.scalar(select(Job.kernel_id).where(Job.id == job_id))


def candidates_of(session: Session, job_id: UUID) -> list[JsonObject]:
    """Return the configurations that a job was given to measure, in order; empty for a job that searches."""
    return session.scalar(select(Job.candidates).where(Job.id == job_id)) or []


def active_identical(session: Session, request_hash: str) -> Job | None:
    """Return the oldest job for an equal request that is queued or running and not asked to stop."""
    query = select(Job.id).where(
        Job.request_hash == request_hash, Job.status.in_(ACTIVE_STATUSES), Job.cancel_requested.is_(False)
    )
    found = session.scalar(query.order_by(Job.id).limit(1))
    return None if found is None else get(session, found)


def target(session: Session | Connection, job_id: UUID) -> Target:
    """Return what a job tunes, and for what."""
    return Target(*session.execute(_target_statement(), {"job_id": job_id}).one())


@cache
def _target_statement() -> Select[int, str, int, str, JsonObject]:
    query = select(Job.problem_id, Problem.key, Job.device_id, Device.slug, Device.spec)
    return query.join(Job.problem).join(Job.device).where(Job.id == bindparam("job_id"))


def is_cancel_requested(session: Session, job_id: UUID) -> bool:
    """Return whether that job was asked to stop."""
    return session.scalar(_cancel_statement(), {"job_id": job_id}) is True


@cache
def _cancel_statement() -> Select[bool]:
    return select(Job.cancel_requested).where(Job.id == bindparam("job_id"))


def update_best(session: Session | Connection, job_id: UUID) -> None:
    """Set a job's `best_trial_id` to the current best of its trials; a comparison with another best is dropped."""
    best_id = trials.best_id(session, job_id)
    session.execute(_best_statement(), {"of_job": job_id, "best_id": best_id})
    if isinstance(session, Connection):
        return
    if (loaded := session.identity_map.get(session.identity_key(Job, job_id))) is not None:
        session.expire(loaded, ["best_trial_id", *_COMPARED])


@cache
def _best_statement() -> Update:
    best = bindparam("best_id", type_=Job.best_trial_id.type)
    again = {name: case((Job.best_trial_id == best, getattr(Job, name)), else_=None) for name in _COMPARED}
    return update(table_of(Job)).where(Job.id == bindparam("of_job")).values(best_trial_id=best, **again)


def choose_again(session: Session, job_ids: Collection[UUID]) -> None:
    """Choose the best of jobs again, after one of their kernels was withdrawn or restored.

    A best that was re-measured against the default stays, unless its kernel is withdrawn.
    """
    stands = select(Trial.id).join(Trial.kernel).where(Trial.id == Job.best_trial_id, Kernel.withdrawn.is_(None))
    query = select(Job.id).where(Job.id.in_(job_ids), or_(Job.compared_best_us.is_(None), ~stands.exists()))
    for job_id in session.scalars(query).all():
        update_best(session, job_id)


def set_best(session: Session, job_id: UUID, number: int) -> None:
    """Set a job's `best_trial_id` to the trial that won the final comparison."""
    winner = select(Trial.id).where(Trial.job_id == job_id, Trial.number == number).scalar_subquery()
    session.execute(update(Job).where(Job.id == job_id).values(best_trial_id=winner))


def set_space(session: Session, job_id: UUID, space_hash: str) -> None:
    """Store the hash of the space that a job's trials were last proposed from."""
    session.execute(update(Job).where(Job.id == job_id).values(space_hash=space_hash))


def set_restrictions(session: Session, job_id: UUID, restrictions: list[JsonObject]) -> None:
    """Store the restrictions of the device that a job's present run takes."""
    session.execute(update(Job).where(Job.id == job_id).values(restrictions=restrictions))


def set_comparison(session: Session, job_id: UUID, *, default_us: float, best_us: float) -> None:
    """Store the medians of trial 0 and of the best, re-measured interleaved."""
    values = {"compared_default_us": default_us, "compared_best_us": best_us}
    session.execute(update(Job).where(Job.id == job_id).values(**values))


def set_stop(session: Session, job_id: UUID, reason: str) -> None:
    """Store the reason that a job's search stopped; it replaces that of an earlier run."""
    session.execute(update(Job).where(Job.id == job_id).values(stop=reason))


def set_stop_of_rest(session: Session, job_ids: Collection[UUID], reason: str) -> None:
    """Store the reason for those jobs that have none yet."""
    session.execute(update(Job).where(Job.id.in_(job_ids), Job.stop.is_(None)).values(stop=reason))


def count_by_status(session: Session) -> dict[str, int]:
    """Return the number of jobs by status; statuses without jobs are left out."""
    query = select(Job.status, func.count()).group_by(Job.status)
    return dict(session.execute(query).all())


def _whole() -> Select[Job]:
    return select(Job).options(*_loads(), joinedload(Job.device))


def _loads():  # of a type private to SQLAlchemy
    return (
        joinedload(Job.problem),
        selectinload(Job.best_trial).options(*trials.evidence_loads()),
    )


def wall_time_s(session: Session, job_id: UUID) -> float:
    """Return the wall time of all runs of a job so far, in seconds."""
    return session.scalar(select(Job.total_s).where(Job.id == job_id)) or 0.0
