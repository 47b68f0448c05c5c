"""Leases of jobs: how workers claim, extend, release and finish them.

`now` is the caller's clock; clocks of hosts that share a database must differ by less than a lease.
"""

from collections.abc import Collection
from datetime import datetime, timedelta
from functools import cache
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    and_,
    bindparam,
    case,
    func,
    literal,
    null,
    or_,
    select,
    update,
)
from sqlalchemy.orm import Session

from db.errors import LeaseLost
from db.queries import jobs
from db.schema.job import Job
from db.schema.shape_set import ShapeSet, ShapeSetMember
from db.schema.target import Device
from db.values import utc_now

_FREE: dict[str, object] = {"worker": None, "lease_until": None}


def claim_next(
    session: Session,
    worker: str,
    lease_s: float,
    *,
    devices: Collection[str] | None = None,
    predicted: bool = True,
    now: datetime | None = None,
) -> Job | None:
    """Take the oldest job that is queued, or whose lease another worker let run out; return None when there is none.

    `worker` is unique among running workers. `devices` are slugs to take jobs for, beside those that are
    `predicted` because they need no device (theirs has no driver); None takes any. Jobs of an active set of
    shapes are left to the process that runs the set.
    """
    in_sets = select(ShapeSetMember.job_id).join(ShapeSet, ShapeSet.id == ShapeSetMember.set_id)
    conditions = [Job.id.not_in(in_sets.where(ShapeSet.status == "active"))]
    if devices is not None:
        known = and_(Device.driver != "", Device.slug.in_(devices))
        wanted = or_(Device.driver == "", Device.slug.in_(devices)) if predicted else known
        conditions.append(Job.device_id.in_(select(Device.id).where(wanted)))
    return _claim(session, worker, lease_s, now, *conditions)


def claim(session: Session, job_id: UUID, worker: str, lease_s: float, *, now: datetime | None = None) -> Job | None:
    """Take that job if it is free; return None when it is over or another worker has it."""
    return _claim(session, worker, lease_s, now, Job.id == job_id)


def extend(session: Session, job_id: UUID, worker: str, lease_s: float, *, now: datetime | None = None) -> bool:
    """Prolong a lease, even one that ran out if nobody took the job; return whether the job was asked to stop.

    Raises:
        LeaseLost: the job is not this worker's any more.
    """
    until = (now or utc_now()) + timedelta(seconds=lease_s)
    return _change_own(session, job_id, worker, {"lease_until": until})


def extend_all(session: Session, worker: str, lease_s: float, *, now: datetime | None = None) -> None:
    """Prolong the leases of all jobs of this worker."""
    until = (now or utc_now()) + timedelta(seconds=lease_s)
    session.execute(update(Job).where(Job.status == "running", Job.worker == worker).values(lease_until=until))


def check_own(session: Session | Connection, job_id: UUID, worker: str) -> None:
    """Check that the job is this worker's, and lock it until the transaction ends.

    Raises:
        LeaseLost: it is not, or not any more.
    """
    if session.scalar(_own_statement(), {"job_id": job_id, "owner": worker}) is None:
        raise _lost(job_id, worker)


@cache
def _own_statement() -> Select[UUID]:
    own = Job.id == bindparam("job_id"), Job.status == "running", Job.worker == bindparam("owner")
    return select(Job.id).where(*own).with_for_update(of=Job)


def release(session: Session, job_id: UUID, worker: str) -> None:
    """Put the job back in the queue, unfinished, for the next worker to resume; one asked to stop is cancelled.

    Raises:
        LeaseLost: the job is not this worker's any more.
    """
    _change_own(session, job_id, worker, _put_back())


def release_all(session: Session, worker: str, under_way: Collection[UUID] = ()) -> int:
    """Release the jobs of a worker that was killed or ends at once, or of a live one those that it does not run;
    return their number.

    `under_way` are the jobs and sets of shapes that it runs. It may have others: it was told that a claim failed
    which the database had committed.
    """
    query = update(Job).where(Job.status == "running", Job.worker == worker).values(**_put_back())
    if under_way:
        in_sets = select(ShapeSetMember.job_id).where(ShapeSetMember.set_id.in_(under_way))
        query = query.where(Job.id.not_in(under_way), Job.id.not_in(in_sets))
    return len(session.scalars(query.returning(Job.id)).all())


def finish(
    session: Session,
    job_id: UUID,
    worker: str,
    status: str,
    error: str | None = None,
    *,
    now: datetime | None = None,
) -> None:
    """End a job as succeeded, failed (with `error`, "code: message") or cancelled.

    Raises:
        LeaseLost: the job is not this worker's any more.
    """
    values = {"status": status, "error": error, "finished_at": now or utc_now(), **_FREE}
    if status == "cancelled":
        values["cancel_requested"] = True
    _change_own(session, job_id, worker, values)


def request_cancel(session: Session, job_id: UUID, *, now: datetime | None = None) -> Job | None:
    """Ask a job to stop: a queued one is cancelled at once, a running one is notified, one that is over is unchanged.

    Return the updated job; None when there is no such job.
    """
    # Locked first: without the lock, a release between the two changes would escape both.
    session.execute(select(Job.id).where(Job.id == job_id).with_for_update(of=Job))
    waiting = update(Job).where(Job.id == job_id, Job.status == "queued")
    session.execute(waiting.values(status="cancelled", cancel_requested=True, finished_at=now or utc_now()))
    session.execute(update(Job).where(Job.id == job_id, Job.status == "running").values(cancel_requested=True))
    return jobs.get(session, job_id)


def _claim(
    session: Session, worker: str, lease_s: float, now: datetime | None, *conditions: ColumnElement[bool]
) -> Job | None:
    now = now or utc_now()
    # Not its own: a worker whose clock jumped still runs them.
    over = and_(Job.status == "running", Job.lease_until < now, Job.worker != worker)
    free = or_(Job.status == "queued", over)
    # One statement, so that no two claims take the same job; SQLite has one writer and ignores FOR UPDATE.
    chosen = select(Job.id).where(free, *conditions).order_by(Job.id).limit(1).with_for_update(skip_locked=True)
    taken = {
        "status": "running",
        "worker": worker,
        "lease_until": now + timedelta(seconds=lease_s),
        "attempts": Job.attempts + 1,
        "started_at": func.coalesce(Job.started_at, now),
    }
    job_id = session.scalar(update(Job).where(Job.id == chosen.scalar_subquery()).values(**taken).returning(Job.id))
    return None if job_id is None else jobs.get(session, job_id)


def _put_back() -> dict[str, object]:
    """Return the values of a released job: queued, or cancelled when it was asked to stop."""
    now = literal(utc_now(), Job.finished_at.type)
    status = case((Job.cancel_requested, "cancelled"), else_="queued")
    return {"status": status, "finished_at": case((Job.cancel_requested, now), else_=null()), **_FREE}


def _change_own(session: Session, job_id: UUID, worker: str, values: dict[str, object]) -> bool:
    own = update(Job).where(Job.id == job_id, Job.status == "running", Job.worker == worker)
    stop = session.scalar(own.values(**values).returning(Job.cancel_requested))
    if stop is None:
        raise _lost(job_id, worker)
    return stop


def _lost(job_id: UUID, worker: str) -> LeaseLost:
    return LeaseLost(f"job {job_id} is not worker {worker}'s: its lease ran out and another took it, or it is over")
