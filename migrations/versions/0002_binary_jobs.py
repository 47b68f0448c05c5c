"""Jobs that build the native binary of a kernel."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0002"
down_revision: str | None = "0001"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None


def upgrade() -> None:
    """Add the column of their kernels."""
    kernel = sa.ForeignKey("kernel.id", name="fk_job_kernel_id")
    # SQLite cannot add a constraint to a table.
    inline = op.get_context().dialect.name == "sqlite"
    op.add_column("job", sa.Column("kernel_id", sa.Uuid(), kernel, nullable=True), inline_references=inline)
    op.create_index("ix_job_kernel_id", "job", ["kernel_id"])


def downgrade() -> None:
    """Remove the column, and the jobs that are nothing without it."""
    op.execute("DELETE FROM job WHERE kernel_id IS NOT NULL")
    op.drop_index("ix_job_kernel_id", "job")
    op.drop_column("job", "kernel_id")
