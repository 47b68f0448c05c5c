"""How the numbers of a proof were compared."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0010"
down_revision: str | None = "0009"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None


def upgrade() -> None:
    """Add the column; earlier proofs compared elements."""
    op.add_column("trial", sa.Column("proof_method", sa.String(), nullable=True))


def downgrade() -> None:
    """Drop the column."""
    op.drop_column("trial", "proof_method")
