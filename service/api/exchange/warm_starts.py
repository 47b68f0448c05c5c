"""Export and import of warm starts: a donor is written with its configuration, since its job may not be in the file."""

from uuid import UUID

from sqlalchemy.orm import Session

from codegen import InvalidConfig, InvalidProblem
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
    """Return the donors of a job, best first, without those that this version cannot read."""
    records = map(_record, warm_starts.of_job(session, job_id))
    return tuple(record for record in records if record is not None)


def add_donors(session: Session, job_id: UUID, records: tuple[DonorRecord, ...]) -> None:
    """Keep what a job that ran elsewhere began with: as a trial that is here too, or else as the file has it."""
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


def _record(kept: warm_starts.Beginning) -> DonorRecord | None:
    job, recording = None, None
    match kept:
        case schema.Donor():
            of, source = kept.source, kept.source.job
            number, config, definition, device = of.number, of.config, source.problem.definition, source.device.slug
            job = str(of.job_id)
        case schema.RecordedDonor():
            of, source = kept.source, kept.source.recording
            number, config, definition, device = of.number, of.config, source.problem.definition, source.device.slug
            recording = source.digest
        case schema.ImportedDonor():
            number, config, definition, device = kept.number, kept.config, kept.definition, kept.device
            job, recording = None if kept.source_job is None else str(kept.source_job), kept.source_recording
    try:
        read = config_from_json(config), problem_from_json(definition)
    except (InvalidConfig, InvalidProblem):
        return None
    return DonorRecord(number, read[1], device, read[0], kept.distance, job=job, recording=recording)
