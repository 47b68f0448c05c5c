"""Trials of one job in the database: the implementation of TrialStore."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import PurePath
from uuid import UUID

import msgspec
from sqlalchemy import Connection, inspect
from sqlalchemy.orm import Session

from codegen import AnyArtifact, KernelConfig
from codegen.backend import backend_of
from db import schema
from db.queries import jobs
from db.queries.cluster import own_job
from db.queries.cluster.own_job import Owner, Standing
from db.queries.insert import insert_row
from db.queries.jobs import Target
from db.queries.results import kernels, predictions, trials
from db.queries.results.kernels import ArtifactFile
from db.queries.results.trials import Begun
from db.session import Database, kept_alive
from db.values import JsonObject, utc_now
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
    Measurement,
    Outcome,
    Prediction,
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


@dataclass(slots=True)
class _Kept:
    """State that a store keeps between its transactions.

    `begun` are the trials that it began, by number; `spent_s` the wall times that no transaction has added yet;
    `cancel_requested` what the last end of a trial saw, until that is asked for.
    """

    target: Target | None = None
    begun: dict[int, tuple[Begun, KernelConfig]] = field(default_factory=dict[int, tuple[Begun, KernelConfig]])
    spent_s: dict[str, float] = field(default_factory=dict[str, float])
    cancel_requested: bool | None = None


@dataclass(frozen=True, slots=True)
class DbTrialStore:
    """A TrialStore for the job that `worker` has claimed. Each call is at most one transaction.

    Raises:
        LeaseLost: another worker has the job; from all writes.
        FenceLost: another coordinator has the lease of this one; from all writes.
        DatabaseError: the database does not answer; from all.
    """

    database: Database
    artifacts: ArtifactStore
    job_id: UUID
    worker: str
    _kept: _Kept = field(default_factory=_Kept, init=False, compare=False, repr=False)

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
        with self.database.write_rows() as connection:
            trial_id = own_job.begin_trial(
                connection, self._owner, number=number, config=document, config_hash=key, proposer=proposer
            )
            if trial_id is None:
                clash = trials.find_clash(connection, self.job_id, number, key)
                raise ValueError(f"trial {number} ({config}) is there already as trial {clash}")
        self._kept.begun[number] = Begun(trial_id, "pending", key, document), config

    def end(self, number: int, outcome: Outcome, artifact: AnyArtifact | None) -> None:
        """Record the outcome of a trial, its times and its kernel, and the wall times given to `spend` so far.

        Raises:
            ValueError: it was not begun or has ended, or the outcome and its kernel contradict each other.
            StorageError: the artifact's files cannot be written; the trial is still pending.
        """
        check_evidence(outcome, artifact)
        # Files first: a row never refers to missing bytes.
        document = {} if artifact is None else _json_object(backend_of(artifact.config).manifest(artifact))
        files = [] if artifact is None else _put_files(self.artifacts, artifact, document)
        with self._writing() as (connection, standing):
            row, job = self._pending(connection, number), self._target(connection)
            kernel_id = (
                None if artifact is None else self._add_kernel(connection, job, number, row, artifact, document, files)
            )
            _fill(connection, number, row, outcome, kernel_id)
            measurement = outcome.measurement
            if measurement is not None and artifact is not None:
                measured = _columns_of(measurement) | {"trial_id": row.id, "versions": dict(artifact.toolchain)}
                insert_row(connection, schema.Measurement, measured)
                if (key := key_of_measured(artifact, document, job.device_spec, measurement.driver)) is not None:
                    insert_row(connection, schema.ResultKey, {"trial_id": row.id, **key})
            if outcome.time_us is not None:
                # The measurement judges the predictions of the configuration, here and in other jobs.
                predictions.judge(connection, job.problem_id, job.device, {row.config_hash})
                best_us = standing.best_us
                if measurement is None or best_us is None or measurement.median_us <= best_us:
                    jobs.update_best(connection, self.job_id)
        self._note_end(number, standing)

    def reuse(self, number: int, outcome: Outcome, source: ReusedFrom, artifact: AnyArtifact | None) -> None:
        """Record that a trial reuses the measurement of an earlier job, with its versions and time.

        Raises:
            ValueError: it was not begun or has ended, or the source has no measurement.
            StorageError: the artifact's files cannot be written; the trial is still pending.
        """
        check_reused(outcome, artifact)
        document = {} if artifact is None else _json_object(backend_of(artifact.config).manifest(artifact))
        files = [] if artifact is None else _put_files(self.artifacts, artifact, document)
        with self._writing() as (connection, standing):
            row, job = self._pending(connection, number), self._target(connection)
            with Session(connection) as session, kept_alive(session):
                measured = trials.get(session, UUID(source.job), source.number)
            if measured is None or measured.measurement is None or measured.reused is not None:
                raise ValueError(f"expected a measured trial, got {source.number} of job {source.job}")
            own = (
                None if artifact is None else self._add_kernel(connection, job, number, row, artifact, document, files)
            )
            _fill(connection, number, row, outcome, own or measured.kernel_id)
            insert_row(connection, schema.Measurement, _values(measured.measurement) | {"trial_id": row.id})
            reuse = {"trial_id": row.id, "source_trial_id": measured.id, "scale": source.scale}
            insert_row(connection, schema.Reuse, reuse)
            predictions.judge(connection, job.problem_id, job.device, {row.config_hash})
        self._note_end(number, standing)

    def spend(self, seconds: Mapping[str, float]) -> None:
        """Keep wall times of a part of a run, by column, for the next end of a trial, or for `flush`."""
        for name, taken in seconds.items():
            self._kept.spent_s[name] = self._kept.spent_s.get(name, 0.0) + taken

    def flush(self) -> None:
        """Record the wall times that were kept."""
        if self._kept.spent_s:
            with self._writing():
                pass
            self._kept.spent_s.clear()

    def spent_s(self) -> float:
        """Return the wall time of the job's runs so far, from their events, in seconds."""
        with self.database.read() as session:
            return jobs.wall_time_s(session, self.job_id)

    def cancelled(self) -> bool:
        """Return whether cancellation of the job was requested, as the end of a trial right before saw it, else now."""
        seen, self._kept.cancel_requested = self._kept.cancel_requested, None
        if seen is not None:
            return seen
        with self.database.read() as session:
            return jobs.is_cancel_requested(session, self.job_id)

    @property
    def _owner(self) -> Owner:
        return Owner(self.job_id, self.worker, self.database.guard)

    @contextmanager
    def _writing(self) -> Generator[tuple[Connection, Standing]]:
        """Open a transaction that checks lease and fence, and adds the wall times that were kept."""
        with self.database.write_rows() as connection:
            owner, spent_s = self._owner, self._kept.spent_s
            yield connection, own_job.spend(connection, owner, spent_s) if spent_s else own_job.check(connection, owner)

    def _pending(self, connection: Connection, number: int) -> Begun:
        if (kept := self._kept.begun.get(number)) is not None:
            return kept[0]
        row = trials.begun(connection, self.job_id, number)
        if row is None or row.status != "pending":
            raise ValueError(f"trial {number} {'was not begun' if row is None else 'has ended already'}")
        return row

    def _target(self, connection: Connection) -> Target:
        """Return the problem and the device of the job, which never change."""
        target = self._kept.target = self._kept.target or jobs.target(connection, self.job_id)
        return target

    def _note_end(self, number: int, standing: Standing) -> None:
        """Note what a transaction saw and wrote, once it is committed."""
        self._kept.begun.pop(number, None)
        self._kept.spent_s.clear()
        self._kept.cancel_requested = standing.cancel_requested

    def _add_kernel(
        self,
        connection: Connection,
        job: Target,
        number: int,
        row: Begun,
        artifact: AnyArtifact,
        document: JsonObject,
        files: list[ArtifactFile],
    ) -> UUID:
        begun = self._kept.begun.get(number)
        is_own = artifact.config.key == row.config_hash if begun is None else artifact.config == begun[1]
        if not is_own or artifact.problem.key != job.problem_key:
            raise ValueError(
                f"a trial of job {self.job_id}: the artifact given is of {artifact.problem}, {artifact.config}"
            )
        return kernels.upsert(
            connection,
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


def _fill(connection: Connection, number: int, row: Begun, outcome: Outcome, kernel_id: UUID | None) -> None:
    columns = {"ended_at": utc_now(), "kernel_id": kernel_id, **outcome_to_columns(outcome)}
    if not trials.end(connection, row.id, columns):
        raise ValueError(f"trial {number} has ended already")
    if outcome.prediction is not None:
        insert_row(connection, schema.Prediction, {"trial_id": row.id, **_columns_of(outcome.prediction)})


def _columns_of(evidence: Measurement | Prediction) -> dict[str, object]:
    return {f.name: getattr(evidence, f.name) for f in fields(evidence)}


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
