"""What jobs that come began with: one list of a job in three tables, each position of it once."""

from collections.abc import Collection
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.merging.rows import Copier, batched, references
from db.queries.warm_starts import Beginning
from db.schema import (
    Donor,
    ImportedDonor,
    RecordedDonor,
)


def copy(here: Session, there: Session, copier: Copier, coming: Collection[UUID]) -> None:
    """Copy what the jobs `coming` began with, where they have nothing at that position here.

    A trial or a recorded one that comes takes the place of what an import kept of it.
    """
    kept = {(row.job_id, row.position): row for row in _rows(here, coming)}
    for theirs in _rows(there, coming):
        place: tuple[UUID, int] = theirs.job_id, theirs.position
        ours, values = kept.get(place), copier.values(theirs)
        whole = all(values[name] is not None for name in references(type(theirs)))
        better = ours is None or (isinstance(ours, ImportedDonor) and not isinstance(theirs, ImportedDonor))
        if not whole or not better:
            continue
        if ours is not None:
            here.delete(ours)
        kept[place] = type(theirs)(**values)
        here.add(kept[place])
    here.flush()


def _rows(session: Session, jobs: Collection[UUID]) -> list[Beginning]:
    found: list[Beginning] = []
    for some in batched(jobs):
        for table in (Donor, RecordedDonor, ImportedDonor):
            found += session.scalars(select(table).where(table.job_id.in_(some)))
    return found
