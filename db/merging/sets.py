"""Sets of shapes come with their shapes, shares and kernels once all their jobs have."""

from collections.abc import Collection
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload, selectinload

from db.merging.rows import Copier
from db.schema import (
    ShapeSet,
    ShapeSetCell,
    ShapeSetKernel,
    ShapeSetMember,
    ShapeSetRun,
)


def copy(
    here: Session, there: Session, copier: Copier, members: dict[object, int], jobs: Collection[UUID]
) -> tuple[int, list[UUID]]:
    """Copy the sets that are over `there` and not here; how many came, and which stay because they or one of their jobs
    go on. `jobs` are those of there that are over on both sides; `members` gets identifiers here by those there.
    """
    loads = (
        joinedload(ShapeSet.device),
        joinedload(ShapeSet.run),
        selectinload(ShapeSet.members),
        selectinload(ShapeSet.kernels).selectinload(ShapeSetKernel.cells),
    )
    came, stay = 0, list[UUID]()
    known = set(here.scalars(select(ShapeSet.id)))
    taken = set(here.scalars(select(ShapeSetMember.job_id)))
    for theirs in there.scalars(select(ShapeSet).options(*loads).order_by(ShapeSet.id)):
        own = {member.job_id for member in theirs.members}
        if theirs.id in known:
            continue
        if theirs.status == "active" or not own or not own <= set(jobs) or own & taken:
            stay.append(theirs.id)
            continue
        _copy(here, theirs, copier, members)
        taken |= own
        came += 1
    return came, stay


def _copy(here: Session, theirs: ShapeSet, copier: Copier, members: dict[object, int]) -> None:
    here.add(ShapeSet(**copier.values(theirs)))
    here.flush()
    for member in theirs.members:
        made = ShapeSetMember(**copier.values(member))
        here.add(made)
        here.flush()
        members[member.id] = made.id
    for kernel in theirs.kernels:
        tried = ShapeSetKernel(**copier.values(kernel))
        here.add(tried)
        here.flush()
        for cell in kernel.cells:
            values = copier.values(cell) | {"kernel_id": tried.id}
            here.add(ShapeSetCell(**values))
    if theirs.run is not None and theirs.run.error is not None:  # why it ended without a result
        here.add(ShapeSetRun(**copier.values(theirs.run)))
    here.flush()
