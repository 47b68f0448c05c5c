"""Jobs and kernels of other databases, configurations to measure, and what predictions are judged by."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0003"
down_revision: str | None = "0002"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None

# Predictions of measured trials are judged by their own measurement.
_JUDGE = """
INSERT INTO prediction_error (trial_id, measured_trial_id, ratio)
SELECT p.trial_id, p.trial_id, m.median_us / p.time_us
FROM prediction p JOIN measurement m ON m.trial_id = p.trial_id
"""


def upgrade() -> None:
    """Create the tables, and judge the predictions that can be."""
    op.create_table(
        "job_import",
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("origin", sa.String(), nullable=False),
        sa.Column("imported_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("length(origin) > 0", name=op.f("ck_job_import_origin_not_empty")),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name=op.f("fk_job_import_job_id")),
        sa.PrimaryKeyConstraint("job_id", name=op.f("pk_job_import")),
    )
    op.create_table(
        "kernel_import",
        sa.Column("kernel_id", sa.Uuid(), nullable=False),
        sa.Column("origin", sa.String(), nullable=False),
        sa.CheckConstraint("length(origin) > 0", name=op.f("ck_kernel_import_origin_not_empty")),
        sa.ForeignKeyConstraint(["kernel_id"], ["kernel.id"], name=op.f("fk_kernel_import_kernel_id")),
        sa.PrimaryKeyConstraint("kernel_id", name=op.f("pk_kernel_import")),
    )
    op.create_table(
        "candidate",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("config", sa.JSON(), nullable=False),
        sa.Column("config_hash", sa.String(), nullable=False),
        sa.CheckConstraint("position >= 0", name=op.f("ck_candidate_position_counted")),
        sa.CheckConstraint("length(config_hash) = 64", name=op.f("ck_candidate_config_hash_is_sha256")),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name=op.f("fk_candidate_job_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_candidate")),
        sa.UniqueConstraint("job_id", "position", name=op.f("uq_candidate_job_id_position")),
        sa.UniqueConstraint("job_id", "config_hash", name=op.f("uq_candidate_job_id_config_hash")),
    )
    op.create_table(
        "prediction_error",
        sa.Column("trial_id", sa.Integer(), nullable=False),
        sa.Column("measured_trial_id", sa.Integer(), nullable=False),
        sa.Column("ratio", sa.Double(), nullable=False),
        sa.CheckConstraint("ratio > 0 AND ratio < 1e12", name=op.f("ck_prediction_error_ratio_positive")),
        sa.ForeignKeyConstraint(["trial_id"], ["prediction.trial_id"], name=op.f("fk_prediction_error_trial_id")),
        sa.ForeignKeyConstraint(
            ["measured_trial_id"], ["trial.id"], name=op.f("fk_prediction_error_measured_trial_id")
        ),
        sa.PrimaryKeyConstraint("trial_id", name=op.f("pk_prediction_error")),
    )
    op.create_index(op.f("ix_prediction_error_measured_trial_id"), "prediction_error", ["measured_trial_id"])
    op.execute(_JUDGE)


def downgrade() -> None:
    """Drop the tables; jobs and kernels of other databases stay and look like those of this one."""
    for table in ("prediction_error", "candidate", "kernel_import", "job_import"):
        op.drop_table(table)
