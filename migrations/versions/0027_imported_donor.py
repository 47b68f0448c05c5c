"""What jobs that ran elsewhere began with."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0027"
down_revision: str | None = "0026"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "imported_donor",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("source_job", sa.Uuid(), nullable=True),
        sa.Column("source_recording", sa.String(), nullable=True),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("definition", sa.JSON(), nullable=False),
        sa.Column("device", sa.String(), nullable=False),
        sa.Column("config", sa.JSON(), nullable=False),
        sa.Column("distance", sa.Double(), nullable=False),
        sa.CheckConstraint("position >= 0", name=op.f("ck_imported_donor_position_counted")),
        sa.CheckConstraint("number >= 0", name=op.f("ck_imported_donor_number_counted")),
        sa.CheckConstraint("distance >= 0", name=op.f("ck_imported_donor_distance_not_negative")),
        sa.CheckConstraint(
            "(source_job IS NULL) <> (source_recording IS NULL)", name=op.f("ck_imported_donor_of_one_source")
        ),
        sa.CheckConstraint("length(source_recording) = 64", name=op.f("ck_imported_donor_source_recording_is_sha256")),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name=op.f("fk_imported_donor_job_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_imported_donor")),
        sa.UniqueConstraint("job_id", "position", name=op.f("uq_imported_donor_job_id_position")),
    )


def downgrade() -> None:
    """Drop it."""
    op.drop_table("imported_donor")
