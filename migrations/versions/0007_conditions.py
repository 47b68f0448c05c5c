"""Under what conditions times were measured."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0007"
down_revision: str | None = "0006"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None

_COLUMNS = (("stopped_early", sa.Boolean()), ("first_ratio", sa.Double()), ("clock_mhz", sa.Double()))


def upgrade() -> None:
    """Add the columns; of times that are there already the conditions are not known."""
    for name, kind in _COLUMNS:
        op.add_column("measurement", sa.Column(name, kind, nullable=True))


def downgrade() -> None:
    """Drop the columns."""
    for name, _ in _COLUMNS:
        op.drop_column("measurement", name)
