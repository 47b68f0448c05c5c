"""Trials of one job in the database: the implementation of TrialStore."""

import json
from dataclasses import asdict, dataclass
from pathlib import PurePath
from uuid import UUID

from sqlalchemy import inspect, select
from sqlalchemy.orm import Session, joinedload

from codegen import AnyArtifact, KernelConfig
from codegen.backend import backend_of
from db import schema
from db.queries import (
    jobs,
    kernels,
    predictions,
    trials,
)
from db.queries.cluster import leases
from db.queries.kernels import ArtifactFile
from db.schema.base import (
    JsonObject,
    utc_now,
)
from db.session import Database
from service.artifacts import ArtifactStore
from service.jobs.measurement_reuse import key_of_measured
from service.row_mapping import (
    config_to_json,
    outcome_to_columns,
    trial_from_row,
)
from tuner.session.evidence import (
    check_evidence,
    check_reused,
)
from tuner.session.trial import (
    Outcome,
    ReusedFrom,
    Trial,
)

_MEDIA_TYPES = {
    ".mlir": "text/plain; charset=utf-8",
    ".ll": "text/plain; charset=utf-8",
    ".asm": "text/plain; charset=utf-8",
    ".h": "text/plain; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".spv": "application/octet-stream",
    ".o": "application/octet-stream",
    ".json": "application/json",
}


@dataclass(frozen=True, slots=True)
class DbTrialStore:
    """A TrialStore for the job that `worker` has claimed. Each call is one transaction.

    Raises:
        LeaseLost: another worker has the job; from all writes.
        DatabaseError: the database does not answer; from all.
    """

    database: Database
    artifacts: ArtifactStore
    job_id: UUID
    worker: str

    def trials(self) -> list[Trial]:
        """Return all trials in order of number."""
        with self.database.read() as session:
            return [trial_from_row(row) for row in trials.list_page(session, self.job_id)]

    def begin(self, number: int, config: KernelConfig, proposer: str | None = None) -> None:
        """Record the begin of a trial, and the source of its configuration.

        Raises:
            ValueError: a negative number, or the job has that number or that configuration already.
        """
        if number < 0:
            raise ValueError(f"expected a trial number of at least 0, got {number}")
        with self.database.write() as session:
            leases.check_own(session, self.job_id, self.worker)
            clash = trials.find_clash(session, self.job_id, number, config.key)
            if clash is not None:
                raise ValueError(f"trial {number} ({config}) is there already as trial {clash.number}")
            trials.begin(
                session,
                self.job_id,
                number=number,
                config=config_to_json(config),
                config_hash=config.key,
                proposer=proposer,
            )

    def end(self, number: int, outcome: Outcome, artifact: AnyArtifact | None) -> None:
        """Record the outcome of a trial, its times and its kernel.

        Raises:
            ValueError: it was not begun or has ended, or the outcome and its kernel contradict each other.
            StorageError: the artifact's files cannot be written; the trial is still pending.
        """
        check_evidence(outcome, artifact)
        # Files first: a row never refers to missing bytes.
        document = {} if artifact is None else _json_object(backend_of(artifact.config).manifest(artifact))
        files = [] if artifact is None else _put_files(self.artifacts, artifact, document)
        with self.database.write() as session:
            leases.check_own(session, self.job_id, self.worker)
            row = _pending(session, self.job_id, number)
            job = _job(session, self.job_id)
            if artifact is not None:
                row.kernel_id = _add_kernel(session, job, row, artifact, document, files).id
            _fill(session, job.device, row, outcome, artifact)
            session.flush()
            if outcome.time_us is not None:
                # The measurement judges the predictions of the configuration, here and in other jobs.
                predictions.judge(session, job.problem_id, job.device.slug, {row.config_hash})
            jobs.update_best(session, self.job_id)

    def reuse(self, number: int, outcome: Outcome, source: ReusedFrom, artifact: AnyArtifact | None) -> None:
        """Record that a trial reuses the measurement of an earlier job, with its versions and time.

        Raises:
            ValueError: it was not begun or has ended, or the source has no measurement.
            StorageError: the artifact's files cannot be written; the trial is still pending.
        """
        check_reused(outcome, artifact)
        document = {} if artifact is None else _json_object(backend_of(artifact.config).manifest(artifact))
        files = [] if artifact is None else _put_files(self.artifacts, artifact, document)
        with self.database.write() as session:
            leases.check_own(session, self.job_id, self.worker)
            row, job = _pending(session, self.job_id, number), _job(session, self.job_id)
            measured = trials.get(session, UUID(source.job), source.number)
            if measured is None or measured.measurement is None or measured.reused is not None:
                raise ValueError(f"expected a measured trial, got {source.number} of job {source.job}")
            own = None if artifact is None else _add_kernel(session, job, row, artifact, document, files)
            row.kernel_id = measured.kernel_id if own is None else own.id
            _fill(session, job.device, row, outcome, None)
            session.add(_copied(measured.measurement, row.id))
            session.add(schema.Reuse(trial_id=row.id, source_trial_id=measured.id, scale=source.scale))
            session.flush()
            predictions.judge(session, job.problem_id, job.device.slug, {row.config_hash})

    def spent_s(self) -> float:
        """Return the wall time of the job's runs so far, from their events, in seconds."""
        with self.database.read() as session:
            return jobs.wall_time_s(session, self.job_id)

    def cancelled(self) -> bool:
        """Return whether cancellation of the job was requested."""
        with self.database.read() as session:
            return jobs.is_cancel_requested(session, self.job_id)


