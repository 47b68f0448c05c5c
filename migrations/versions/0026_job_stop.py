"""Why jobs ended."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0026"
down_revision: str | None = "0025"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None

_STOPS = "'trials', 'seconds', 'exhausted', 'no_gain', 'roofline', 'cancelled'"


def upgrade() -> None:
    """Create the table; of jobs of before it is not known."""
    op.create_table(
        "job_stop",
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.CheckConstraint(f"reason IN ({_STOPS})", name=op.f("ck_job_stop_reason_known")),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name=op.f("fk_job_stop_job_id")),
        sa.PrimaryKeyConstraint("job_id", name=op.f("pk_job_stop")),
    )


def downgrade() -> None:
    """Drop it."""
    op.drop_table("job_stop")
