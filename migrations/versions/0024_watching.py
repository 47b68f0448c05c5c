"""Requests that queued jobs, and counts of what has no rows of its own."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0024"
down_revision: str | None = "0023"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "job_origin",
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("request_id", sa.String(), nullable=False),
        sa.CheckConstraint("length(request_id) BETWEEN 1 AND 64", name=op.f("ck_job_origin_request_id_length")),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name=op.f("fk_job_origin_job_id")),
        sa.PrimaryKeyConstraint("job_id", name=op.f("pk_job_origin")),
    )
    op.create_table(
        "tally",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("number >= 0", name=op.f("ck_tally_not_negative")),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_tally")),
    )


def downgrade() -> None:
    """Drop them."""
    op.drop_table("tally")
    op.drop_table("job_origin")
