"""Import of an exchange file: checked against the database, then written in one transaction or not at all."""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import cast
from uuid import UUID

from pydantic import ValidationError
from sqlalchemy.orm import Session

from codegen.backend import backend_of
from codegen.serialization import content_hash, to_json
from db import schema
from db.queries import (
    jobs,
    kernels,
    predictions,
    problems,
    trials,
)
from db.queries.insert import one_import_at_a_time
from db.queries.kernels import ArtifactFile
from db.schema.base import JsonObject, utc_now
from db.session import Database
from hal import DeviceSpec, UnknownDevice
from service.api.audit.log import record
from service.api.devices.elsewhere import store_missing_device
from service.api.exchange.hardware import (
    difference,
    stored_spec,
)
from service.api.exchange.records import trial_record
from service.api.exchange.schemas import ImportOut
from service.api.kernels.launch_schemas import to_launch
from service.api.keys.caller import Caller
from service.artifacts import ArtifactStore
from service.errors import BadRequest
from service.jobs.measurement_reuse import key_of_imported
from service.row_mapping import (
    config_to_json,
    options_to_columns,
    outcome_to_columns,
    problem_to_json,
)
from tuner.errors import InvalidLine
from tuner.exchange.formats import Format
from tuner.exchange.jsonl import Exchange, Line
from tuner.exchange.kernel_record import KernelRecord, binary_of
from tuner.exchange.records import Ended, JobRecord, TrialRecord
from tuner.session.trial import ReusedFrom

_BINARY, _TEXT, _MANIFEST = "application/octet-stream", "text/plain; charset=utf-8", "application/json"
Resolve = Callable[[str], DeviceSpec]
"""Find a device by id, local or in the table; raises UnknownDevice."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A file that passed the checks possible before the transaction, with the files of its kernels."""

    exchange: Exchange
    files: dict[tuple[str, str], list[ArtifactFile]]
    origin: str | None


def check(
    exchange: Exchange, database: Database, artifacts: ArtifactStore, resolve: Resolve, origin: str | None
) -> Checked:
    """Compare a file's devices with the local ones, and store the files of its kernels.

    Raises:
        InvalidLine: a line contradicts stored data.
        StorageError: files of kernels cannot be written.
        DatabaseError: the database does not answer.
    """
    for line in exchange.candidates.values():
        raise InvalidLine(line.number, "candidate: expected results, got a configuration to measure: `xetune measure`")
    with database.read() as session:
        for (id, _), device in exchange.devices.items():
            _check_device(session, id, device, resolve)
    for kernel in exchange.kernels.values():
        try:
            to_launch(dict(kernel.record.manifest))
        except ValidationError as error:
            place = ".".join(str(part) for part in error.errors()[0]["loc"])
            message = f"kernel: manifest.{place}: {error.errors()[0]['msg']}; expected the form of kernel.json"
            raise InvalidLine(kernel.number, message) from error
    # Files first: a row never refers to missing bytes.
    files = {name: _put_files(artifacts, line.record) for name, line in exchange.kernels.items()}
    return Checked(exchange, files, origin)


def add(session: Session, checked: Checked, by: Caller) -> ImportOut:
    """Add records that are not stored yet, with an event in the audit log.

    Raises:
        InvalidLine: a line contradicts stored data; let the exception roll the transaction back.
    """
    one_import_at_a_time(session)
    imported = _Import(session, checked.exchange, checked.files, checked.origin).run()
    record(session, by, "import", imported.origin)
    return imported


