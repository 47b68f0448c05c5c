"""Files are found by what they hold."""

from collections.abc import Sequence

from alembic import op

revision: str = "0015"
down_revision: str | None = "0014"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None


def upgrade() -> None:
    """Index the hashes of files."""
    op.create_index(op.f("ix_artifact_sha256"), "artifact", ["sha256"])


def downgrade() -> None:
    """Drop the index."""
    op.drop_index(op.f("ix_artifact_sha256"), table_name="artifact")
