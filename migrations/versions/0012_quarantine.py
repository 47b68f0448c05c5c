"""Devices that get no jobs for a while."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0012"
down_revision: str | None = "0011"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "device_quarantine",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("host", sa.String(), nullable=False),
        sa.Column("slug", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("job_id", sa.Uuid(), nullable=True),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("length(host) > 0", name=op.f("ck_device_quarantine_host_not_empty")),
        sa.CheckConstraint("length(slug) > 0", name=op.f("ck_device_quarantine_slug_not_empty")),
        sa.CheckConstraint("length(reason) > 0", name=op.f("ck_device_quarantine_reason_not_empty")),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name=op.f("fk_device_quarantine_job_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_device_quarantine")),
        sa.UniqueConstraint("host", "slug", name=op.f("uq_device_quarantine_host_slug")),
    )


def downgrade() -> None:
    """Drop the table: all devices get jobs."""
    op.drop_table("device_quarantine")
