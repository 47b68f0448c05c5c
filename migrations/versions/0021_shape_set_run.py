"""Sets of shapes are run by one process at a time, and may end for a reason."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0021"
down_revision: str | None = "0020"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "shape_set_run",
        sa.Column("set_id", sa.Uuid(), nullable=False),
        sa.Column("holder", sa.String(), nullable=False),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=False),
        sa.Column("error", sa.String(), nullable=True),
        sa.CheckConstraint("length(holder) > 0", name=op.f("ck_shape_set_run_holder_not_empty")),
        sa.CheckConstraint("length(error) > 0", name=op.f("ck_shape_set_run_error_not_empty")),
        sa.ForeignKeyConstraint(["set_id"], ["shape_set.id"], name=op.f("fk_shape_set_run_set_id")),
        sa.PrimaryKeyConstraint("set_id", name=op.f("pk_shape_set_run")),
    )


def downgrade() -> None:
    """Drop the table."""
    op.drop_table("shape_set_run")
