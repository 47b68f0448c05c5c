"""Energy of launches, and what searches weigh."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0025"
down_revision: str | None = "0024"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None

_OBJECTIVES = "'time', 'time-memory', 'time-energy'"


def upgrade() -> None:
    """Add both columns; of what was measured before no energy is known, and each method weighed what it does alone."""
    op.add_column("measurement", sa.Column("energy_uj", sa.Double(), nullable=True))
    with op.batch_alter_table("job_search") as table:
        table.add_column(sa.Column("objective", sa.String(), nullable=True))
        table.create_check_constraint(op.f("ck_job_search_objective_known"), f"objective IN ({_OBJECTIVES})")


def downgrade() -> None:
    """Drop both; a job that weighs energy is then one that weighs memory."""
    with op.batch_alter_table("job_search") as table:
        table.drop_constraint(op.f("ck_job_search_objective_known"), type_="check")
        table.drop_column("objective")
    op.drop_column("measurement", "energy_uj")
