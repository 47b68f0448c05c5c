"""What jobs began with: one list of a job, best first, in three tables by what is here of a donor's own job."""

from collections.abc import Collection, Sequence
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session, joinedload

from db.schema import (
    Donor,
    ImportedDonor,
    Job,
    RecordedDonor,
    RecordedTrial,
    Recording,
    Trial,
)

Beginning = Donor | RecordedDonor | ImportedDonor


def add(
    session: Session, job_id: UUID, chosen: Sequence[tuple[int, float]], recorded: Sequence[tuple[int, float]]
) -> None:
    """Keep what a job begins with, best first: trials, then recorded ones, each with the distance of its problem."""
    for position, (trial_id, far) in enumerate(chosen):
        session.add(Donor(job_id=job_id, position=position, source_trial_id=trial_id, distance=far))
    for position, (trial_id, far) in enumerate(recorded, len(chosen)):
        session.add(RecordedDonor(job_id=job_id, position=position, recorded_trial_id=trial_id, distance=far))


def of_job(session: Session, job_id: UUID) -> list[Beginning]:
    """What a job began with, best first, with the problems and devices of trials and recorded ones."""
    return of_jobs(session, [job_id])


def of_jobs(session: Session, job_ids: Collection[UUID]) -> list[Beginning]:
    """The same of several jobs; those of one job are in order."""
    job = joinedload(Donor.source).joinedload(Trial.job)
    recording = joinedload(RecordedDonor.source).joinedload(RecordedTrial.recording)
    donors = select(Donor).options(job.joinedload(Job.problem), job.joinedload(Job.device))
    recorded = select(RecordedDonor).options(
        recording.joinedload(Recording.problem), recording.joinedload(Recording.device)
    )
    found: list[Beginning] = [
        *session.scalars(donors.where(Donor.job_id.in_(job_ids))),
        *session.scalars(recorded.where(RecordedDonor.job_id.in_(job_ids))),
        *session.scalars(select(ImportedDonor).where(ImportedDonor.job_id.in_(job_ids))),
    ]
    return sorted(found, key=lambda donor: donor.position)


def count(session: Session, job_id: UUID) -> int:
    """How many configurations a job began with."""
    tables = (Donor, RecordedDonor, ImportedDonor)
    counts = (select(func.count()).where(table.job_id == job_id).select_from(table) for table in tables)
    return sum(session.scalar(query) or 0 for query in counts)
