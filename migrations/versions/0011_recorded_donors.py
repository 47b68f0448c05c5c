"""Which recorded configurations jobs began with."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0011"
down_revision: str | None = "0010"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "recorded_donor",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("recorded_trial_id", sa.Integer(), nullable=False),
        sa.Column("distance", sa.Double(), nullable=False),
        sa.CheckConstraint("position >= 0", name=op.f("ck_recorded_donor_position_counted")),
        sa.CheckConstraint("distance >= 0", name=op.f("ck_recorded_donor_distance_not_negative")),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name=op.f("fk_recorded_donor_job_id")),
        sa.ForeignKeyConstraint(
            ["recorded_trial_id"], ["recorded_trial.id"], name=op.f("fk_recorded_donor_recorded_trial_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_recorded_donor")),
        sa.UniqueConstraint("job_id", "position", name=op.f("uq_recorded_donor_job_id_position")),
    )


def downgrade() -> None:
    """Drop the table."""
    op.drop_table("recorded_donor")
