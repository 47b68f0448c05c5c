"""Queries on jobs, except on their leases (see leases)."""

from collections.abc import Collection
from uuid import UUID

from sqlalchemy import Select, func, select, update
from sqlalchemy.orm import Session, joinedload, selectinload

from db.queries import trials
from db.queries.insert import insert_missing
from db.queries.job_filter import (
    KIND,
    JobFilter,
)
from db.schema import (
    ACTIVE_STATUSES,
    Job,
    Trial,
)
from db.schema.base import JsonObject, new_id


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


def candidates_of(session: Session, job_id: UUID) -> list[JsonObject]:
    """Return the configurations that a job was given to measure, in order; empty for a job that searches."""
    return session.scalar(select(Job.candidates).where(Job.id == job_id)) or []


def active_identical(session: Session, request_hash: str) -> Job | None:
    """Return the oldest job for an equal request that is queued or running and not asked to stop."""
    query = _whole().where(
        Job.request_hash == request_hash, Job.status.in_(ACTIVE_STATUSES), Job.cancel_requested.is_(False)
    )
    return session.scalars(query.order_by(Job.id).limit(1)).first()


def is_cancel_requested(session: Session, job_id: UUID) -> bool:
    """Return whether that job was asked to stop."""
    return session.scalar(select(Job.cancel_requested).where(Job.id == job_id)) is True


def update_best(session: Session, job_id: UUID) -> None:
    """Set a job's `best_trial_id` to the current best of its trials."""
    session.execute(update(Job).where(Job.id == job_id).values(best_trial_id=trials.best_id(session, job_id)))


def set_best(session: Session, job_id: UUID, number: int) -> None:
    """Set a job's `best_trial_id` to the trial that won the final comparison."""
    winner = select(Trial.id).where(Trial.job_id == job_id, Trial.number == number).scalar_subquery()
    session.execute(update(Job).where(Job.id == job_id).values(best_trial_id=winner))


def set_space(session: Session, job_id: UUID, space_hash: str) -> None:
    """Store the hash of the space that a job's trials were last proposed from."""
    session.execute(update(Job).where(Job.id == job_id).values(space_hash=space_hash))


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
