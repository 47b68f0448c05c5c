"""The database itself refuses rows that cannot be: one bad row for each constraint."""

import math
from collections.abc import Generator, Mapping
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from sqlalchemy import CheckConstraint, Constraint, ForeignKeyConstraint, Index, Table, UniqueConstraint, insert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from db.base import Base
from db.models import Candidate
from db.session import Database, open_database
from tests.db import rows
from tests.db.databases import BACKENDS, create_postgres
from tests.db.rows import NOON, digest

Row = dict[str, object]
JOB, SCHEDULE = UUID(int=1), UUID(int=2)
NOBODY = 999

# A valid row of each table; {job}, {trial} and the like stand for ids of rows that are there.
VALID: dict[str, Row] = {
    "device": {"slug": "b60", "driver": "", "name": "B60", "kind": "gpu", "emulates": None, "spec": {}},
    "problem": {
        "key": digest("new"),
        "m": 3,
        "n": 5,
        "k": 7,
        "batch": 1,
        "transpose_a": False,
        "transpose_b": False,
        "definition": {},
        "dtype_a": "f16",
        "dtype_b": "f16",
        "dtype_c": "f32",
        "dtype_acc": "f32",
    },
    "job": {
        "id": JOB,
        "problem_id": "{problem}",
        "device_id": "{device}",
        "status": "queued",
        "budget_trials": 1,
        "budget_seconds": 0.5,
        "seed": 2**40,
        "request_hash": digest("request"),
    },
    "kernel": {
        "problem_id": "{problem}",
        "device_id": "{device}",
        "target": "b580",
        "config": {},
        "config_hash": digest(1),
        "compile_key": digest(2),
        "content_hash": digest(3),
        "manifest": {},
        "toolchain": {},
    },
    "artifact": {
        "kernel_id": "{kernel}",
        "name": "llvm.ll",
        "sha256": digest(4),
        "size": 0,
        "media_type": "text/plain",
    },
    "trial": {"job_id": "{job}", "number": 5, "config": {}, "config_hash": digest(5), "status": "pending"},
    "measurement": {
        "trial_id": "{pending}",
        "min_us": 1.0,
        "p10_us": 1.0,
        "median_us": 2.0,
        "p90_us": 3.0,
        "samples": 1,
        "label": "native",
        "driver": "1.2",
        "versions": {},
    },
    "prediction": {"trial_id": "{pending}", "low_us": 1.0, "time_us": 1.0, "high_us": 2.0, "model_version": "1"},
    "prediction_error": {"trial_id": "{predicted}", "measured_trial_id": "{pending}", "ratio": 1.25},
    "job_import": {"job_id": "{job}", "origin": "a lab"},
    "kernel_import": {"kernel_id": "{kernel}", "origin": "a lab"},
    "candidate": {"job_id": "{job}", "position": 1, "config": {}, "config_hash": digest(6)},
    "schedule": {
        "id": SCHEDULE,
        "name": "nightly",
        "cron": "0 3 * * *",
        "timezone": "Europe/Berlin",
        "template": {},
        "enabled": True,
        "misfire_grace_s": 60,
        "next_due_at": NOON,
    },
    "schedule_fire": {"schedule_id": "{schedule}", "due_at": NOON, "outcome": "missed"},
    "api_key": {
        "id": UUID(int=4),
        "name": "ci",
        "prefix": "0123456789ab",
        "secret_sha256": digest("a key"),
        "scope": "tune",
    },
    "audit_event": {
        "id": UUID(int=6),
        "actor": "ci",
        "key_id": UUID(int=5),
        "action": "job.create",
        "subject": "a job",
        "request_id": "0123456789abcdef",
        "outcome": "done",
    },
}

RUNNING: Row = {"status": "running", "worker": "w", "lease_until": NOON, "started_at": NOON, "attempts": 1}
SUCCEEDED: Row = {"status": "succeeded", "started_at": NOON, "finished_at": NOON, "attempts": 1}
FAILED: Row = SUCCEEDED | {"status": "failed", "error": "compile: no room"}
REJECTED: Row = {"status": "rejected", "reason": "spill: 3 registers", "ended_at": NOON}
PROVEN: Row = {"proof_kind": "device", "proof_checked": 4, "proof_total": 4, "max_error": 0.25, "tolerance": 0.5}
MEASURED: Row = {"status": "measured", "ended_at": NOON, "kernel_id": "{kernel}", **PROVEN}
PREDICTED: Row = {"status": "predicted", "ended_at": NOON}

