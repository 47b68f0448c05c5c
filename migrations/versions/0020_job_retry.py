"""Jobs that were asked for again, and what lists of jobs are filtered by."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0020"
down_revision: str | None = "0019"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None

_INDEXES = {
    "job": (["device_id", "id"], ["created_at"]),
    "problem": (["m", "n", "k"],),
    "trial": (["job_id", "status"],),
}


def upgrade() -> None:
    """Create the table and the indexes."""
    op.create_table(
        "job_retry",
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("of_job_id", sa.Uuid(), nullable=False),
        sa.CheckConstraint("job_id <> of_job_id", name=op.f("ck_job_retry_of_another")),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name=op.f("fk_job_retry_job_id")),
        sa.ForeignKeyConstraint(["of_job_id"], ["job.id"], name=op.f("fk_job_retry_of_job_id")),
        sa.PrimaryKeyConstraint("job_id", name=op.f("pk_job_retry")),
    )
    op.create_index(op.f("ix_job_retry_of_job_id"), "job_retry", ["of_job_id"])
    for table, indexes in _INDEXES.items():
        for columns in indexes:
            op.create_index(op.f(f"ix_{table}_{'_'.join(columns)}"), table, columns)


def downgrade() -> None:
    """Drop them."""
    for table, indexes in _INDEXES.items():
        for columns in indexes:
            op.drop_index(op.f(f"ix_{table}_{'_'.join(columns)}"), table)
    op.drop_table("job_retry")
