"""Conversion of jobs, trials and outcomes to rows, and back."""

import math
from dataclasses import fields
from typing import TYPE_CHECKING, cast

from codegen.serialization import (
    Malformed,
    decode,
    to_json,
)
from db.values import JsonObject
from service.errors import OtherVersion
from service.gemm_json import config_from_json
from tuner.session.budget import Budget
from tuner.session.job_spec import JobOptions, JobSpec
from tuner.session.trial import (
    Acceptance,
    Measurement,
    Outcome,
    Prediction,
    Proof,
    ProofKind,
    ProofMethod,
    ReusedFrom,
    Status,
    Trial,
)

if TYPE_CHECKING:
    from db.schema.job import Job as JobRow
    from db.schema.trial import Measurement as MeasurementRow
    from db.schema.trial import Prediction as PredictionRow
    from db.schema.trial import Trial as TrialRow


def options_to_columns(options: JobOptions) -> dict[str, object]:
    """Return the columns of a job's row for its options."""
    columns: dict[str, object] = {field.name: to_json(getattr(options, field.name)) for field in fields(JobOptions)}
    budget = cast(JsonObject, columns.pop("budget"))
    return columns | {f"budget_{name}": value for name, value in budget.items()}


def options_from_row(row: "JobRow") -> JobOptions:
    """Return the options of a job's row.

    Raises:
        ValueError: names the field at fault.
    """
    return decode(JobOptions, _options(row))


def _options(row: "JobRow") -> JsonObject:
    columns: JsonObject = {
        field.name: getattr(row, field.name) for field in fields(JobOptions) if field.name != "budget"
    }
    return columns | {"budget": {field.name: getattr(row, f"budget_{field.name}") for field in fields(Budget)}}


def job_from_row(row: "JobRow") -> JobSpec:
    """Return the spec of a job's row, which was loaded with its problem and device.

    Raises:
        OtherVersion: another version of this program stored it, with other fields.
    """
    try:
        return decode(JobSpec, _options(row) | {"problem": row.problem.definition, "device": row.device.spec})
    except Malformed as error:
        raise OtherVersion(f"job {row.id}", error) from error


def outcome_to_columns(outcome: Outcome) -> dict[str, object]:
    """Return the columns of a trial's row for an outcome; its times and kernel are separate rows."""
    error = outcome.proof.max_error
    return {
        "status": outcome.status.value,
        "reason": outcome.reason,
        "proof_kind": outcome.proof.kind.value,
        "proof_checked": outcome.proof.checked,
        "proof_total": outcome.proof.total,
        # NaN is stored as infinite error; SQLite would store NaN as NULL, "unknown".
        "max_error": math.inf if error is not None and math.isnan(error) else error,
        "tolerance": outcome.proof.tolerance,
        "proof_method": None if outcome.proof.kind is ProofKind.NONE else outcome.proof.method.value,
        "proof_refusal": outcome.proof.refusal,
        "acceptance": None if outcome.acceptance is None else to_json(outcome.acceptance),
        "compile_s": outcome.compile_s,
        "verify_s": outcome.verify_s,
        "measure_s": outcome.measure_s,
    }


def trial_from_row(row: "TrialRow") -> Trial:
    """Return the trial of a row that was loaded with its times and kernel."""
    outcome = None if row.status == "pending" else _outcome(row)
    source = None if row.reused is None else row.reused.source
    scale = 1.0 if row.reused is None else row.reused.scale
    taken = None if source is None else ReusedFrom(str(source.job_id), source.number, scale)
    return Trial(row.number, config_from_json(row.config), outcome, taken, row.proposer)


def _outcome(row: "TrialRow") -> Outcome:
    return Outcome(
        status=Status(row.status),
        reason=row.reason,
        proof=proof_from_row(row),
        measurement=None if row.measurement is None else measurement_from_row(row.measurement),
        prediction=None if row.prediction is None else prediction_from_row(row.prediction),
        acceptance=None if row.acceptance is None else decode(Acceptance, row.acceptance),
        kernel_hash=None if row.kernel is None else row.kernel.content_hash,
        compile_s=row.compile_s,
        verify_s=row.verify_s,
        measure_s=row.measure_s,
    )


def proof_from_row(row: "TrialRow") -> Proof:
    """Return the verification result of a trial's row."""
    method = ProofMethod.ELEMENTS if row.proof_method is None else ProofMethod(row.proof_method)
    kind = ProofKind(row.proof_kind)
    return Proof(kind, row.proof_checked, row.proof_total, row.max_error, row.tolerance, method, row.proof_refusal)


def measurement_from_row(row: "MeasurementRow") -> Measurement:
    """Return the measurement of a row."""
    times = row.median_us, row.min_us, row.p10_us, row.p90_us
    conditions = row.stopped_early, row.first_ratio, row.clock_mhz, row.energy_uj
    return Measurement(*times, row.samples, row.label, row.driver, *conditions)


def prediction_from_row(row: "PredictionRow") -> Prediction:
    """Return the prediction of a row."""
    return Prediction(row.time_us, row.low_us, row.high_us, row.model_version, row.burden)