# Rows that differ from the valid one and are still fine: the constraints refuse no more than they should.
ACCEPTED: list[tuple[str, Row]] = [
    *((table, {}) for table in VALID),
    ("device", {"slug": "opencl-cpu-as-b580", "driver": "1.3"}),
    ("device", {"emulates": "b580", "kind": "cpu"}),
    ("job", RUNNING),
    ("job", RUNNING | {"cancel_requested": True}),
    ("job", SUCCEEDED),
    ("job", FAILED),
    ("job", {"status": "cancelled", "cancel_requested": True, "finished_at": NOON}),
    ("job", SUCCEEDED | {"request_hash": "{request}"}),
    ("job", RUNNING | {"cancel_requested": True, "request_hash": "{request}"}),
    ("job", {"started_at": NOON, "attempts": 1}),
    *(("trial", REJECTED | {"status": s}) for s in ("compile_failed", "wrong_result", "timed_out", "crashed")),
    ("trial", REJECTED | PROVEN | {"proof_checked": 0, "max_error": math.inf, "kernel_id": "{kernel}"}),
    ("trial", MEASURED),
    ("trial", PREDICTED),
    ("trial", PREDICTED | PROVEN),
    ("measurement", {"label": "DPAS emulated"}),
    ("schedule", {"enabled": False, "next_due_at": None}),
    ("schedule_fire", {"outcome": "created", "job_id": "{job}"}),
    ("schedule_fire", {"outcome": "joined", "job_id": "{job}"}),
    ("schedule_fire", {"outcome": "refused", "reason": "the device is gone"}),
    ("api_key", {"name": "laptop", "revoked_at": NOON}),
    ("audit_event", {"key_id": None, "request_id": None, "outcome": "refused"}),
]

