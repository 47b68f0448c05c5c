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
from db.queries import jobs
from db.queries.batch import Answer, Batch, batch
from db.queries.cluster import own_job
from db.queries.cluster.own_job import Owner, Standing
from db.queries.insert import insert_row
from db.queries.jobs import Target
from db.queries.results import kernels, predictions, trials
from db.queries.results.kernels import ArtifactFile, KernelColumns
from db.queries.results.trials import Begun
from db.schema.result_key import ResultKey as ResultKeyRow
from db.schema.reuse import Reuse as ReuseRow
from db.schema.trial import Measurement as MeasurementRow
from db.schema.trial import Prediction as PredictionRow
from db.session import Database, kept_alive
from db.values import JsonObject, utc_now
from service.artifacts import ArtifactStore
from service.gemm_json import config_to_json
from service.jobs.result_keys import key_of_measured
from service.row_mapping import outcome_to_columns, trial_from_row
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
        beginning = _Beginning.of(Trial(number, config, proposer=proposer))
        with self.database.write_rows() as connection:
            with batch(connection) as single:
                asked = beginning.ask(single, self._owner)
            begun = beginning.begun(connection, self._owner, asked)
        self._kept.begun[number] = begun, config

    def end(self, number: int, outcome: Outcome, artifact: AnyArtifact | None, following: Trial | None = None) -> bool:
        """Record the outcome of a trial, its times and its kernel, and the wall times given to `spend` so far.

        Return whether the `following` trial began: it does, unless cancellation of the job was requested.

        Raises:
            ValueError: it was not begun or has ended, or the outcome and its kernel contradict each other; or the
                following one cannot begin.
            StorageError: the artifact's files cannot be written; the trial is still pending.
        """
        check_evidence(outcome, artifact)
        next_one = None if following is None else _Beginning.of(following)
        begun: Begun | None = None
        with self._ending(number, artifact) as ending:
            job, row, kernel = ending.job, ending.row, ending.kernel
            if ending.standing.cancel_requested:
                next_one = None
            with batch(ending.connection) as rest:
                ending.fill(rest, outcome)
                measurement, prediction = outcome.measurement, outcome.prediction
                if measurement is not None and kernel is not None:
                    versions = dict(kernel.artifact.toolchain)
                    measured = _columns_of(measurement) | {"trial_id": row.id, "versions": versions}
                    insert_row(rest, MeasurementRow, measured)
                    key = key_of_measured(kernel.artifact, kernel.document, job.device_spec, measurement.driver)
                    if key is not None:
                        insert_row(rest, ResultKeyRow, {"trial_id": row.id, **key})
                    if prediction is not None:
                        predictions.judge_itself(rest, row.id, measurement.median_us, prediction.time_us)
                # The measurement judges the predictions of the configuration, here and in other jobs.
                timed = None if outcome.time_us is None else ending.timed(rest)
                asked = None if next_one is None else next_one.ask(rest, self._owner)
            ending.check()
            if next_one is not None and asked is not None:
                begun = next_one.begun(ending.connection, self._owner, asked)
            if timed is not None:
                predictions.judge_timed(ending.connection, timed)
                best_us = ending.standing.best_us
                if measurement is None or best_us is None or measurement.median_us <= best_us:
                    jobs.update_best(ending.connection, self.job_id)
        if following is not None and begun is not None:
            self._kept.begun[following.number] = begun, following.config
        return begun is not None

    def reuse(self, number: int, outcome: Outcome, source: ReusedFrom, artifact: AnyArtifact | None) -> None:
        """Record that a trial reuses the measurement of an earlier job, with its versions and time.

        Raises:
            ValueError: it was not begun or has ended, or the source has no measurement.
            StorageError: the artifact's files cannot be written; the trial is still pending.
        """
        check_reused(outcome, artifact)
        with self._ending(number, artifact) as ending:
            with Session(ending.connection) as session, kept_alive(session):
                measured = trials.get(session, UUID(source.job), source.number)
            if measured is None or measured.measurement is None or measured.reused is not None:
                raise ValueError(f"expected a measured trial, got {source.number} of job {source.job}")
            trial_id = ending.row.id
            with batch(ending.connection) as rest:
                ending.fill(rest, outcome, measured.kernel_id)
                insert_row(rest, MeasurementRow, _values(measured.measurement) | {"trial_id": trial_id})
                reuse = {"trial_id": trial_id, "source_trial_id": measured.id, "scale": source.scale}
                insert_row(rest, ReuseRow, reuse)
                timed = ending.timed(rest)
            ending.check()
            predictions.judge_timed(ending.connection, timed)

    def spend(self, seconds: Mapping[str, float]) -> None:
        """Keep wall times of a part of a run, by column, for the next end of a trial, or for `flush`."""
        for name, taken in seconds.items():
            self._kept.spent_s[name] = self._kept.spent_s.get(name, 0.0) + taken

    def flush(self) -> None:
        """Record the wall times that were kept."""
        if self._kept.spent_s:
            with self.database.write_rows() as connection:
                own_job.spend(connection, self._owner, self._kept.spent_s)
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
    def _ending(self, number: int, artifact: AnyArtifact | None) -> Generator["_Ending"]:
        """Open a transaction that checks lease and fence, and adds the wall times that were kept, and a kernel."""
        # Files first: a row never refers to missing bytes.
        kernel = None if artifact is None else _Kernel.stored(self.artifacts, artifact)
        owner = self._owner
        with self.database.write_rows() as connection:
            if number not in self._kept.begun or self._kept.target is None:
                own_job.check(connection, owner)  # before reads: another worker may have ended the trial
            row, job = self._pending(connection, number), self._target(connection)
            columns = None if kernel is None else self._columns(kernel, job, number, row)
            with batch(connection) as first:
                asked = own_job.ask(first, owner, self._kept.spent_s)
                added = None if columns is None else kernels.add(first, columns)
            standing = own_job.standing(connection, owner, asked)
            own = None if columns is None or added is None else kernels.id_of(connection, added, columns)
            yield _Ending(connection, standing, number, row, job, kernel, own)
        # What the transaction saw and wrote, once it is committed.
        self._kept.begun.pop(number, None)
        self._kept.spent_s.clear()
        self._kept.cancel_requested = standing.cancel_requested

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

    def _columns(self, kernel: "_Kernel", job: Target, number: int, row: Begun) -> KernelColumns:
        artifact, begun = kernel.artifact, self._kept.begun.get(number)
        is_own = artifact.config.key == row.config_hash if begun is None else artifact.config == begun[1]
        if not is_own or artifact.problem.key != job.problem_key:
            raise ValueError(
                f"a trial of job {self.job_id}: the artifact given is of {artifact.problem}, {artifact.config}"
            )
        return {
            "problem_id": job.problem_id,
            "device_id": job.device_id,
            "target": artifact.target,
            "config": row.config,
            "config_hash": row.config_hash,
            "compile_key": artifact.key,
            "content_hash": artifact.content_hash,
            "manifest": kernel.document,
            "toolchain": dict(artifact.toolchain),
            "origin": None,
        }