class _Import:
    """One import within a transaction."""

    def __init__(
        self,
        session: Session,
        exchange: Exchange,
        files: dict[tuple[str, str], list[ArtifactFile]],
        origin: str | None,
    ) -> None:
        self._session, self._exchange, self._files = session, exchange, files
        self._origin = origin
        self._added: Counter[str] = Counter()
        self._rows: dict[str, schema.Job] = {}
        self._kernels: set[UUID] = set()
        self._there: dict[UUID, dict[int | str, schema.Trial]] = {}

    def run(self) -> ImportOut:
        """Add records that are not stored yet, judge predictions by them, and return the counts."""
        session, added = self._session, self._added
        for line in self._exchange.jobs.values():
            self._rows[line.record.id] = self._job(line)
        for line in self._exchange.trials.values():
            self._trial(line)
        session.flush()
        for line in self._exchange.jobs.values():
            self._best(line)
        judged: Counter[str] = Counter()
        for problem_id, device in {(row.problem_id, row.device.slug) for row in self._rows.values()}:
            before = predictions.count_judged(session)
            predictions.judge(session, problem_id, device)
            judged[device] += predictions.count_judged(session) - before
        return ImportOut(
            format=Format.JSONL,
            origin=self._origin or self._exchange.header.origin,
            jobs=added["jobs"],
            trials=added["trials"],
            kernels=len(self._kernels),
            known=added["known"],
            judged={device: count for device, count in judged.items() if count},
        )

    def _job(self, line: Line[JobRecord]) -> schema.Job:
        record = line.record
        there = jobs.get(self._session, UUID(record.id))
        if there is None:
            return self._add_job(record)
        said = record.problem, record.device, record.driver, record.options.seed, record.status.value
        known = there.problem.key, there.device.slug, there.device.driver, there.seed, there.status
        if said != known:
            raise InvalidLine(line.number, f"job: expected what job {record.id} is here, {known}, got {said}")
        return there

    def _add_job(self, record: JobRecord) -> schema.Job:
        session, exchange = self._session, self._exchange
        spec, problem = exchange.devices[record.device, record.driver].record, exchange.problems[record.problem].record
        row = schema.Job(
            id=UUID(record.id),
            problem_id=problems.upsert(session, key=problem.key, definition=problem_to_json(problem)).id,
            device_id=store_missing_device(session, spec, record.driver).id,
            status=record.status.value,
            origin=self._origin_of(record),
            imported_at=utc_now(),
            stop=None if record.stop is None else record.stop.value,
            warm_starts=[cast(JsonObject, to_json(donor)) for donor in record.donors],
            request_hash=content_hash(["imported", record.id]),  # equal to that of no request
            space_hash=record.space,
            cancel_requested=record.status is Ended.CANCELLED,
            error=record.error,
            attempts=1,
            compared_default_us=record.compared_default_us,
            compared_best_us=record.compared_best_us,
            created_at=datetime.fromisoformat(record.created_at),
            started_at=datetime.fromisoformat(record.started_at),
            finished_at=datetime.fromisoformat(record.finished_at),
            **options_to_columns(record.options),
            **({} if record.effort is None else asdict(record.effort)),
        )
        session.add(row)
        session.flush()
        self._added["jobs"] += 1
        found = jobs.get(session, row.id)
        assert found is not None
        return found

    def _trial(self, line: Line[TrialRecord]) -> None:
        record, job = line.record, self._rows[line.record.job]
        there = self._trials_of(job)
        known = there.get(record.number) or there.get(record.config.key)
        if known is None and job.origin is None:
            raise InvalidLine(
                line.number, f"trial: job {job.id} ran here and has no trial {record.number}: expected those it has"
            )
        if known is None:
            self._add_trial(record, job)
        elif known.status == "pending" or trial_record(known) != record:
            message = f"trial: expected what trial {known.number} of job {job.id} is here, got another outcome"
            raise InvalidLine(line.number, message)
        else:
            self._added["known"] += 1

    def _trials_of(self, job: schema.Job) -> Mapping[int | str, schema.Trial]:
        """Return the stored trials of a job, by number and by hash of the configuration."""
        if job.id not in self._there:
            rows = trials.list_page(self._session, job.id)
            self._there[job.id] = {row.number: row for row in rows} | {row.config_hash: row for row in rows}
        return self._there[job.id]

    def _add_trial(self, record: TrialRecord, job: schema.Job) -> None:
        row = schema.Trial(
            job_id=job.id,
            number=record.number,
            config=config_to_json(record.config),
            config_hash=record.config.key,
            proposer=record.proposer,
            kernel_id=self._kernel(record, job),
            begun_at=datetime.fromisoformat(record.begun_at),
            ended_at=datetime.fromisoformat(record.ended_at),
            **outcome_to_columns(record.outcome),
        )
        if (m := record.outcome.measurement) is not None and record.measured_at is not None:
            at, versions = datetime.fromisoformat(record.measured_at), dict(record.versions or {})
            key = self._key(record, job, m.driver)
            row.measurement = schema.Measurement(measured_at=at, key=key, versions=versions, **asdict(m))
        if (p := record.outcome.prediction) is not None and record.predicted_at is not None:
            at = datetime.fromisoformat(record.predicted_at)
            row.prediction = schema.Prediction(predicted_at=at, **asdict(p))
        self._session.add(row)
        if record.source is not None:
            self._session.flush()
            self._session.add(self._reuse(row, record.source))
        self._added["trials"] += 1

    def _reuse(self, row: schema.Trial, source: ReusedFrom) -> schema.Reuse:
        of = trials.get(self._session, UUID(source.job), source.number)
        assert of is not None  # a line before this one brought it
        return schema.Reuse(trial_id=row.id, source_trial_id=of.id, scale=source.scale)

    def _kernel(self, record: TrialRecord, job: schema.Job) -> UUID | None:
        if record.compile_key is None or record.outcome.kernel_hash is None:
            return None
        name = record.compile_key, record.outcome.kernel_hash
        kernel = self._exchange.kernels[name].record
        kernel_id = kernels.upsert(
            self._session,
            problem_id=job.problem_id,
            device_id=job.device_id,
            target=kernel.target,
            config=config_to_json(kernel.config),
            config_hash=kernel.config.key,
            compile_key=kernel.compile_key,
            content_hash=kernel.content_hash,
            manifest=dict(kernel.manifest),
            toolchain=dict(kernel.toolchain),
            files=self._files[name],
            origin=job.origin,
        )
        self._kernels.add(kernel_id)
        return kernel_id

    def _key(self, record: TrialRecord, job: schema.Job, driver: str) -> schema.ResultKey | None:
        """Return the result key of a trial's time; None if the file does not have its kernel."""
        if record.compile_key is None or record.outcome.kernel_hash is None:
            return None
        kernel = self._exchange.kernels[record.compile_key, record.outcome.kernel_hash].record
        spec = self._exchange.devices[job.device.slug, job.device.driver].record
        return key_of_imported(kernel, spec, driver)

    def _best(self, line: Line[JobRecord]) -> None:
        """Set the winner of a new job: the fastest trial, unless the finalists were re-measured, interleaved."""
        record, job = line.record, self._rows[line.record.id]
        if job.best_trial_id is not None:
            return
        best = None if record.best is None else trials.get(self._session, job.id, record.best)
        if record.best is not None and (best is None or best.status not in ("measured", "predicted")):
            raise InvalidLine(line.number, f"job: best: expected a trial of the job with a time, got {record.best}")
        if best is not None and record.compared_best_us is not None:
            jobs.set_best(self._session, job.id, best.number)
        else:
            jobs.update_best(self._session, job.id)

    def _origin_of(self, record: JobRecord) -> str:
        return self._origin or record.origin or self._exchange.header.origin


