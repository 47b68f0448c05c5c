"""Import of an exchange file: checked against the database as a whole, then written in portions.

A process that is killed meanwhile leaves the portions that it wrote; the same import adds the others.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, cast
from uuid import UUID

from pydantic import ValidationError
from sqlalchemy.orm import Session

from codegen.backend import backend_of
from codegen.serialization import content_hash, to_json
from db.queries import jobs, problems
from db.queries.insert import one_import_at_a_time
from db.queries.results import kernels, predictions, trials
from db.queries.results.kernels import ArtifactFile
from db.schema.job import Job as JobRow
from db.schema.result_key import ResultKey as ResultKeyRow
from db.schema.reuse import Reuse as ReuseRow
from db.schema.trial import Measurement as MeasurementRow
from db.schema.trial import Prediction as PredictionRow
from db.schema.trial import Trial as TrialRow
from db.session import Database
from db.values import JsonObject, utc_now
from hal import DeviceSpec, UnknownDevice
from service.api.audit.log import record
from service.api.devices.elsewhere import store_missing_device
from service.api.exchange.hardware import (
    difference,
    stored_spec,
)
from service.api.exchange.portions import portions
from service.api.exchange.records import trial_record
from service.api.exchange.schemas import ImportOut
from service.api.kernels.launch_schemas import to_launch
from service.api.keys.caller import Caller
from service.artifacts import ArtifactStore
from service.errors import BadRequest
from service.gemm_json import config_to_json, problem_to_json
from service.http.validation_errors import message_of
from service.jobs.result_keys import key_of_imported
from service.row_mapping import options_to_columns, outcome_to_columns
from service.settings import Settings
from tuner.backend import tuning_for
from tuner.errors import InvalidLine
from tuner.exchange.file_format import Format
from tuner.exchange.jsonl import Exchange, Line
from tuner.exchange.kernel_record import KernelRecord, binary_of
from tuner.exchange.records import Ended, JobRecord, TrialRecord
from tuner.session.trial import ReusedFrom, Status

if TYPE_CHECKING:
    from db.schema.record import Record as RecordRow

_BINARY, _TEXT, _MANIFEST = "application/octet-stream", "text/plain; charset=utf-8", "application/json"
_PORTION = 40  # lines of one transaction: SQLite writes them in some 50 ms
Resolve = Callable[[str], DeviceSpec]
"""Find a device by id, local or in the table; raises UnknownDevice."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A file that passed all checks, with the files of its kernels, and the records of other tuners that are new.

    `added` counts the jobs, trials and records that were written, and the trials and records that were known.
    """

    exchange: Exchange
    files: dict[tuple[str, str], list[ArtifactFile]]
    origin: str | None
    tuner_records: "list[RecordRow]"
    added: Counter[str] = field(default_factory=Counter)
    kernels: set[UUID] = field(default_factory=set)


def check(
    exchange: Exchange,
    database: Database,
    artifacts: ArtifactStore,
    resolve: Resolve,
    origin: str | None,
    settings: Settings,
) -> Checked:
    """Compare a file with the local devices and what is stored, and store the files of its kernels.

    Raises:
        InvalidLine: a line contradicts stored data.
        Conflict: it has more records of other tuners than there is room for.
        StorageError: files of kernels cannot be written.
        DatabaseError: the database does not answer.
    """
    for line in exchange.candidates.values():
        raise InvalidLine(line.number, "candidate: expected results, got a configuration to measure: `xetune measure`")
    with database.read() as session:
        for (id, _), device in exchange.devices.items():
            _check_device(session, id, device, resolve)
    known = {id: _listed(id, resolve) for id, _ in exchange.devices}
    for trial in exchange.trials.values():
        _check_time(exchange, trial, known)
    for kernel in exchange.kernels.values():
        try:
            to_launch(dict(kernel.record.manifest))
        except ValidationError as error:
            place = ".".join(str(part) for part in error.errors()[0]["loc"])
            message = f"kernel: manifest.{place}: {message_of(error.errors()[0])}; expected the form of kernel.json"
            raise InvalidLine(kernel.number, message) from error
    with database.read() as session:
        _check_stored(session, exchange)
        others = _new_tuner_records(session, exchange, settings)
    # Files first: a row never refers to missing bytes.
    files = {name: _put_files(artifacts, line.record) for name, line in exchange.kernels.items()}
    return Checked(exchange, files, origin, others)


def _new_tuner_records(session: Session, exchange: Exchange, settings: Settings) -> "list[RecordRow]":
    if not exchange.tuner_records:
        return []
    # Imported here: most files have no results of other tuners.
    from service.api.exchange import tuner_records

    return tuner_records.check(session, [*exchange.tuner_records.values()], settings)


def write(database: Database, checked: Checked) -> None:
    """Write the records that are not stored yet, in portions, so that other writers do not wait for all.

    Raises:
        InvalidLine: a line contradicts what was stored since the check.
    """
    lines = [*checked.exchange.jobs.values(), *checked.exchange.trials.values()]
    for portion in portions(lines, _PORTION):
        with database.write() as session:
            one_import_at_a_time(session)
            _Portion(session, checked).add(portion)
    checked.added["known"] += len(checked.exchange.tuner_records) - len(checked.tuner_records)
    for rows in portions(checked.tuner_records, _PORTION):
        # Imported here, as above.
        from service.api.exchange import tuner_records

        with database.write() as session:
            one_import_at_a_time(session)
            checked.added["records"] += tuner_records.add(session, rows)


def add(session: Session, checked: Checked, by: Caller) -> ImportOut:
    """Choose the winners of the jobs that were written, and judge predictions; with an event in the audit log."""
    one_import_at_a_time(session)
    exchange, added = checked.exchange, checked.added
    changed = _withdraw(session, checked)
    rows = [_job(session, line) for line in exchange.jobs.values()]
    for row, line in zip(rows, exchange.jobs.values(), strict=True):
        assert row is not None  # written before
        _choose_best(session, row, line.record)
    jobs.choose_again(session, changed)
    judged: Counter[str] = Counter()
    for problem_id, device in {(row.problem_id, row.device.slug) for row in rows if row is not None}:
        before = predictions.count_judged(session)
        predictions.judge(session, problem_id, device)
        judged[device] += predictions.count_judged(session) - before
    origin = checked.origin or exchange.header.origin
    record(session, by, "import", origin)
    return ImportOut(
        format=Format.JSONL,
        origin=origin,
        jobs=added["jobs"],
        trials=added["trials"],
        kernels=len(checked.kernels),
        records=added["records"],
        known=added["known"],
        judged={device: count for device, count in judged.items() if count},
    )


def _check_stored(session: Session, exchange: Exchange) -> None:
    """Check that a file does not contradict the stored jobs and trials, and that each job has its best trial.

    Raises:
        InvalidLine: it does.
    """
    timed = {
        (line.record.job, line.record.number)
        for line in exchange.trials.values()
        if line.record.outcome.status in (Status.MEASURED, Status.PREDICTED)
    }
    stored = {id: row for id, line in exchange.jobs.items() if (row := _job(session, line)) is not None}
    lines = [line for line in exchange.trials.values() if line.record.job in stored]
    for first in range(0, len(lines), _PORTION):
        portion = lines[first : first + _PORTION]
        there = _stored_trials(session, portion)
        for line in portion:
            _known(line, stored[line.record.job], there)
        session.expunge_all()
    for id, line in exchange.jobs.items():
        best = line.record.best
        if best is None or (id, best) in timed:
            continue
        row = trials.get(session, UUID(id), best) if id in stored else None
        if row is None or row.status not in ("measured", "predicted"):
            raise InvalidLine(line.number, f"job: best: expected a trial of the job with a time, got {best}")


def _job(session: Session, line: Line[JobRecord]) -> JobRow | None:
    """Return the stored job of a line.

    Raises:
        InvalidLine: it is another one.
    """
    record, there = line.record, jobs.get(session, UUID(line.record.id))
    if there is None:
        return None
    said = record.problem, record.device, record.driver, record.options.seed, record.status.value
    known = there.problem.key, there.device.slug, there.device.driver, there.seed, there.status
    if said != known:
        raise InvalidLine(line.number, f"job: expected what job {record.id} is here, {known}, got {said}")
    return there


_Stored = Mapping[tuple[UUID, int | str], TrialRow]


def _stored_trials(session: Session, lines: Sequence[Line[TrialRecord]]) -> _Stored:
    """Return the stored trials of these lines, by job, and number or hash of the configuration."""
    found: dict[tuple[UUID, int | str], TrialRow] = {}
    for job in {line.record.job for line in lines}:
        records = [line.record for line in lines if line.record.job == job]
        numbers, hashes = [each.number for each in records], [each.config.key for each in records]
        for row in trials.find_any(session, UUID(job), numbers, hashes):
            found[row.job_id, row.number] = found[row.job_id, row.config_hash] = row
    return found


def _known(line: Line[TrialRecord], job: JobRow, there: _Stored) -> bool:
    """Return whether the trial of a line is stored.

    Raises:
        InvalidLine: another one is, or the job ran here without it.
    """
    record = line.record
    known = there.get((job.id, record.number)) or there.get((job.id, record.config.key))
    if known is None and job.origin is None:
        raise InvalidLine(
            line.number, f"trial: job {job.id} ran here and has no trial {record.number}: expected those it has"
        )
    if known is not None and (known.status == "pending" or trial_record(known) != record):
        message = f"trial: expected what trial {known.number} of job {job.id} is here, got another outcome"
        raise InvalidLine(line.number, message)
    return known is not None


def _withdraw(session: Session, checked: Checked) -> set[UUID]:
    """Withdraw imported kernels that are withdrawn in the file, and new ones whose binary is withdrawn here for the
    same device; return the jobs that have them. A kernel that was compiled here stays as it is.
    """
    lines = checked.exchange.kernels
    told = {name: line.record.withdrawn for name, line in lines.items() if line.record.withdrawn is not None}
    rows = kernels.with_contents(session, {content_hash for _, content_hash in lines})
    here = {(row.device.slug, row.content_hash): row.withdrawn for row in rows if row.withdrawn is not None}
    found: set[UUID] = set()
    for row in rows:
        if row.origin is None or row.withdrawn is not None:
            continue
        own = here.get((row.device.slug, row.content_hash)) if row.id in checked.kernels else None
        if (reason := own or told.get((row.compile_key, row.content_hash))) is not None:
            row.withdrawn, row.withdrawn_at = reason, utc_now()
            found.update(kernels.jobs_with(session, row.id))
    session.flush()
    return found


def _choose_best(session: Session, job: JobRow, record: JobRecord) -> None:
    """Set the winner of a new job: the fastest trial, unless the finalists were re-measured, interleaved."""
    if job.best_trial_id is not None:
        return
    best = None if record.best is None else trials.get(session, job.id, record.best)
    is_served = best is not None and (best.kernel is None or best.kernel.withdrawn is None)
    if record.best is not None and record.compared_best_us is not None and is_served:
        jobs.set_best(session, job.id, record.best)
    else:
        jobs.update_best(session, job.id)


class _Portion:
    """Consecutive lines of a file, written in one transaction."""

    def __init__(self, session: Session, checked: Checked) -> None:
        self._session, self._exchange, self._files = session, checked.exchange, checked.files
        self._origin, self._added, self._kernels = checked.origin, checked.added, checked.kernels
        self._rows: dict[str, JobRow] = {}

    def add(self, lines: Sequence[Line[JobRecord] | Line[TrialRecord]]) -> None:
        """Add the records that are not stored."""
        for line in lines:  # first: a query of a job loads its best trial anew, without the kernel
            self._job(line.record.id if isinstance(line.record, JobRecord) else line.record.job)
        there = _stored_trials(
            self._session, [cast(Line[TrialRecord], line) for line in lines if isinstance(line.record, TrialRecord)]
        )
        for line in lines:
            if isinstance(line.record, TrialRecord):
                self._trial(cast(Line[TrialRecord], line), there)
        self._session.flush()

    def _job(self, id: str) -> JobRow:
        if id not in self._rows:
            line = self._exchange.jobs[id]
            self._rows[id] = _job(self._session, line) or self._add_job(line.record)
        return self._rows[id]

    def _trial(self, line: Line[TrialRecord], there: _Stored) -> None:
        job = self._job(line.record.job)
        if _known(line, job, there):
            self._added["known"] += 1
        else:
            self._add_trial(line.record, job)

    def _add_job(self, record: JobRecord) -> JobRow:
        session, exchange = self._session, self._exchange
        spec, problem = exchange.devices[record.device, record.driver].record, exchange.problems[record.problem].record
        row = JobRow(
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

    def _add_trial(self, record: TrialRecord, job: JobRow) -> None:
        row = TrialRow(
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
            row.measurement = measurement = MeasurementRow(measured_at=at, versions=versions, **asdict(m))
            if (key := self._key(record, job, m.driver)) is not None:
                key.measurement = measurement
                self._session.add(key)
        if (p := record.outcome.prediction) is not None and record.predicted_at is not None:
            at = datetime.fromisoformat(record.predicted_at)
            row.prediction = PredictionRow(predicted_at=at, **asdict(p))
        self._session.add(row)
        if record.source is not None:
            self._session.flush()
            self._session.add(self._reuse(row, record.source))
        self._added["trials"] += 1

    def _reuse(self, row: TrialRow, source: ReusedFrom) -> ReuseRow:
        of = trials.get(self._session, UUID(source.job), source.number)
        assert of is not None  # a line before this one brought it
        return ReuseRow(trial_id=row.id, source_trial_id=of.id, scale=source.scale)

    def _kernel(self, record: TrialRecord, job: JobRow) -> UUID | None:
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

    def _key(self, record: TrialRecord, job: JobRow, driver: str) -> ResultKeyRow | None:
        """Return the result key of a trial's time; None if the file does not have its kernel."""
        if record.compile_key is None or record.outcome.kernel_hash is None:
            return None
        kernel = self._exchange.kernels[record.compile_key, record.outcome.kernel_hash].record
        spec = self._exchange.devices[job.device.slug, job.device.driver].record
        return key_of_imported(kernel, spec, driver)

    def _origin_of(self, record: JobRecord) -> str:
        return self._origin or record.origin or self._exchange.header.origin


def _check_time(exchange: Exchange, line: Line[TrialRecord], known: Mapping[str, DeviceSpec | None]) -> None:
    """Check that a time is possible by the facts of the device that are `known` here; only for others, by the file's.

    Raises:
        InvalidLine: it is less than the multiply units or the memory of the device need.
    """
    job, outcome = exchange.jobs[line.record.job].record, line.record.outcome
    problem = exchange.problems[job.problem].record
    spec = known[job.device] or exchange.devices[job.device, job.driver].record
    times = {
        "measured": None if outcome.measurement is None else outcome.measurement.median_us,
        "predicted": None if outcome.prediction is None else outcome.prediction.time_us,
    }
    least_us = tuning_for(spec).least_us(problem, spec)
    for kind, time_us in times.items():
        if time_us is not None and time_us < least_us:
            raise InvalidLine(
                line.number,
                f"trial: {kind}: expected at least {least_us:.3g} us, what {problem} takes on the multiply units and "
                f"the memory of {spec.id}, got {time_us:.3g} us",
            )


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
        found = resolve(id)
    except (UnknownDevice, BadRequest):
        return None
    return found if found.id == id else None  # by an alias
