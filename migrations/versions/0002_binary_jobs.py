"""Jobs that build the native binary of a kernel."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0002"
down_revision: str | None = "0001"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None


def upgrade() -> None:
    """Add the table of their kernels."""
    op.create_table(
        "binary_job",
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("kernel_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name="fk_binary_job_job_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["kernel_id"], ["kernel.id"], name="fk_binary_job_kernel_id"),
        sa.PrimaryKeyConstraint("job_id", name="pk_binary_job"),
    )
    op.create_index("ix_binary_job_kernel_id", "binary_job", ["kernel_id"])


def downgrade() -> None:
    """Remove the table, and the jobs that are nothing without it."""
    op.execute("DELETE FROM job WHERE id IN (SELECT job_id FROM binary_job)")
    op.drop_table("binary_job")