def _put_files(artifacts: ArtifactStore, kernel: KernelRecord) -> list[ArtifactFile]:
    manifest = (json.dumps(kernel.manifest, indent=2) + "\n").encode()
    binary = backend_of(kernel.config).binary
    contents = [(binary, binary_of(kernel), _BINARY), ("kernel.json", manifest, _MANIFEST)]
    if kernel.header is not None:
        contents.append(("kernel.h", kernel.header.encode(), _TEXT))
    return [ArtifactFile(name, artifacts.put(data), len(data), media_type) for name, data, media_type in contents]


def _check_device(session: Session, id: str, line: Line[DeviceSpec], resolve: Resolve) -> None:
    """Check that a device of a file is the same hardware as the local device of its id.

    Raises:
        InvalidLine: names the fact in which they differ.
    """
    spec, known = line.record, [stored_spec(session, id), _listed(id, resolve)]
    for here in known:
        differs = None if here is None else difference(spec, here)
        if differs is not None:
            raise InvalidLine(
                line.number,
                f"device: expected {id} to be what it is here, {differs[1]}, got {differs[0]}: times of one are not "
                "those of the other",
            )


def _listed(id: str, resolve: Resolve) -> DeviceSpec | None:
    try:
        return resolve(id)
    except (UnknownDevice, BadRequest):
        return None
