"""Who changed what."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0005"
down_revision: str | None = "0004"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "audit_event",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("key_id", sa.Uuid(), nullable=True),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("request_id", sa.String(), nullable=True),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.CheckConstraint("length(actor) > 0", name=op.f("ck_audit_event_actor_not_empty")),
        sa.CheckConstraint("length(action) > 0", name=op.f("ck_audit_event_action_not_empty")),
        sa.CheckConstraint("length(subject) > 0", name=op.f("ck_audit_event_subject_not_empty")),
        sa.CheckConstraint("outcome IN ('done', 'unchanged', 'refused')", name=op.f("ck_audit_event_outcome_known")),
        sa.ForeignKeyConstraint(["key_id"], ["api_key.id"], name=op.f("fk_audit_event_key_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_event")),
    )
    op.create_index(op.f("ix_audit_event_key_id_id"), "audit_event", ["key_id", "id"])
    op.create_index(op.f("ix_audit_event_action_id"), "audit_event", ["action", "id"])


def downgrade() -> None:
    """Drop the table; what was done is not told any more."""
    op.drop_table("audit_event")
