"""How jobs search, when they have found enough, and who proposed each trial."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0014"
down_revision: str | None = "0013"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None

_METHODS = "'portfolio', 'tpe', 'cmaes', 'nsga2', 'gp', 'model', 'random', 'exhaustive'"


def upgrade() -> None:
    """Create the table and the column; of jobs that are there already neither is known."""
    op.create_table(
        "job_search",
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("method", sa.String(), nullable=False),
        sa.Column("no_gain", sa.Integer(), nullable=True),
        sa.Column("roofline", sa.Double(), nullable=True),
        sa.CheckConstraint(f"method IN ({_METHODS})", name=op.f("ck_job_search_method_known")),
        sa.CheckConstraint("no_gain >= 1", name=op.f("ck_job_search_no_gain_positive")),
        sa.CheckConstraint("roofline > 0 AND roofline <= 1", name=op.f("ck_job_search_roofline_is_fraction")),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name=op.f("fk_job_search_job_id")),
        sa.PrimaryKeyConstraint("job_id", name=op.f("pk_job_search")),
    )
    op.add_column("trial", sa.Column("proposer", sa.String(), nullable=True))


def downgrade() -> None:
    """Drop the table and the column."""
    op.drop_column("trial", "proposer")
    op.drop_table("job_search")
