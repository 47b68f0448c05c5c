"""What jobs took."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0009"
down_revision: str | None = "0008"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None

_SECONDS = ("total_s", "propose_s", "compile_s", "wait_s", "verify_s", "measure_s", "compare_s")


def upgrade() -> None:
    """Create the table; what earlier jobs took is not known."""
    op.create_table(
        "job_effort",
        sa.Column("job_id", sa.Uuid(), nullable=False),
        *(sa.Column(name, sa.Double(), nullable=False) for name in _SECONDS),
        sa.Column("device_restarts", sa.Integer(), nullable=False),
        sa.CheckConstraint(
            "total_s >= 0 AND propose_s >= 0 AND compile_s >= 0 AND wait_s >= 0",
            name=op.f("ck_job_effort_times_not_negative"),
        ),
        sa.CheckConstraint(
            "verify_s >= 0 AND measure_s >= 0 AND compare_s >= 0",
            name=op.f("ck_job_effort_device_times_not_negative"),
        ),
        sa.CheckConstraint("device_restarts >= 0", name=op.f("ck_job_effort_device_restarts_counted")),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name=op.f("fk_job_effort_job_id")),
        sa.PrimaryKeyConstraint("job_id", name=op.f("pk_job_effort")),
    )


def downgrade() -> None:
    """Drop the table."""
    op.drop_table("job_effort")
