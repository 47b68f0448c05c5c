"""Audit log of changes."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from db.schema.base import (
    Base,
    new_id,
    one_of,
    utc_now,
)

AUDIT_OUTCOMES = ("done", "unchanged", "refused")


class AuditEvent(Base):
    """One change, or one that a key was refused; written in the transaction of the change.

    `actor` is the name of the key, or the local user who needs none; `subject` is the changed object,
    `request_id` the one in the header of the response. Ids sort by time.
    """

    __tablename__ = "audit_event"
    __table_args__ = (
        Index(None, "key_id", "id"),
        Index(None, "action", "id"),
        CheckConstraint("length(actor) > 0", name="actor_not_empty"),
        CheckConstraint("length(action) > 0", name="action_not_empty"),
        CheckConstraint("length(subject) > 0", name="subject_not_empty"),
        CheckConstraint(one_of("outcome", AUDIT_OUTCOMES), name="outcome_known"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    at: Mapped[datetime] = mapped_column(default=utc_now)
    actor: Mapped[str]
    key_id: Mapped[UUID | None] = mapped_column(ForeignKey("api_key.id"))
    action: Mapped[str]
    subject: Mapped[str]
    request_id: Mapped[str | None]
    outcome: Mapped[str]
