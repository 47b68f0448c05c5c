"""Export and import of warm starts: a donor is written with its configuration, since its job may not be in the file."""

from uuid import UUID

from sqlalchemy.orm import Session

from db import schema
from db.queries import (
    trials,
    warm_starts,
)
from service.row_mapping import (
    config_from_json,
    config_to_json,
    problem_from_json,
    problem_to_json,
)
from tuner.exchange.records import DonorRecord


def donor_records(session: Session, job_id: UUID) -> tuple[DonorRecord, ...]:
    """Return the donors of a job, best first."""
    return tuple(map(_record, warm_starts.of_job(session, job_id)))


def add_donors(session: Session, job_id: UUID, records: tuple[DonorRecord, ...]) -> None:
    """Add the donors of an imported job: a reference where the trial is in this database, else a copy."""
    for position, record in enumerate(records):
        of = None if record.job is None else trials.get(session, UUID(record.job), record.number)
        if of is not None and of.config_hash == record.config.key:
            session.add(schema.Donor(job_id=job_id, position=position, source_trial_id=of.id, distance=record.distance))
        else:
            session.add(
                schema.ImportedDonor(
                    job_id=job_id,
                    position=position,
                    source_job=None if record.job is None else UUID(record.job),
                    source_recording=record.recording,
                    number=record.number,
                    definition=problem_to_json(record.definition),
                    device=record.device,
                    config=config_to_json(record.config),
                    distance=record.distance,
                )
            )


def _record(stored: warm_starts.Beginning) -> DonorRecord:
    job, recording = None, None
    match stored:
        case schema.Donor():
            of, source = stored.source, stored.source.job
            number, config, definition, device = of.number, of.config, source.problem.definition, source.device.slug
            job = str(of.job_id)
        case schema.RecordedDonor():
            of, source = stored.source, stored.source.recording
            number, config, definition, device = of.number, of.config, source.problem.definition, source.device.slug
            recording = source.digest
        case schema.ImportedDonor():
            number, config, definition, device = stored.number, stored.config, stored.definition, stored.device
            job, recording = None if stored.source_job is None else str(stored.source_job), stored.source_recording
    return DonorRecord(
        number,
        problem_from_json(definition),
        device,
        config_from_json(config),
        stored.distance,
        job=job,
        recording=recording,
    )
