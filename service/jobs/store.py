"""Trials of one job in the database: the implementation of TrialStore."""

from dataclasses import asdict, dataclass
from pathlib import PurePath
from uuid import UUID

import msgspec
from sqlalchemy import inspect
from sqlalchemy.orm import Session

from codegen import AnyArtifact, KernelConfig
from codegen.backend import backend_of
from db import schema
from db.queries import jobs
from db.queries.cluster import leases
from db.queries.insert import insert_row
from db.queries.jobs import Target
from db.queries.results import kernels, predictions, trials
from db.queries.results.kernels import ArtifactFile
from db.queries.results.trials import Begun
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
        document, key = config_to_json(config), config.key
        with self.database.write() as session:
            leases.check_own(session, self.job_id, self.worker)
            trial_id = trials.begin(
                session, self.job_id, number=number, config=document, config_hash=key, proposer=proposer
            )
            if trial_id is None:
                clash = trials.find_clash(session, self.job_id, number, key)
                raise ValueError(f"trial {number} ({config}) is there already as trial {clash}")

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
            row, job = _pending(session, self.job_id, number), jobs.target(session, self.job_id)
            kernel_id = None if artifact is None else self._add_kernel(session, job, row, artifact, document, files)
            _fill(session, row, outcome, kernel_id)
            if outcome.measurement is not None and artifact is not None:
                measured = asdict(outcome.measurement) | {"trial_id": row.id, "versions": dict(artifact.toolchain)}
                insert_row(session, schema.Measurement, measured)
                driver = outcome.measurement.driver
                if (key := key_of_measured(artifact, document, job.device_spec, driver)) is not None:
                    insert_row(session, schema.ResultKey, {"trial_id": row.id, **key})
            if outcome.time_us is not None:
                # The measurement judges the predictions of the configuration, here and in other jobs.
                predictions.judge(session, job.problem_id, job.device, {row.config_hash})
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
            row, job = _pending(session, self.job_id, number), jobs.target(session, self.job_id)
            measured = trials.get(session, UUID(source.job), source.number)
            if measured is None or measured.measurement is None or measured.reused is not None:
                raise ValueError(f"expected a measured trial, got {source.number} of job {source.job}")
            own = None if artifact is None else self._add_kernel(session, job, row, artifact, document, files)
            _fill(session, row, outcome, own or measured.kernel_id)
            insert_row(session, schema.Measurement, _values(measured.measurement) | {"trial_id": row.id})
            reuse = {"trial_id": row.id, "source_trial_id": measured.id, "scale": source.scale}
            insert_row(session, schema.Reuse, reuse)
            predictions.judge(session, job.problem_id, job.device, {row.config_hash})

    def spent_s(self) -> float:
        """Return the wall time of the job's runs so far, from their events, in seconds."""
        with self.database.read() as session:
            return jobs.wall_time_s(session, self.job_id)

    def cancelled(self) -> bool:
        """Return whether cancellation of the job was requested."""
        with self.database.read() as session:
            return jobs.is_cancel_requested(session, self.job_id)

    def _add_kernel(
        self,
        session: Session,
        job: Target,
        row: Begun,
        artifact: AnyArtifact,
        document: JsonObject,
        files: list[ArtifactFile],
    ) -> UUID:
        made_for = artifact.problem.key, artifact.config.key
        if made_for != (job.problem_key, row.config_hash):
            raise ValueError(
                f"a trial of job {self.job_id}: the artifact given is of {artifact.problem}, {artifact.config}"
            )
        return kernels.upsert(
            session,
            problem_id=job.problem_id,
            device_id=job.device_id,
            target=artifact.target,
            config=config_to_json(artifact.config),
            config_hash=row.config_hash,
            compile_key=artifact.key,
            content_hash=artifact.content_hash,
            manifest=document,
            toolchain=dict(artifact.toolchain),
            files=files,
        )


def _pending(session: Session, job_id: UUID, number: int) -> Begun:
    row = trials.begun(session, job_id, number)
    if row is None or row.status != "pending":
        raise ValueError(f"trial {number} {'was not begun' if row is None else 'has ended already'}")
    return row


def _fill(session: Session, row: Begun, outcome: Outcome, kernel_id: UUID | None) -> None:
    trials.end(session, row.id, {"ended_at": utc_now(), "kernel_id": kernel_id, **outcome_to_columns(outcome)})
    if outcome.prediction is not None:
        insert_row(session, schema.Prediction, {"trial_id": row.id, **asdict(outcome.prediction)})


def _values(measurement: schema.Measurement) -> dict[str, object]:
    return {column.key: getattr(measurement, column.key) for column in inspect(schema.Measurement).column_attrs}


def _put_files(store: ArtifactStore, artifact: AnyArtifact, document: JsonObject) -> list[ArtifactFile]:
    data = {stage.file_name: stage.data for stage in artifact.stages}
    data["kernel.json"] = msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"
    return [
        ArtifactFile(name, store.put(content), len(content), _MEDIA_TYPES[PurePath(name).suffix])
        for name, content in data.items()
    ]


def _json_object(value: object) -> JsonObject:
    assert isinstance(value, dict)
    return value  # pyright: ignore[reportUnknownVariableType]
