"""Keys that requests show."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0004"
down_revision: str | None = "0003"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None

_IN_USE = sa.text("revoked_at IS NULL")


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "api_key",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("prefix", sa.String(), nullable=False),
        sa.Column("secret_sha256", sa.String(), nullable=False),
        sa.Column("scope", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("length(name) > 0", name=op.f("ck_api_key_name_not_empty")),
        sa.CheckConstraint("length(prefix) > 0", name=op.f("ck_api_key_prefix_not_empty")),
        sa.CheckConstraint("length(secret_sha256) = 64", name=op.f("ck_api_key_secret_sha256_is_sha256")),
        sa.CheckConstraint("scope IN ('read', 'tune', 'admin')", name=op.f("ck_api_key_scope_known")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_key")),
        sa.UniqueConstraint("prefix", name=op.f("uq_api_key_prefix")),
    )
    op.create_index(
        op.f("uq_api_key_name_in_use"),
        "api_key",
        ["name"],
        unique=True,
        sqlite_where=_IN_USE,
        postgresql_where=_IN_USE,
    )


def downgrade() -> None:
    """Drop the table: all keys are lost, and the service is open again on loopback."""
    op.drop_table("api_key")
