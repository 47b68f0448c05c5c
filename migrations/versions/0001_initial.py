"""The first tables."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0001"
down_revision: str | None = None
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None

BEST_TRIAL = "fk_job_id_best_trial_id"


def upgrade() -> None:
    """Create the tables."""
    _create_targets()
    _create_jobs()
    _create_kernels()
    _create_schedules()
    _create_trials()
    _create_times()
    if op.get_bind().dialect.name != "sqlite":  # which has it in the table, unable to add it later
        op.create_foreign_key(op.f(BEST_TRIAL), "job", "trial", ["id", "best_trial_id"], ["job_id", "id"])


def downgrade() -> None:
    """Drop the tables."""
    op.execute("UPDATE job SET best_trial_id = NULL")
    if op.get_bind().dialect.name != "sqlite":
        op.drop_constraint(op.f(BEST_TRIAL), "job", type_="foreignkey")
    for table in (
        "prediction",
        "measurement",
        "trial",
        "schedule_fire",
        "schedule",
        "artifact",
        "kernel",
        "job",
        "problem",
        "device",
    ):
        op.drop_table(table)


def _create_targets() -> None:
    op.create_table(
        "device",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("slug", sa.String(), nullable=False),
        sa.Column("driver", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("emulates", sa.String(), nullable=True),
        sa.Column("spec", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("kind IN ('gpu', 'cpu')", name=op.f("ck_device_kind_known")),
        sa.CheckConstraint("emulates IS NULL OR emulates <> slug", name=op.f("ck_device_emulates_another")),
        sa.CheckConstraint("length(slug) > 0", name=op.f("ck_device_slug_not_empty")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_device")),
        sa.UniqueConstraint("slug", "driver", name=op.f("uq_device_slug_driver")),
    )

    op.create_table(
        "problem",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("m", sa.Integer(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("k", sa.Integer(), nullable=False),
        sa.Column("batch", sa.Integer(), nullable=False),
        sa.Column("dtype_a", sa.String(), nullable=False),
        sa.Column("dtype_b", sa.String(), nullable=False),
        sa.Column("dtype_c", sa.String(), nullable=False),
        sa.Column("dtype_acc", sa.String(), nullable=False),
        sa.Column("transpose_a", sa.Boolean(), nullable=False),
        sa.Column("transpose_b", sa.Boolean(), nullable=False),
        sa.Column("definition", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("batch > 0", name=op.f("ck_problem_batch_positive")),
        sa.CheckConstraint("length(key) = 64", name=op.f("ck_problem_key_is_sha256")),
        sa.CheckConstraint("m > 0 AND n > 0 AND k > 0", name=op.f("ck_problem_size_positive")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_problem")),
        sa.UniqueConstraint("key", name=op.f("uq_problem_key")),
    )


def _create_jobs() -> None:
    op.create_table(
        "job",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("problem_id", sa.Integer(), nullable=False),
        sa.Column("device_id", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("budget_trials", sa.Integer(), nullable=False),
        sa.Column("budget_seconds", sa.Double(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("request_hash", sa.String(), nullable=False),
        sa.Column("idempotency_key", sa.String(), nullable=True),
        sa.Column("space_hash", sa.String(), nullable=True),
        sa.Column("cancel_requested", sa.Boolean(), nullable=False),
        sa.Column("error", sa.String(), nullable=True),
        sa.Column("worker", sa.String(), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("best_trial_id", sa.Integer(), nullable=True),
        sa.Column("compared_default_us", sa.Double(), nullable=True),
        sa.Column("compared_best_us", sa.Double(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("(status = 'failed') = (error IS NOT NULL)", name=op.f("ck_job_error_iff_failed")),
        sa.CheckConstraint("(status = 'running') = (lease_until IS NOT NULL)", name=op.f("ck_job_lease_iff_running")),
        sa.CheckConstraint("(status = 'running') = (worker IS NOT NULL)", name=op.f("ck_job_worker_iff_running")),
        sa.CheckConstraint(
            "(status IN ('succeeded', 'failed', 'cancelled')) = (finished_at IS NOT NULL)",
            name=op.f("ck_job_finished_iff_over"),
        ),
        sa.CheckConstraint("status <> 'cancelled' OR cancel_requested", name=op.f("ck_job_cancelled_was_requested")),
        sa.CheckConstraint(
            "(compared_default_us IS NULL) = (compared_best_us IS NULL)", name=op.f("ck_job_compared_both_or_neither")
        ),
        sa.CheckConstraint("compared_default_us > 0 AND compared_best_us > 0", name=op.f("ck_job_compared_positive")),
        sa.CheckConstraint(
            "status IN ('queued', 'cancelled') OR started_at IS NOT NULL", name=op.f("ck_job_started_when_run")
        ),
        sa.CheckConstraint(
            "status IN ('queued', 'running', 'succeeded', 'failed', 'cancelled')", name=op.f("ck_job_status_known")
        ),
        sa.CheckConstraint("(started_at IS NULL) = (attempts = 0)", name=op.f("ck_job_started_iff_attempted")),
        sa.CheckConstraint("attempts >= 0", name=op.f("ck_job_attempts_counted")),
        sa.CheckConstraint("budget_seconds > 0 AND budget_seconds < 1e9", name=op.f("ck_job_budget_seconds_positive")),
        sa.CheckConstraint("budget_trials >= 1", name=op.f("ck_job_budget_trials_positive")),
        sa.CheckConstraint("length(error) > 0", name=op.f("ck_job_error_not_empty")),
        sa.CheckConstraint("length(idempotency_key) > 0", name=op.f("ck_job_idempotency_key_not_empty")),
        sa.CheckConstraint("length(request_hash) = 64", name=op.f("ck_job_request_hash_is_sha256")),
        sa.ForeignKeyConstraint(["device_id"], ["device.id"], name=op.f("fk_job_device_id")),
        sa.ForeignKeyConstraint(
            ["id", "best_trial_id"], ["trial.job_id", "trial.id"], name=op.f(BEST_TRIAL), use_alter=True
        ),
        sa.ForeignKeyConstraint(["problem_id"], ["problem.id"], name=op.f("fk_job_problem_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_job")),
        sa.UniqueConstraint("idempotency_key", name=op.f("uq_job_idempotency_key")),
    )
    op.create_index(op.f("ix_job_problem_id_device_id"), "job", ["problem_id", "device_id"])
    op.create_index(op.f("ix_job_request_hash"), "job", ["request_hash"])
    wanted = sa.text("status IN ('queued', 'running') AND NOT cancel_requested")
    op.create_index(
        op.f("uq_job_active_request"),
        "job",
        ["request_hash"],
        unique=True,
        sqlite_where=wanted,
        postgresql_where=wanted,
    )
    op.create_index(op.f("ix_job_status_id"), "job", ["status", "id"])


def _create_kernels() -> None:
    op.create_table(
        "kernel",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("problem_id", sa.Integer(), nullable=False),
        sa.Column("device_id", sa.Integer(), nullable=False),
        sa.Column("target", sa.String(), nullable=False),
        sa.Column("config", sa.JSON(), nullable=False),
        sa.Column("config_hash", sa.String(), nullable=False),
        sa.Column("compile_key", sa.String(), nullable=False),
        sa.Column("content_hash", sa.String(), nullable=False),
        sa.Column("manifest", sa.JSON(), nullable=False),
        sa.Column("toolchain", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("length(compile_key) = 64", name=op.f("ck_kernel_compile_key_is_sha256")),
        sa.CheckConstraint("length(config_hash) = 64", name=op.f("ck_kernel_config_hash_is_sha256")),
        sa.CheckConstraint("length(content_hash) = 64", name=op.f("ck_kernel_content_hash_is_sha256")),
        sa.CheckConstraint("length(target) > 0", name=op.f("ck_kernel_target_not_empty")),
        sa.ForeignKeyConstraint(["device_id"], ["device.id"], name=op.f("fk_kernel_device_id")),
        sa.ForeignKeyConstraint(["problem_id"], ["problem.id"], name=op.f("fk_kernel_problem_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_kernel")),
        sa.UniqueConstraint(
            "device_id", "compile_key", "content_hash", name=op.f("uq_kernel_device_id_compile_key_content_hash")
        ),
    )
    op.create_index(op.f("ix_kernel_problem_id_device_id"), "kernel", ["problem_id", "device_id"])

    op.create_table(
        "artifact",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("kernel_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("media_type", sa.String(), nullable=False),
        sa.CheckConstraint("length(name) > 0", name=op.f("ck_artifact_name_not_empty")),
        sa.CheckConstraint("length(sha256) = 64", name=op.f("ck_artifact_sha256_is_sha256")),
        sa.CheckConstraint("size >= 0", name=op.f("ck_artifact_size_not_negative")),
        sa.ForeignKeyConstraint(["kernel_id"], ["kernel.id"], name=op.f("fk_artifact_kernel_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_artifact")),
        sa.UniqueConstraint("kernel_id", "name", name=op.f("uq_artifact_kernel_id_name")),
    )


def _create_schedules() -> None:
    op.create_table(
        "schedule",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("cron", sa.String(), nullable=False),
        sa.Column("timezone", sa.String(), nullable=False),
        sa.Column("template", sa.JSON(), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("misfire_grace_s", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("next_due_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("enabled OR next_due_at IS NULL", name=op.f("ck_schedule_next_due_only_enabled")),
        sa.CheckConstraint("length(cron) > 0", name=op.f("ck_schedule_cron_not_empty")),
        sa.CheckConstraint("length(name) > 0", name=op.f("ck_schedule_name_not_empty")),
        sa.CheckConstraint("length(timezone) > 0", name=op.f("ck_schedule_timezone_not_empty")),
        sa.CheckConstraint("misfire_grace_s >= 1", name=op.f("ck_schedule_misfire_grace_positive")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_schedule")),
        sa.UniqueConstraint("name", name=op.f("uq_schedule_name")),
    )
    op.create_index(op.f("ix_schedule_next_due_at"), "schedule", ["next_due_at"])

    op.create_table(
        "schedule_fire",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("schedule_id", sa.Uuid(), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("fired_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("job_id", sa.Uuid(), nullable=True),
        sa.Column("reason", sa.String(), nullable=True),
        sa.CheckConstraint(
            "(outcome = 'refused') = (reason IS NOT NULL)", name=op.f("ck_schedule_fire_reason_iff_refused")
        ),
        sa.CheckConstraint(
            "(outcome IN ('created', 'joined')) = (job_id IS NOT NULL)",
            name=op.f("ck_schedule_fire_job_iff_created_or_joined"),
        ),
        sa.CheckConstraint(
            "outcome IN ('created', 'joined', 'missed', 'refused')", name=op.f("ck_schedule_fire_outcome_known")
        ),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name=op.f("fk_schedule_fire_job_id")),
        sa.ForeignKeyConstraint(
            ["schedule_id"], ["schedule.id"], name=op.f("fk_schedule_fire_schedule_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_schedule_fire")),
        sa.UniqueConstraint("schedule_id", "due_at", name=op.f("uq_schedule_fire_schedule_id_due_at")),
    )
    op.create_index(op.f("ix_schedule_fire_job_id"), "schedule_fire", ["job_id"])


def _create_trials() -> None:
    op.create_table(
        "trial",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("config", sa.JSON(), nullable=False),
        sa.Column("config_hash", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=True),
        sa.Column("proof_kind", sa.String(), nullable=False),
        sa.Column("proof_checked", sa.Integer(), nullable=False),
        sa.Column("proof_total", sa.Integer(), nullable=False),
        sa.Column("max_error", sa.Double(), nullable=True),
        sa.Column("tolerance", sa.Double(), nullable=True),
        sa.Column("kernel_id", sa.Uuid(), nullable=True),
        sa.Column("compile_s", sa.Double(), nullable=False),
        sa.Column("verify_s", sa.Double(), nullable=False),
        sa.Column("measure_s", sa.Double(), nullable=False),
        sa.Column("begun_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("(proof_kind = 'none') = (proof_total = 0)", name=op.f("ck_trial_proof_counts_iff_proven")),
        sa.CheckConstraint("(status = 'pending') = (ended_at IS NULL)", name=op.f("ck_trial_ended_iff_not_pending")),
        sa.CheckConstraint(
            "(status IN ('pending', 'measured', 'predicted')) = (reason IS NULL)",
            name=op.f("ck_trial_reason_iff_without_time"),
        ),
        sa.CheckConstraint(
            "proof_kind IN ('device', 'opencl_cpu', 'simulator', 'none')", name=op.f("ck_trial_proof_kind_known")
        ),
        sa.CheckConstraint(
            "status <> 'measured' OR (proof_kind <> 'none' AND max_error IS NOT NULL AND tolerance IS NOT NULL)",
            name=op.f("ck_trial_measured_is_proven"),
        ),
        sa.CheckConstraint("status <> 'measured' OR kernel_id IS NOT NULL", name=op.f("ck_trial_measured_has_kernel")),
        sa.CheckConstraint("status <> 'pending' OR kernel_id IS NULL", name=op.f("ck_trial_pending_has_no_kernel")),
        sa.CheckConstraint("status <> 'pending' OR proof_kind = 'none'", name=op.f("ck_trial_pending_has_no_proof")),
        sa.CheckConstraint(
            "status IN ('pending', 'measured', 'predicted', "
            "'rejected', 'compile_failed', 'wrong_result', 'timed_out', 'crashed')",
            name=op.f("ck_trial_status_known"),
        ),
        sa.CheckConstraint(
            "status NOT IN ('measured', 'predicted') OR max_error <= tolerance",
            name=op.f("ck_trial_timed_is_within_tolerance"),
        ),
        sa.CheckConstraint(
            "compile_s >= 0 AND verify_s >= 0 AND measure_s >= 0", name=op.f("ck_trial_wall_times_not_negative")
        ),
        sa.CheckConstraint("length(config_hash) = 64", name=op.f("ck_trial_config_hash_is_sha256")),
        sa.CheckConstraint("length(reason) > 0", name=op.f("ck_trial_reason_not_empty")),
        sa.CheckConstraint("max_error >= 0", name=op.f("ck_trial_max_error_not_negative")),
        sa.CheckConstraint("number >= 0", name=op.f("ck_trial_number_counted")),
        sa.CheckConstraint("proof_checked >= 0 AND proof_checked <= proof_total", name=op.f("ck_trial_proof_counts")),
        sa.CheckConstraint("tolerance >= 0", name=op.f("ck_trial_tolerance_not_negative")),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name=op.f("fk_trial_job_id")),
        sa.ForeignKeyConstraint(["kernel_id"], ["kernel.id"], name=op.f("fk_trial_kernel_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_trial")),
        sa.UniqueConstraint("job_id", "config_hash", name=op.f("uq_trial_job_id_config_hash")),
        sa.UniqueConstraint("job_id", "id", name=op.f("uq_trial_job_id_id")),
        sa.UniqueConstraint("job_id", "number", name=op.f("uq_trial_job_id_number")),
    )
    op.create_index(op.f("ix_trial_kernel_id"), "trial", ["kernel_id"])


def _create_times() -> None:
    op.create_table(
        "measurement",
        sa.Column("trial_id", sa.Integer(), nullable=False),
        sa.Column("median_us", sa.Double(), nullable=False),
        sa.Column("min_us", sa.Double(), nullable=False),
        sa.Column("p10_us", sa.Double(), nullable=False),
        sa.Column("p90_us", sa.Double(), nullable=False),
        sa.Column("samples", sa.Integer(), nullable=False),
        sa.Column("label", sa.String(), nullable=False),
        sa.Column("driver", sa.String(), nullable=False),
        sa.Column("versions", sa.JSON(), nullable=False),
        sa.Column("measured_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("label IN ('native', 'DPAS emulated')", name=op.f("ck_measurement_label_known")),
        sa.CheckConstraint(
            "min_us <= p10_us AND p10_us <= median_us AND median_us <= p90_us",
            name=op.f("ck_measurement_times_ordered"),
        ),
        sa.CheckConstraint("min_us > 0", name=op.f("ck_measurement_min_positive")),
        sa.CheckConstraint("p90_us < 1e12", name=op.f("ck_measurement_times_finite")),
        sa.CheckConstraint("samples >= 1", name=op.f("ck_measurement_samples_positive")),
        sa.ForeignKeyConstraint(["trial_id"], ["trial.id"], name=op.f("fk_measurement_trial_id")),
        sa.PrimaryKeyConstraint("trial_id", name=op.f("pk_measurement")),
    )

    op.create_table(
        "prediction",
        sa.Column("trial_id", sa.Integer(), nullable=False),
        sa.Column("time_us", sa.Double(), nullable=False),
        sa.Column("low_us", sa.Double(), nullable=False),
        sa.Column("high_us", sa.Double(), nullable=False),
        sa.Column("model_version", sa.String(), nullable=False),
        sa.Column("predicted_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("high_us < 1e12", name=op.f("ck_prediction_interval_finite")),
        sa.CheckConstraint("length(model_version) > 0", name=op.f("ck_prediction_model_version_not_empty")),
        sa.CheckConstraint("low_us <= time_us AND time_us <= high_us", name=op.f("ck_prediction_interval_holds_time")),
        sa.CheckConstraint("low_us > 0", name=op.f("ck_prediction_low_positive")),
        sa.ForeignKeyConstraint(["trial_id"], ["trial.id"], name=op.f("fk_prediction_trial_id")),
        sa.PrimaryKeyConstraint("trial_id", name=op.f("pk_prediction")),
    )
