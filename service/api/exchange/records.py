"""Rows as the records of an exchange file."""

import base64
import math
from dataclasses import fields, replace
from datetime import UTC, datetime

from codegen.backend import backend_of
from codegen.serialization import decode
from db.schema.job import Job as JobRow
from db.schema.kernel import Kernel as KernelRow
from db.schema.result_key import ResultKey as ResultKeyRow
from db.schema.target import Device as DeviceRow
from db.schema.target import Problem as ProblemRow
from db.schema.trial import Trial as TrialRow
from service.artifacts import ArtifactStore
from service.device_json import spec_of_row
from service.gemm_json import config_from_json, problem_from_json
from service.row_mapping import options_from_row, trial_from_row
from tuner.exchange.kernel_record import FIELD_OF_FILE, KernelRecord
from tuner.exchange.records import (
    DeviceRecord,
    DonorRecord,
    Effort,
    Ended,
    JobRecord,
    ProblemRecord,
    TrialRecord,
)
from tuner.session.result import Stop
from tuner.session.trial import Outcome


def device_record(row: DeviceRow) -> DeviceRecord:
    """Return the record of a device with all its facts."""
    return DeviceRecord(spec_of_row(row))


def problem_record(row: ProblemRow) -> ProblemRecord:
    """Return the record of a problem."""
    return ProblemRecord(row.key, problem_from_json(row.definition))


def job_record(row: JobRow, best: int | None) -> JobRecord:
    """Return the record of a finished job, which names its problem and device; `best` is the number of its
    best trial.
    """
    assert row.started_at is not None  # it has trials
    assert row.finished_at is not None  # it is over
    return JobRecord(
        id=str(row.id),
        problem=row.problem.key,
        device=row.device.slug,
        driver=row.device.driver,
        status=Ended(row.status),
        options=options_from_row(row),
        created_at=_moment(row.created_at),
        started_at=_moment(row.started_at),
        finished_at=_moment(row.finished_at),
        space=row.space_hash,
        best=best,
        compared_default_us=row.compared_default_us,
        compared_best_us=row.compared_best_us,
        error=row.error,
        origin=row.origin,
        effort=None if row.total_s is None else Effort(**{f.name: getattr(row, f.name) for f in fields(Effort)}),
        stop=None if row.stop is None else Stop(row.stop),
        donors=tuple(decode(DonorRecord, donor) for donor in row.warm_starts or ()),
    )


def trial_record(row: TrialRow) -> TrialRecord:
    """Return the record of a trial that ended; without a time it names no kernel."""
    trial = trial_from_row(row)
    assert trial.outcome is not None  # it ended
    assert row.ended_at is not None
    measured, predicted, kernel = row.measurement, row.prediction, row.kernel
    if trial.outcome.time_us is None:
        kernel = None
    return TrialRecord(
        job=str(row.job_id),
        number=row.number,
        config=trial.config,
        outcome=_finite(replace(trial.outcome, kernel_hash=None if kernel is None else kernel.content_hash)),
        begun_at=_moment(row.begun_at),
        ended_at=_moment(row.ended_at),
        compile_key=None if kernel is None else kernel.compile_key,
        versions=None if measured is None else {name: str(v) for name, v in measured.versions.items()},
        measured_at=None if measured is None else _moment(measured.measured_at),
        predicted_at=None if predicted is None else _moment(predicted.predicted_at),
        source=trial.source,
        proposer=trial.proposer,
    )


def kernel_record(
    row: KernelRow,
    problem_key: str,
    artifacts: ArtifactStore,
    header: str | None = None,
    key: ResultKeyRow | None = None,
) -> KernelRecord:
    """Return the record of a kernel with its binary; `header` is the SHA-256 of the C header of a CPU kernel,
    and `key` the result key of a time that was measured with it.

    Raises:
        ArtifactMissing, ArtifactDamaged: the binary is missing or damaged.
    """
    config, binary = config_from_json(row.config), base64.b64encode(artifacts.get(row.content_hash)).decode()
    backend = backend_of(config)
    code_hash = None if key is None or not backend.names_code else str(key.parts["binary"])
    return KernelRecord(
        compile_key=row.compile_key,
        content_hash=row.content_hash,
        target=row.target,
        problem=problem_key,
        config=config,
        manifest=row.manifest,
        toolchain={name: str(version) for name, version in row.toolchain.items()},
        header=None if header is None else artifacts.get(header).decode(),
        code_hash=code_hash,
        withdrawn=row.withdrawn,
        **{FIELD_OF_FILE[backend.binary]: binary},
    )


def _finite(outcome: Outcome) -> Outcome:
    """Drop an infinite error, which JSON does not have; the reason states that the result is wrong."""
    error = outcome.proof.max_error
    if error is None or math.isfinite(error):
        return outcome
    return replace(outcome, proof=replace(outcome.proof, max_error=None))


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat()