@dataclass(frozen=True, slots=True)
class _Beginning:
    """A trial that begins, and its configuration as it is stored."""

    trial: Trial
    document: JsonObject
    key: str

    @classmethod
    def of(cls, trial: Trial) -> "_Beginning":
        return cls(trial, config_to_json(trial.config), trial.config.key)

    def ask(self, rest: Batch, owner: Owner) -> Answer:
        """Add the pending trial; `begun` takes the answer."""
        number, by = self.trial.number, self.trial.proposer
        return own_job.begin_trial(rest, owner, number=number, config=self.document, config_hash=self.key, proposer=by)

    def begun(self, connection: Connection, owner: Owner, asked: Answer) -> Begun:
        """Return the trial as it was stored.

        Raises:
            ValueError: the job has that number or that configuration already.
        """
        trial_id = own_job.begun(connection, owner, asked)
        if trial_id is None:
            clash = trials.find_clash(connection, owner.job_id, self.trial.number, self.key)
            raise ValueError(f"trial {self.trial.number} ({self.trial.config}) is there already as trial {clash}")
        return Begun(trial_id, "pending", self.key, self.document)


@dataclass(frozen=True, slots=True)
class _Kernel:
    """A kernel whose files are stored, and its manifest."""

    artifact: AnyArtifact
    document: JsonObject
    files: list[ArtifactFile]

    @classmethod
    def stored(cls, store: ArtifactStore, artifact: AnyArtifact) -> "_Kernel":
        document = _json_object(backend_of(artifact.config).manifest(artifact))
        return cls(artifact, document, _put_files(store, artifact, document))


@dataclass(slots=True)
class _Ending:
    """The transaction of the end of a trial: `row` is the trial as it began, `own` the id of its own kernel."""

    connection: Connection
    standing: Standing
    number: int
    row: Begun
    job: Target
    kernel: _Kernel | None
    own: UUID | None
    filled: Answer = field(default_factory=Answer)

    def fill(self, rest: Batch, outcome: Outcome, other: UUID | None = None) -> None:
        """Store the outcome, with the id of the trial's own kernel or of another, and the kernel's files."""
        if self.own is not None and self.kernel is not None:
            kernels.add_files(rest, self.own, self.kernel.files)
        columns = {"ended_at": utc_now(), "kernel_id": self.own or other, **outcome_to_columns(outcome)}
        self.filled = trials.end(rest, self.row.id, columns)
        if outcome.prediction is not None:
            insert_row(rest, PredictionRow, {"trial_id": self.row.id, **_columns_of(outcome.prediction)})

    def timed(self, rest: Batch) -> Answer:
        """Ask for the times of the trial's configuration."""
        return predictions.timed(rest, self.job.problem_id, self.job.device, self.row.config_hash)

    def check(self) -> None:
        """Check that the outcome was stored."""
        if self.filled.count != 1:
            raise ValueError(f"trial {self.number} has ended already")


def _columns_of(evidence: Measurement | Prediction) -> dict[str, object]:
    return {f.name: getattr(evidence, f.name) for f in fields(evidence)}


def _values(measurement: MeasurementRow) -> dict[str, object]:
    return {column.key: getattr(measurement, column.key) for column in inspect(MeasurementRow).column_attrs}


def _put_files(store: ArtifactStore, artifact: AnyArtifact, document: JsonObject) -> list[ArtifactFile]:
    data = {stage.file_name: stage.data for stage in artifact.stages}
    data["kernel.json"] = msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"
    return [
        ArtifactFile(name, store.put(content), len(content), _MEDIA_TYPES[PurePath(name).suffix])
        for name, content in data.items()
    ]


def _json_object(value: object) -> JsonObject:
    assert isinstance(value, dict)
    return value
