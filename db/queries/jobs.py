"""Queries on jobs, except who works on them (see leases)."""

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
    JobOrigin,
    JobRetry,
    JobSearch,
    JobStart,
    JobStop,
    JobTrace,
    Trial,
)
from db.schema.base import new_id


def create(
    session: Session,
    *,
    problem_id: int,
    device_id: int,
    budget_trials: int,
    budget_seconds: float,
    seed: int,
    request_hash: str,
    idempotency_key: str | None = None,
    space_hash: str | None = None,
) -> Job | None:
    """Queue a job; None when one for an equal request is active or one with that idempotency key exists.

    Waits for another transaction that is queueing an equal one.

    Raises:
        sqlalchemy.exc.IntegrityError: a budget is not positive, or the like.
    """
    job_id = new_id()
    values: dict[str, object] = {
        "id": job_id,
        "problem_id": problem_id,
        "device_id": device_id,
        "budget_trials": budget_trials,
        "budget_seconds": budget_seconds,
        "seed": seed,
        "request_hash": request_hash,
        "idempotency_key": idempotency_key,
        "space_hash": space_hash,
    }
    return get(session, job_id) if insert_missing(session, Job, values) else None


def set_start(session: Session, job_id: UUID, *, again: bool, cold: bool) -> None:
    """Let a job measure all anew, or begin without donors, or both."""
    session.add(JobStart(job_id=job_id, again=again, cold=cold))
    session.flush()


def set_search(
    session: Session,
    job_id: UUID,
    *,
    method: str,
    no_gain: int | None,
    roofline: float | None,
    objective: str | None = None,
) -> None:
    """Keep how a new job searches, what it weighs, and when it has found enough."""
    search = {"method": method, "no_gain": no_gain, "roofline": roofline, "objective": objective}
    session.add(JobSearch(job_id=job_id, **search))
    session.flush()


def get(session: Session, job_id: UUID) -> Job | None:
    """A job with its problem, device and best trial, as the database has it now."""
    query = _whole().where(Job.id == job_id).execution_options(populate_existing=True)
    return session.scalars(query).first()


def list_page(
    session: Session, *, limit: int, before: UUID | None = None, wanted: JobFilter | None = None
) -> list[Job]:
    """The newest jobs that are wanted, at most `limit`, older than `before`."""
    # Identifiers first: many may have to be sorted, of which few are then read whole.
    query = select(Job.id).order_by(Job.id.desc()).limit(limit)
    if before is not None:
        query = query.where(Job.id < before)
    ids = session.scalars(query if wanted is None else wanted.of(query)).all()
    if not ids:
        return []
    # Few devices and much to decode of each: once for all jobs, not with every row.
    whole = select(Job).options(*_loads(), selectinload(Job.device))
    return list(session.scalars(whole.where(Job.id.in_(ids)).order_by(Job.id.desc())))


def kinds(session: Session, job_ids: Collection[UUID]) -> dict[UUID, str]:
    """Of which kind each job is."""
    return dict(session.execute(select(Job.id, KIND).where(Job.id.in_(job_ids))).all())


def set_retry(session: Session, job_id: UUID, of_job_id: UUID) -> None:
    """Keep which job a new one does anew."""
    session.add(JobRetry(job_id=job_id, of_job_id=of_job_id))
    session.flush()


def set_trace(session: Session, job_id: UUID, traceparent: str) -> None:
    """Keep which span queued a new job."""
    session.add(JobTrace(job_id=job_id, traceparent=traceparent))
    session.flush()


def trace_of(session: Session, job_id: UUID) -> str | None:
    """The span that queued a job; None where none was recorded."""
    row = session.get(JobTrace, job_id)
    return None if row is None else row.traceparent


def set_request(session: Session, job_id: UUID, request_id: str) -> None:
    """Keep which request queued a new job."""
    session.add(JobOrigin(job_id=job_id, request_id=request_id))
    session.flush()


def request_of(session: Session, job_id: UUID) -> str | None:
    """The id of the request that queued a job; None of one that no request did."""
    row = session.get(JobOrigin, job_id)
    return None if row is None else row.request_id


def active_identical(session: Session, request_hash: str) -> Job | None:
    """The oldest job that is queued or running for an equal request and that nobody asked to stop."""
    query = _whole().where(
        Job.request_hash == request_hash, Job.status.in_(ACTIVE_STATUSES), Job.cancel_requested.is_(False)
    )
    return session.scalars(query.order_by(Job.id).limit(1)).first()


def by_idempotency_key(session: Session, key: str) -> Job | None:
    """The job that was made with that key of a client."""
    return session.scalars(_whole().where(Job.idempotency_key == key)).first()


def is_cancel_requested(session: Session, job_id: UUID) -> bool:
    """Whether someone asked that job to stop."""
    return session.scalar(select(Job.cancel_requested).where(Job.id == job_id)) is True


def update_best(session: Session, job_id: UUID) -> None:
    """Let a job's `best_trial_id` name the best of its trials as they are now."""
    session.execute(update(Job).where(Job.id == job_id).values(best_trial_id=trials.best_id(session, job_id)))


def set_best(session: Session, job_id: UUID, number: int) -> None:
    """Let a job's `best_trial_id` name the trial that won in the end."""
    winner = select(Trial.id).where(Trial.job_id == job_id, Trial.number == number).scalar_subquery()
    session.execute(update(Job).where(Job.id == job_id).values(best_trial_id=winner))


def set_space(session: Session, job_id: UUID, space_hash: str) -> None:
    """Name the space of configurations that a job's trials were last drawn from."""
    session.execute(update(Job).where(Job.id == job_id).values(space_hash=space_hash))


def set_comparison(session: Session, job_id: UUID, *, default_us: float, best_us: float) -> None:
    """Keep the medians of trial 0 and of the best, measured in turns."""
    values = {"compared_default_us": default_us, "compared_best_us": best_us}
    session.execute(update(Job).where(Job.id == job_id).values(**values))


def set_stop(session: Session, job_id: UUID, reason: str) -> None:
    """Keep what ended a job's search; it replaces what ended an earlier run."""
    session.merge(JobStop(job_id=job_id, reason=reason))
    session.flush()


def set_stop_of_rest(session: Session, job_ids: Collection[UUID], reason: str) -> None:
    """Keep what ended the searches of those of which nothing is kept."""
    known = set(session.scalars(select(JobStop.job_id).where(JobStop.job_id.in_(job_ids))))
    session.add_all([JobStop(job_id=job_id, reason=reason) for job_id in job_ids if job_id not in known])
    session.flush()


def count_by_status(session: Session) -> dict[str, int]:
    """How many jobs have each status; statuses of no job are left out."""
    query = select(Job.status, func.count()).group_by(Job.status)
    return dict(session.execute(query).all())


def _whole() -> Select[Job]:
    return select(Job).options(*_loads(), joinedload(Job.device))


def _loads():  # of a type that SQLAlchemy keeps to itself
    return (
        joinedload(Job.problem),
        joinedload(Job.imported),
        joinedload(Job.effort),
        joinedload(Job.start),
        joinedload(Job.search),
        joinedload(Job.stop),
        joinedload(Job.retry),
        selectinload(Job.best_trial).options(*trials.evidence_loads()),
    )