# What breaks which constraint.
REFUSED: list[tuple[str, Row]] = [
    ("uq_device_slug_driver", {"slug": "opencl-cpu-as-b580", "driver": "1.2"}),
    ("ck_device_slug_not_empty", {"slug": ""}),
    ("ck_device_kind_known", {"kind": "fpga"}),
    ("ck_device_emulates_another", {"emulates": "b60"}),
    ("uq_problem_key", {"key": digest("problem 96")}),
    ("ck_problem_key_is_sha256", {"key": "short"}),
    ("ck_problem_size_positive", {"m": 0}),
    ("ck_problem_size_positive", {"n": 0}),
    ("ck_problem_size_positive", {"k": -7}),
    ("ck_problem_batch_positive", {"batch": 0}),
    ("fk_job_problem_id", {"problem_id": NOBODY}),
    ("fk_job_device_id", {"device_id": NOBODY}),
    ("fk_job_id_best_trial_id", {"best_trial_id": "{pending}"}),  # of another job
    ("uq_job_idempotency_key", {"idempotency_key": "taken"}),
    ("uq_job_active_request", {"request_hash": "{request}"}),
    ("uq_job_active_request", RUNNING | {"request_hash": "{request}"}),
    ("ck_job_status_known", {"status": "paused", "started_at": NOON, "attempts": 1}),
    ("ck_job_budget_trials_positive", {"budget_trials": 0}),
    ("ck_job_budget_seconds_positive", {"budget_seconds": 0.0}),
    ("ck_job_budget_seconds_positive", {"budget_seconds": math.inf}),
    ("ck_job_attempts_counted", {"attempts": -1, "started_at": NOON}),
    ("ck_job_request_hash_is_sha256", {"request_hash": "short"}),
    ("ck_job_idempotency_key_not_empty", {"idempotency_key": ""}),
    ("ck_job_worker_iff_running", {"worker": "w"}),
    ("ck_job_worker_iff_running", RUNNING | {"worker": None}),
    ("ck_job_lease_iff_running", {"lease_until": NOON}),
    ("ck_job_lease_iff_running", RUNNING | {"lease_until": None}),
    ("ck_job_started_when_run", SUCCEEDED | {"started_at": None, "attempts": 0}),
    ("ck_job_started_iff_attempted", {"started_at": NOON}),
    ("ck_job_started_iff_attempted", {"attempts": 1}),
    ("ck_job_finished_iff_over", {"finished_at": NOON}),
    ("ck_job_finished_iff_over", SUCCEEDED | {"finished_at": None}),
    ("ck_job_error_iff_failed", SUCCEEDED | {"error": "compile: no room"}),
    ("ck_job_error_iff_failed", FAILED | {"error": None}),
    ("ck_job_error_not_empty", FAILED | {"error": ""}),
    ("ck_job_cancelled_was_requested", {"status": "cancelled", "cancel_requested": False, "finished_at": NOON}),
    ("ck_job_compared_both_or_neither", SUCCEEDED | {"compared_default_us": 2.5}),
    ("ck_job_compared_both_or_neither", SUCCEEDED | {"compared_best_us": 2.5}),
    ("ck_job_compared_positive", SUCCEEDED | {"compared_default_us": 0.0, "compared_best_us": 2.5}),
    ("ck_job_compared_positive", SUCCEEDED | {"compared_default_us": 2.5, "compared_best_us": -1.0}),
    ("fk_kernel_problem_id", {"problem_id": NOBODY}),
    ("fk_kernel_device_id", {"device_id": NOBODY}),
    (
        "uq_kernel_device_id_compile_key_content_hash",
        {"compile_key": digest("compile 1"), "content_hash": digest("content 1")},
    ),
    ("ck_kernel_config_hash_is_sha256", {"config_hash": "short"}),
    ("ck_kernel_compile_key_is_sha256", {"compile_key": "short"}),
    ("ck_kernel_content_hash_is_sha256", {"content_hash": "short"}),
    ("ck_kernel_target_not_empty", {"target": ""}),
    ("fk_artifact_kernel_id", {"kernel_id": uuid4()}),
    ("uq_artifact_kernel_id_name", {"name": "kernel.spv"}),
    ("ck_artifact_name_not_empty", {"name": ""}),
    ("ck_artifact_sha256_is_sha256", {"sha256": "short"}),
    ("ck_artifact_size_not_negative", {"size": -1}),
    ("fk_trial_job_id", {"job_id": uuid4()}),
    ("fk_trial_kernel_id", MEASURED | {"kernel_id": uuid4()}),
    ("uq_trial_job_id_number", {"number": 0}),
    ("uq_trial_job_id_config_hash", {"config_hash": digest("config 0")}),
    ("ck_trial_number_counted", {"number": -1}),
    ("ck_trial_config_hash_is_sha256", {"config_hash": "short"}),
    ("ck_trial_status_known", REJECTED | {"status": "lost"}),
    ("ck_trial_proof_kind_known", MEASURED | {"proof_kind": "hope"}),
    ("ck_trial_reason_iff_without_time", REJECTED | {"reason": None}),
    ("ck_trial_reason_iff_without_time", MEASURED | {"reason": "slow"}),
    ("ck_trial_reason_not_empty", REJECTED | {"reason": ""}),
    ("ck_trial_ended_iff_not_pending", {"ended_at": NOON}),
    ("ck_trial_ended_iff_not_pending", MEASURED | {"ended_at": None}),
    ("ck_trial_pending_has_no_kernel", {"kernel_id": "{kernel}"}),
    ("ck_trial_pending_has_no_proof", PROVEN),
    ("ck_trial_measured_has_kernel", MEASURED | {"kernel_id": None}),
    ("ck_trial_measured_is_proven", MEASURED | {"proof_kind": "none", "proof_checked": 0, "proof_total": 0}),
    ("ck_trial_measured_is_proven", MEASURED | {"max_error": None}),
    ("ck_trial_measured_is_proven", MEASURED | {"tolerance": None}),
    ("ck_trial_timed_is_within_tolerance", MEASURED | {"max_error": 0.75}),
    ("ck_trial_timed_is_within_tolerance", PREDICTED | PROVEN | {"max_error": math.inf}),
    ("ck_trial_proof_counts", MEASURED | {"proof_checked": 5}),
    ("ck_trial_proof_counts", MEASURED | {"proof_checked": -1}),
    ("ck_trial_proof_counts_iff_proven", MEASURED | {"proof_checked": 0, "proof_total": 0}),
    ("ck_trial_proof_counts_iff_proven", PREDICTED | {"proof_total": 4}),
    ("ck_trial_max_error_not_negative", MEASURED | {"max_error": -0.25}),
    ("ck_trial_tolerance_not_negative", REJECTED | PROVEN | {"tolerance": -0.5}),
    ("ck_trial_wall_times_not_negative", {"compile_s": -1.0}),
    ("ck_trial_wall_times_not_negative", {"verify_s": -1.0}),
    ("ck_trial_wall_times_not_negative", {"measure_s": -1.0}),
    ("fk_measurement_trial_id", {"trial_id": NOBODY}),
    ("ck_measurement_min_positive", {"min_us": 0.0}),
    ("ck_measurement_times_ordered", {"p10_us": 0.5}),
    ("ck_measurement_times_ordered", {"median_us": 0.75}),
    ("ck_measurement_times_ordered", {"p90_us": 1.5}),
    ("ck_measurement_times_finite", {"p90_us": math.inf}),
    ("ck_measurement_samples_positive", {"samples": 0}),
    ("ck_measurement_label_known", {"label": "guessed"}),
    ("fk_prediction_trial_id", {"trial_id": NOBODY}),
    ("ck_prediction_low_positive", {"low_us": 0.0}),
    ("ck_prediction_interval_holds_time", {"time_us": 0.5}),
    ("ck_prediction_interval_holds_time", {"time_us": 3.0}),
    ("ck_prediction_interval_finite", {"high_us": math.inf}),
    ("ck_prediction_model_version_not_empty", {"model_version": ""}),
    ("fk_prediction_error_trial_id", {"trial_id": NOBODY}),
    ("fk_prediction_error_measured_trial_id", {"measured_trial_id": NOBODY}),
    ("ck_prediction_error_ratio_positive", {"ratio": 0.0}),
    ("ck_prediction_error_ratio_positive", {"ratio": math.inf}),
    ("fk_job_import_job_id", {"job_id": uuid4()}),
    ("ck_job_import_origin_not_empty", {"origin": ""}),
    ("fk_kernel_import_kernel_id", {"kernel_id": uuid4()}),
    ("ck_kernel_import_origin_not_empty", {"origin": ""}),
    ("fk_candidate_job_id", {"job_id": uuid4()}),
    ("uq_candidate_job_id_position", {"position": 0}),
    ("uq_candidate_job_id_config_hash", {"config_hash": digest("candidate")}),
    ("ck_candidate_position_counted", {"position": -1}),
    ("ck_candidate_config_hash_is_sha256", {"config_hash": "short"}),
    ("uq_schedule_name", {"name": "weekly"}),
    ("ck_schedule_name_not_empty", {"name": ""}),
    ("ck_schedule_cron_not_empty", {"cron": ""}),
    ("ck_schedule_timezone_not_empty", {"timezone": ""}),
    ("ck_schedule_misfire_grace_positive", {"misfire_grace_s": 0}),
    ("ck_schedule_next_due_only_enabled", {"enabled": False}),
    ("fk_schedule_fire_schedule_id", {"schedule_id": uuid4()}),
    ("fk_schedule_fire_job_id", {"outcome": "created", "job_id": uuid4()}),
    ("uq_schedule_fire_schedule_id_due_at", {"due_at": NOON - timedelta(days=1)}),
    ("ck_schedule_fire_outcome_known", {"outcome": "lost"}),
    ("ck_schedule_fire_job_iff_created_or_joined", {"outcome": "created"}),
    ("ck_schedule_fire_job_iff_created_or_joined", {"job_id": "{job}"}),
    ("ck_schedule_fire_reason_iff_refused", {"outcome": "refused"}),
    ("ck_schedule_fire_reason_iff_refused", {"reason": "the device is gone"}),
    ("uq_api_key_prefix", {"prefix": "abcdef012345"}),
    ("uq_api_key_name_in_use", {"name": "laptop"}),
    ("ck_api_key_name_not_empty", {"name": ""}),
    ("ck_api_key_prefix_not_empty", {"prefix": ""}),
    ("ck_api_key_secret_sha256_is_sha256", {"secret_sha256": "short"}),
    ("ck_api_key_scope_known", {"scope": "root"}),
    ("fk_audit_event_key_id", {"key_id": uuid4()}),
    ("ck_audit_event_actor_not_empty", {"actor": ""}),
    ("ck_audit_event_action_not_empty", {"action": ""}),
    ("ck_audit_event_subject_not_empty", {"subject": ""}),
    ("ck_audit_event_outcome_known", {"outcome": "lost"}),
]


