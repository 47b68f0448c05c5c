"""Who gives out work, and which devices it reaches."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0019"
down_revision: str | None = "0018"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "coordinator",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("holder", sa.String(), nullable=False),
        sa.Column("fence", sa.BigInteger(), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("length(name) > 0", name=op.f("ck_coordinator_name_not_empty")),
        sa.CheckConstraint("length(holder) > 0", name=op.f("ck_coordinator_holder_not_empty")),
        sa.CheckConstraint("fence >= 1", name=op.f("ck_coordinator_fence_counted")),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_coordinator")),
        sa.UniqueConstraint("name", "fence", name=op.f("uq_coordinator_name_fence")),
    )
    op.create_table(
        "reached_device",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("coordinator", sa.String(), nullable=False),
        sa.Column("place", sa.String(), nullable=False),
        sa.Column("host", sa.String(), nullable=False),
        sa.Column("device_id", sa.Integer(), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("length(place) > 0", name=op.f("ck_reached_device_place_not_empty")),
        sa.CheckConstraint("length(host) > 0", name=op.f("ck_reached_device_host_not_empty")),
        sa.ForeignKeyConstraint(
            ["coordinator"], ["coordinator.name"], name=op.f("fk_reached_device_coordinator"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["device_id"], ["device.id"], name=op.f("fk_reached_device_device_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_reached_device")),
        sa.UniqueConstraint(
            "coordinator", "place", "device_id", name=op.f("uq_reached_device_coordinator_place_device_id")
        ),
    )


def downgrade() -> None:
    """Drop the tables."""
    op.drop_table("reached_device")
    op.drop_table("coordinator")
