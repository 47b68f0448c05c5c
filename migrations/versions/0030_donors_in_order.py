"""Positions of donors count through the three tables that keep a job's list."""

from collections.abc import Sequence

from alembic import op

revision: str = "0030"
down_revision: str | None = "0029"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None

_SAME = "SELECT 1 FROM {0} WHERE {0}.job_id = {1}.job_id AND {0}.position = {1}.position"
_BEFORE = "(SELECT count(*) FROM donor WHERE donor.job_id = recorded_donor.job_id)"


def upgrade() -> None:
    """Recorded donors come after those of jobs; an imported one that a merge brought again as a trial goes."""
    clash = _SAME.format("donor", "other")
    of_them = f"SELECT other.job_id FROM recorded_donor AS other WHERE EXISTS ({clash})"
    # Twice, since no two of a job may have one position meanwhile; below zero is refused.
    op.execute(f"UPDATE recorded_donor SET position = position + 1000000 WHERE job_id IN ({of_them})")
    op.execute(f"UPDATE recorded_donor SET position = position - 1000000 + {_BEFORE} WHERE position >= 1000000")
    for table in ("donor", "recorded_donor"):
        op.execute(f"DELETE FROM imported_donor WHERE EXISTS ({_SAME.format(table, 'imported_donor')})")


def downgrade() -> None:
    """Nothing: earlier versions read any positions."""