def table_of(constraint: str) -> Table:
    """The table whose constraint or unique index has that name."""
    return next(t for t in Base.metadata.tables.values() if any(c.name == constraint for c in refusing(t)))


def refusing(table: Table) -> list[Constraint | Index]:
    """What of a table refuses rows: its constraints, and its indexes that are unique."""
    kinds = CheckConstraint, UniqueConstraint, ForeignKeyConstraint
    return [*(c for c in table.constraints if isinstance(c, kinds)), *(i for i in table.indexes if i.unique)]


@pytest.fixture(scope="module", params=BACKENDS)
def database(request: pytest.FixtureRequest) -> Generator[Database]:
    """One migrated database of each kind for all rows: every test rolls back."""
    if request.param == "sqlite":
        url = f"sqlite:///{request.getfixturevalue('migrated_file')}"
    else:
        url = create_postgres(request.getfixturevalue("postgres_server"), request.getfixturevalue("migrated_postgres"))
    opened = open_database(url)
    yield opened
    opened.close()


def add_row(session: Session, table: str, changes: Mapping[str, object]) -> None:
    """Insert a valid row with changes, beside rows to refer to."""
    job = rows.add_job(session, key="taken")
    pending = rows.add_trial(session, job.id, 0)
    kernel = rows.add_kernel(session, job, 1)
    other = rows.add_job(session, m=80)
    predicted = rows.add_predicted(session, other, 2, 3.0)
    session.add(Candidate(job_id=job.id, position=0, config={}, config_hash=digest("candidate")))
    session.flush()
    schedule = VALID["schedule"] | {"id": UUID(int=3), "name": "weekly"}
    session.execute(insert(Base.metadata.tables["schedule"]).values(**schedule))
    fire = VALID["schedule_fire"] | {"schedule_id": UUID(int=3), "due_at": NOON - timedelta(days=1)}
    session.execute(insert(Base.metadata.tables["schedule_fire"]).values(**fire))
    key = VALID["api_key"] | {"id": UUID(int=5), "name": "laptop", "prefix": "abcdef012345"}
    session.execute(insert(Base.metadata.tables["api_key"]).values(**key))
    ids = {"{job}": job.id, "{problem}": job.problem_id, "{device}": job.device_id, "{pending}": pending.id}
    ids |= {"{predicted}": predicted.id}
    ids |= {"{kernel}": kernel.id, "{schedule}": UUID(int=3), "{request}": job.request_hash}
    values = {name: ids.get(v, v) if isinstance(v, str) else v for name, v in (VALID[table] | dict(changes)).items()}
    session.execute(insert(Base.metadata.tables[table]).values(**values))


