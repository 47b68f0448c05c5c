"""Answers that are given again when a client repeats a request."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0016"
down_revision: str | None = "0015"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "idempotent_answer",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("caller", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("request_hash", sa.String(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("location", sa.String(), nullable=True),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("length(caller) > 0", name=op.f("ck_idempotent_answer_caller_not_empty")),
        sa.CheckConstraint("length(key) > 0 AND length(key) <= 255", name=op.f("ck_idempotent_answer_key_length")),
        sa.CheckConstraint("length(request_hash) = 64", name=op.f("ck_idempotent_answer_request_hash_is_sha256")),
        sa.CheckConstraint("status >= 200 AND status < 300", name=op.f("ck_idempotent_answer_status_is_success")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_idempotent_answer")),
        sa.UniqueConstraint("caller", "key", name=op.f("uq_idempotent_answer_caller_key")),
    )
    op.create_index(op.f("ix_idempotent_answer_expires_at"), "idempotent_answer", ["expires_at"])


def downgrade() -> None:
    """Drop the table: repeated requests do their work again."""
    op.drop_table("idempotent_answer")
