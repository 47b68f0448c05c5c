"""Hours in which a schedule may run take the place of windows of maintenance."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0031"
down_revision: str | None = "0030"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None

_HOURS = "hours VARCHAR CONSTRAINT ck_schedule_hours_are_two_times CHECK (length(hours) = 11)"


def upgrade() -> None:
    """Add the column, drop the table."""
    op.drop_table("maintenance_window")
    op.execute(f"ALTER TABLE schedule ADD COLUMN {_HOURS}")


def downgrade() -> None:
    """Drop the column, make the table again."""
    op.execute("ALTER TABLE schedule DROP COLUMN hours")
    op.create_table(
        "maintenance_window",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("device", sa.String(), nullable=True),
        sa.Column("cron", sa.String(), nullable=True),
        sa.Column("timezone", sa.String(), nullable=True),
        sa.Column("duration_s", sa.Integer(), nullable=True),
        sa.Column("starts_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ends_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("length(name) > 0", name=op.f("ck_maintenance_window_name_not_empty")),
        sa.CheckConstraint("length(device) > 0", name=op.f("ck_maintenance_window_device_not_empty")),
        sa.CheckConstraint(
            "(cron IS NULL) = (timezone IS NULL) AND (cron IS NULL) = (duration_s IS NULL)",
            name=op.f("ck_maintenance_window_recurs_whole"),
        ),
        sa.CheckConstraint("(starts_at IS NULL) = (ends_at IS NULL)", name=op.f("ck_maintenance_window_once_whole")),
        sa.CheckConstraint("(cron IS NULL) <> (starts_at IS NULL)", name=op.f("ck_maintenance_window_recurs_or_once")),
        sa.CheckConstraint("duration_s >= 1", name=op.f("ck_maintenance_window_duration_positive")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_maintenance_window")),
        sa.UniqueConstraint("name", name=op.f("uq_maintenance_window_name")),
    )