@pytest.mark.parametrize(("table", "changes"), ACCEPTED)
def test_possible_row_is_accepted(database: Database, table: str, changes: Row) -> None:
    with database.write() as session:
        add_row(session, table, changes)
        session.rollback()


@pytest.mark.parametrize(("constraint", "changes"), REFUSED)
def test_impossible_row_is_refused(database: Database, constraint: str, changes: Row) -> None:
    table = table_of(constraint)
    with pytest.raises(IntegrityError) as refusal, database.write() as session:
        add_row(session, table.name, changes)
    assert sign_of(table, constraint, database) in str(refusal.value.orig)


def sign_of(table: Table, constraint: str, database: Database) -> str:
    """What the driver says when that constraint is broken; SQLite names checks only."""
    found = next(c for c in refusing(table) if c.name == constraint)
    if database.engine.dialect.name == "postgresql" or isinstance(found, CheckConstraint):
        return constraint
    if isinstance(found, ForeignKeyConstraint):
        return "FOREIGN KEY"
    assert isinstance(found, UniqueConstraint | Index)
    return ", ".join(f"{table.name}.{column.name}" for column in found.columns)


def test_every_constraint_has_a_bad_row() -> None:
    named = {c.name for t in Base.metadata.tables.values() for c in refusing(t)}
    # Not reachable through a row of its own: it only gives job.best_trial_id something to refer to.
    assert named - {"uq_trial_job_id_id"} == {name for name, _ in REFUSED}
