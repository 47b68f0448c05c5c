"""Which processes are there."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0018"
down_revision: str | None = "0017"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None


def upgrade() -> None:
    """Create the table; processes of this version say that they are there."""
    op.create_table(
        "presence",
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("host", sa.String(), nullable=False),
        sa.Column("version", sa.String(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("role IN ('worker', 'scheduler')", name=op.f("ck_presence_role_known")),
        sa.CheckConstraint("length(name) > 0", name=op.f("ck_presence_name_not_empty")),
        sa.CheckConstraint("length(host) > 0", name=op.f("ck_presence_host_not_empty")),
        sa.PrimaryKeyConstraint("role", "name", name=op.f("pk_presence")),
    )


def downgrade() -> None:
    """Drop the table."""
    op.drop_table("presence")
