"""Queries on sets of shapes."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import Select, delete, func, select, update
from sqlalchemy.orm import Session, joinedload, selectinload

from db.errors import LeaseLost
from db.queries.results import trials
from db.schema.job import Job
from db.schema.shape_set import ShapeSet, ShapeSetCell, ShapeSetKernel, ShapeSetMember
from db.schema.trial import Trial
from db.values import JsonObject, utc_now


@dataclass(frozen=True, slots=True)
class Cell:
    """Time of a kernel on a shape, in microseconds, and its evidence; see ShapeSetCell."""

    kernel_id: int
    evidence: str
    time_us: float | None = None
    reason: str | None = None
    content_hash: str | None = None


def create(
    session: Session,
    *,
    source: str,
    device_id: int,
    budget_trials: int,
    budget_seconds: float,
    within: float,
    request_hash: str,
) -> ShapeSet:
    """Add a set without members.

    Raises:
        sqlalchemy.exc.IntegrityError: one of an equal request is active.
    """
    made = ShapeSet(
        source=source,
        device_id=device_id,
        budget_trials=budget_trials,
        budget_seconds=budget_seconds,
        within=within,
        request_hash=request_hash,
    )
    session.add(made)
    session.flush()
    return made


def add_member(session: Session, set_id: UUID, position: int, job_id: UUID, weight: float, name: str) -> None:
    """Add a shape by its job."""
    session.add(ShapeSetMember(set_id=set_id, position=position, job_id=job_id, weight=weight, name=name))


def get(session: Session, set_id: UUID) -> ShapeSet | None:
    """Return a set with its members, their jobs, and its kernels with their cells, as currently stored."""
    query = _whole().where(ShapeSet.id == set_id).execution_options(populate_existing=True)
    return session.scalars(query).first()


def active_identical(session: Session, request_hash: str) -> UUID | None:
    """Return the active set of an equal request."""
    return session.scalar(select(ShapeSet.id).where(ShapeSet.request_hash == request_hash, ShapeSet.status == "active"))


def list_page(session: Session, *, limit: int, before: UUID | None = None) -> list[ShapeSet]:
    """Return the newest sets with their devices and members, at most `limit`, older than `before`."""
    query = select(ShapeSet).options(joinedload(ShapeSet.device), selectinload(ShapeSet.members))
    if before is not None:
        query = query.where(ShapeSet.id < before)
    return list(session.scalars(query.order_by(ShapeSet.id.desc()).limit(limit)))


def grant(session: Session, job_id: UUID, budget_trials: int) -> None:
    """Set the budget of a job in trials, at least one."""
    session.execute(update(Job).where(Job.id == job_id).values(budget_trials=max(budget_trials, 1)))


def spend(session: Session, set_id: UUID, seconds: float, compiled: int, reused: int) -> None:
    """Add to the time and the compilations that a set has used."""
    added = {
        "spent_s": ShapeSet.spent_s + seconds,
        "compiled": ShapeSet.compiled + compiled,
        "reused": ShapeSet.reused + reused,
    }
    session.execute(update(ShapeSet).where(ShapeSet.id == set_id).values(**added))


def add_kernels(session: Session, set_id: UUID, kernels: Iterable[tuple[int, JsonObject]]) -> None:
    """Add the kernels to try on all shapes: for each the member that it comes from, and its configuration."""
    for position, (member_id, config) in enumerate(kernels):
        session.add(ShapeSetKernel(set_id=set_id, position=position, member_id=member_id, config=config))


def set_cells(session: Session, member_id: int, cells: Sequence[Cell]) -> None:
    """Replace the cells of a shape."""
    session.execute(delete(ShapeSetCell).where(ShapeSetCell.member_id == member_id))
    for cell in cells:
        session.add(
            ShapeSetCell(
                kernel_id=cell.kernel_id,
                member_id=member_id,
                time_us=cell.time_us,
                evidence=cell.evidence,
                reason=cell.reason,
                content_hash=cell.content_hash,
            )
        )


def finish(session: Session, set_id: UUID, status: str) -> bool:
    """End an active set as succeeded or cancelled; False when it was over already."""
    ended = update(ShapeSet).where(ShapeSet.id == set_id, ShapeSet.status == "active")
    found = session.scalar(ended.values(status=status, finished_at=utc_now()).returning(ShapeSet.id))
    return found is not None


def claim(
    session: Session, set_id: UUID, holder: str, lease_s: float, is_dead: Callable[[str], bool], now: datetime
) -> str | None:
    """Take or prolong the lease to run a set; return None on success, else the present holder."""
    row = session.scalars(select(ShapeSet).where(ShapeSet.id == set_id).with_for_update()).one()
    if row.holder != holder and not _is_free(row, is_dead, now):
        return row.holder
    row.holder, row.lease_until = holder, now + timedelta(seconds=lease_s)
    return None


def check_own(session: Session, set_id: UUID, holder: str) -> None:
    """Check that nobody else took the lease of a set, even if it ran out, and lock the set until the transaction ends.

    Raises:
        LeaseLost: another process runs the set, or it was deleted.
    """
    own = select(ShapeSet.holder).where(ShapeSet.id == set_id).with_for_update()
    if (found := session.scalar(own)) != holder:
        raise LeaseLost(f"set of shapes {set_id} is run by {found or 'nobody'}, not by {holder}")


def give_up(session: Session, set_id: UUID, holder: str, now: datetime) -> None:
    """Give up the lease of a set."""
    own = update(ShapeSet).where(ShapeSet.id == set_id, ShapeSet.holder == holder)
    session.execute(own.values(lease_until=now))


def waiting(session: Session, is_dead: Callable[[str], bool], now: datetime) -> list[ShapeSet]:
    """Return active sets that nobody runs, oldest first, with their devices."""
    query = select(ShapeSet).where(ShapeSet.status == "active").order_by(ShapeSet.id)
    found = session.scalars(query.options(joinedload(ShapeSet.device)))
    return [row for row in found if _is_free(row, is_dead, now)]


def _is_free(row: ShapeSet, is_dead: Callable[[str], bool], now: datetime) -> bool:
    return row.holder is None or row.lease_until is None or row.lease_until <= now or is_dead(row.holder)


def fail(session: Session, set_id: UUID, error: str) -> None:
    """Store the error that ended a set; the caller ends its jobs."""
    session.execute(update(ShapeSet).where(ShapeSet.id == set_id).values(error=error))


def delete_set(session: Session, set_id: UUID) -> None:
    """Delete a set; its jobs and their results stay, and runs of schedules record that they started one."""
    # Imported here: lists of sets do without the tables of schedules.
    from db.schema.schedule import ScheduleFire

    fires = update(ScheduleFire).where(ScheduleFire.set_id == set_id)
    session.execute(fires.values(set_id=None, reason=f"its set of shapes {set_id} was deleted"))
    members = select(ShapeSetMember.id).where(ShapeSetMember.set_id == set_id)
    session.execute(delete(ShapeSetCell).where(ShapeSetCell.member_id.in_(members)))
    for model in (ShapeSetKernel, ShapeSetMember):
        session.execute(delete(model).where(model.set_id == set_id))
    session.execute(delete(ShapeSet).where(ShapeSet.id == set_id))


def tried(session: Session, set_id: UUID) -> dict[UUID, int]:
    """Count the ended trials of each job of a set."""
    query = select(Trial.job_id, func.count()).join(ShapeSetMember, ShapeSetMember.job_id == Trial.job_id)
    query = query.where(ShapeSetMember.set_id == set_id, Trial.status != "pending").group_by(Trial.job_id)
    return dict(session.execute(query).all())


def count_proposed(session: Session, set_id: UUID, proposer: str) -> int:
    """Count the ended trials of a set of that proposer."""
    query = select(func.count(Trial.id)).join(ShapeSetMember, ShapeSetMember.job_id == Trial.job_id)
    of = ShapeSetMember.set_id == set_id, Trial.status != "pending", Trial.proposer == proposer
    return session.scalars(query.where(*of)).one()


def baselines(session: Session, set_id: UUID) -> dict[UUID, Trial]:
    """Return trial 0 of each job of a set, with its evidence."""
    query = select(Trial).join(ShapeSetMember, ShapeSetMember.job_id == Trial.job_id)
    query = query.where(ShapeSetMember.set_id == set_id, Trial.number == 0).options(*trials.evidence_loads())
    return {trial.job_id: trial for trial in session.scalars(query)}


def _whole() -> Select[ShapeSet]:
    job = selectinload(ShapeSet.members).joinedload(ShapeSetMember.job)
    best = job.selectinload(Job.best_trial)
    return select(ShapeSet).options(
        joinedload(ShapeSet.device),
        job.joinedload(Job.problem),
        best.options(*trials.evidence_loads()),
        selectinload(ShapeSet.kernels).selectinload(ShapeSetKernel.cells),
    )
