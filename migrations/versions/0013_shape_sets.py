"""Sets of shapes: their members, the kernels tried on all of them, and what each took."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0013"
down_revision: str | None = "0012"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "shape_set",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("device_id", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("budget_trials", sa.Integer(), nullable=False),
        sa.Column("budget_seconds", sa.Double(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("within", sa.Double(), nullable=False),
        sa.Column("request_hash", sa.String(), nullable=False),
        sa.Column("spent_s", sa.Double(), nullable=False),
        sa.Column("compiled", sa.Integer(), nullable=False),
        sa.Column("reused", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("length(request_hash) = 64", name=op.f("ck_shape_set_request_hash_is_sha256")),
        sa.CheckConstraint("length(source) > 0", name=op.f("ck_shape_set_source_not_empty")),
        sa.CheckConstraint("budget_trials >= 1", name=op.f("ck_shape_set_budget_trials_positive")),
        sa.CheckConstraint("(status = 'active') = (finished_at IS NULL)", name=op.f("ck_shape_set_finished_iff_over")),
        sa.CheckConstraint("within >= 0 AND within <= 1", name=op.f("ck_shape_set_within_is_a_fraction")),
        sa.CheckConstraint(
            "spent_s >= 0 AND compiled >= 0 AND reused >= 0", name=op.f("ck_shape_set_counts_not_negative")
        ),
        sa.CheckConstraint("status IN ('active', 'succeeded', 'cancelled')", name=op.f("ck_shape_set_status_known")),
        sa.CheckConstraint(
            "budget_seconds > 0 AND budget_seconds < 1e9", name=op.f("ck_shape_set_budget_seconds_positive")
        ),
        sa.ForeignKeyConstraint(["device_id"], ["device.id"], name=op.f("fk_shape_set_device_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_shape_set")),
    )
    op.create_table(
        "shape_set_member",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("set_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("weight", sa.Double(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.CheckConstraint("position >= 0", name=op.f("ck_shape_set_member_position_counted")),
        sa.CheckConstraint("weight > 0", name=op.f("ck_shape_set_member_weight_positive")),
        sa.ForeignKeyConstraint(["set_id"], ["shape_set.id"], name=op.f("fk_shape_set_member_set_id")),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name=op.f("fk_shape_set_member_job_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_shape_set_member")),
        sa.UniqueConstraint("job_id", name=op.f("uq_shape_set_member_job_id")),
        sa.UniqueConstraint("set_id", "position", name=op.f("uq_shape_set_member_set_id_position")),
    )
    op.create_table(
        "shape_set_kernel",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("set_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("member_id", sa.Integer(), nullable=False),
        sa.Column("config", sa.JSON(), nullable=False),
        sa.CheckConstraint("position >= 0", name=op.f("ck_shape_set_kernel_position_counted")),
        sa.ForeignKeyConstraint(["set_id"], ["shape_set.id"], name=op.f("fk_shape_set_kernel_set_id")),
        sa.ForeignKeyConstraint(["member_id"], ["shape_set_member.id"], name=op.f("fk_shape_set_kernel_member_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_shape_set_kernel")),
        sa.UniqueConstraint("set_id", "position", name=op.f("uq_shape_set_kernel_set_id_position")),
    )
    op.create_table(
        "shape_set_cell",
        sa.Column("kernel_id", sa.Integer(), nullable=False),
        sa.Column("member_id", sa.Integer(), nullable=False),
        sa.Column("time_us", sa.Double(), nullable=True),
        sa.Column("evidence", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=True),
        sa.Column("content_hash", sa.String(), nullable=True),
        sa.CheckConstraint(
            "evidence IN ('in_turns', 'trial', 'predicted', 'none')", name=op.f("ck_shape_set_cell_evidence_known")
        ),
        sa.CheckConstraint("time_us > 0 AND time_us < 1e12", name=op.f("ck_shape_set_cell_time_positive")),
        sa.CheckConstraint("(evidence = 'none') = (time_us IS NULL)", name=op.f("ck_shape_set_cell_time_iff_known")),
        sa.CheckConstraint(
            "(evidence = 'none') = (reason IS NOT NULL)", name=op.f("ck_shape_set_cell_reason_iff_without_time")
        ),
        sa.CheckConstraint("length(content_hash) = 64", name=op.f("ck_shape_set_cell_content_hash_is_sha256")),
        sa.ForeignKeyConstraint(["kernel_id"], ["shape_set_kernel.id"], name=op.f("fk_shape_set_cell_kernel_id")),
        sa.ForeignKeyConstraint(["member_id"], ["shape_set_member.id"], name=op.f("fk_shape_set_cell_member_id")),
        sa.PrimaryKeyConstraint("kernel_id", "member_id", name=op.f("pk_shape_set_cell")),
    )
    active = sa.text("status = 'active'")
    op.create_index(
        op.f("uq_shape_set_active_request"),
        "shape_set",
        ["request_hash"],
        unique=True,
        sqlite_where=active,
        postgresql_where=active,
    )


def downgrade() -> None:
    """Drop the tables; the jobs of the shapes stay."""
    for table in ("shape_set_cell", "shape_set_kernel", "shape_set_member", "shape_set"):
        op.drop_table(table)