def _pending(session: Session, job_id: UUID, number: int) -> schema.Trial:
    row = session.scalars(
        select(schema.Trial).where(schema.Trial.job_id == job_id, schema.Trial.number == number)
    ).first()
    if row is None or row.status != "pending":
        raise ValueError(f"trial {number} {'was not begun' if row is None else 'has ended already'}")
    return row


def _job(session: Session, job_id: UUID) -> schema.Job:
    # Only the rows that a trial is written with: its search and its best are not needed here.
    return session.scalars(
        select(schema.Job)
        .where(schema.Job.id == job_id)
        .options(joinedload(schema.Job.problem), joinedload(schema.Job.device))
    ).one()


def _fill(
    session: Session, device: schema.Device, row: schema.Trial, outcome: Outcome, artifact: AnyArtifact | None
) -> None:
    row.ended_at = utc_now()
    for name, value in outcome_to_columns(outcome).items():
        setattr(row, name, value)
    if outcome.measurement is not None and artifact is not None:
        key, times = key_of_measured(artifact, device, outcome.measurement.driver), asdict(outcome.measurement)
        session.add(schema.Measurement(trial_id=row.id, versions=dict(artifact.toolchain), key=key, **times))
    if outcome.prediction is not None:
        session.add(schema.Prediction(trial_id=row.id, **asdict(outcome.prediction)))


def _copied(measurement: schema.Measurement, trial_id: int) -> schema.Measurement:
    """Return a copy of a measurement for another trial."""
    columns = [column.key for column in inspect(schema.Measurement).column_attrs if column.key != "trial_id"]
    return schema.Measurement(trial_id=trial_id, **{name: getattr(measurement, name) for name in columns})


def _add_kernel(
    session: Session,
    job: schema.Job,
    row: schema.Trial,
    artifact: AnyArtifact,
    document: JsonObject,
    files: list[ArtifactFile],
) -> schema.Kernel:
    made_for = artifact.problem.key, artifact.config.key
    if made_for != (job.problem.key, row.config_hash):
        raise ValueError(
            f"trial {row.number} of job {job.id}: the artifact given is of {artifact.problem}, {artifact.config}"
        )
    return kernels.upsert(
        session,
        problem_id=job.problem_id,
        device_id=job.device_id,
        target=artifact.target,
        config=row.config,
        config_hash=row.config_hash,
        compile_key=artifact.key,
        content_hash=artifact.content_hash,
        manifest=document,
        toolchain=dict(artifact.toolchain),
        files=files,
    )


def _put_files(store: ArtifactStore, artifact: AnyArtifact, document: JsonObject) -> list[ArtifactFile]:
    data = {stage.file_name: stage.data for stage in artifact.stages}
    data["kernel.json"] = (json.dumps(document, indent=2) + "\n").encode()
    return [
        ArtifactFile(name, store.put(content), len(content), _MEDIA_TYPES[PurePath(name).suffix])
        for name, content in data.items()
    ]


def _json_object(value: object) -> JsonObject:
    assert isinstance(value, dict)
    return value  # pyright: ignore[reportUnknownVariableType]
