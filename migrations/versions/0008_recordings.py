"""Results that files of other formats brought."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0008"
down_revision: str | None = "0007"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None

_STATUSES = "'measured', 'rejected', 'compile_failed', 'wrong_result', 'timed_out', 'crashed'"


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "recording",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("problem_id", sa.Integer(), nullable=False),
        sa.Column("device_id", sa.Integer(), nullable=False),
        sa.Column("format", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("origin", sa.String(), nullable=False),
        sa.Column("named", sa.String(), nullable=False),
        sa.Column("label", sa.String(), nullable=False),
        sa.Column("imported_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("length(digest) = 64", name=op.f("ck_recording_digest_is_sha256")),
        sa.CheckConstraint("length(origin) > 0", name=op.f("ck_recording_origin_not_empty")),
        sa.CheckConstraint("format IN ('kernel-tuner', 't4')", name=op.f("ck_recording_format_known")),
        sa.CheckConstraint("label IN ('native', 'DPAS emulated')", name=op.f("ck_recording_label_known")),
        sa.ForeignKeyConstraint(["problem_id"], ["problem.id"], name=op.f("fk_recording_problem_id")),
        sa.ForeignKeyConstraint(["device_id"], ["device.id"], name=op.f("fk_recording_device_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_recording")),
        sa.UniqueConstraint("digest", name=op.f("uq_recording_digest")),
    )
    op.create_index(op.f("ix_recording_problem_id"), "recording", ["problem_id"])
    op.create_index(op.f("ix_recording_device_id"), "recording", ["device_id"])
    op.create_table(
        "recorded_trial",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("recording_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("config", sa.JSON(), nullable=False),
        sa.Column("config_hash", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=True),
        *(sa.Column(name, sa.Double(), nullable=True) for name in ("time_us", "min_us", "p10_us", "p90_us")),
        sa.Column("samples", sa.Integer(), nullable=True),
        *(sa.Column(name, sa.Double(), nullable=True) for name in ("compile_s", "verify_s", "measure_s")),
        sa.Column("tried_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("number >= 0", name=op.f("ck_recorded_trial_number_counted")),
        sa.CheckConstraint("length(config_hash) = 64", name=op.f("ck_recorded_trial_config_hash_is_sha256")),
        sa.CheckConstraint(f"status IN ({_STATUSES})", name=op.f("ck_recorded_trial_status_known")),
        sa.CheckConstraint(
            "(status = 'measured') = (time_us IS NOT NULL)", name=op.f("ck_recorded_trial_time_iff_measured")
        ),
        sa.CheckConstraint(
            "(status = 'measured') = (reason IS NULL)", name=op.f("ck_recorded_trial_reason_iff_without_time")
        ),
        sa.CheckConstraint("length(reason) > 0", name=op.f("ck_recorded_trial_reason_not_empty")),
        sa.CheckConstraint("time_us > 0 AND time_us < 1e12", name=op.f("ck_recorded_trial_time_positive")),
        sa.CheckConstraint(
            "min_us > 0 AND min_us <= p10_us AND p10_us <= p90_us", name=op.f("ck_recorded_trial_times_ordered")
        ),
        sa.CheckConstraint("samples >= 1", name=op.f("ck_recorded_trial_samples_positive")),
        sa.ForeignKeyConstraint(["recording_id"], ["recording.id"], name=op.f("fk_recorded_trial_recording_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_recorded_trial")),
        sa.UniqueConstraint("recording_id", "number", name=op.f("uq_recorded_trial_recording_id_number")),
        sa.UniqueConstraint("recording_id", "config_hash", name=op.f("uq_recorded_trial_recording_id_config_hash")),
    )


def downgrade() -> None:
    """Drop the tables and what they hold."""
    op.drop_table("recorded_trial")
    op.drop_table("recording")
