"""Traces of the requests that queued jobs."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0023"
down_revision: str | None = "0022"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "job_trace",
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("traceparent", sa.String(), nullable=False),
        sa.CheckConstraint("length(traceparent) = 55", name=op.f("ck_job_trace_traceparent_length")),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name=op.f("fk_job_trace_job_id")),
        sa.PrimaryKeyConstraint("job_id", name=op.f("pk_job_trace")),
    )


def downgrade() -> None:
    """Drop it."""
    op.drop_table("job_trace")
