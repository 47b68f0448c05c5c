"""What searches were made from, and what they had been told at each proposal."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0028"
down_revision: str | None = "0027"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None


def upgrade() -> None:
    """Add the column and the table; of trials and jobs of before neither is known."""
    op.add_column("trial", sa.Column("told", sa.Integer(), nullable=True))
    op.create_table(
        "search_start",
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("told", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("given", sa.JSON(none_as_null=True), nullable=False),
        sa.CheckConstraint("told >= 0", name=op.f("ck_search_start_told_counted")),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name=op.f("fk_search_start_job_id")),
        sa.PrimaryKeyConstraint("job_id", "told", name=op.f("pk_search_start")),
    )


def downgrade() -> None:
    """Drop both."""
    op.drop_table("search_start")
    op.drop_column("trial", "told")
