"""API keys, and the audit log of changes."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from db.schema.base import Base, one_of
from db.values import new_id, utc_now

KEY_SCOPES = ("read", "tune", "admin")
_IN_USE = text("revoked_at IS NULL")


class ApiKey(Base):
    """A key in stored form: looked up by `prefix`; `secret_sha256` is the hash of the whole key, which is not stored.

    A revoked key stays for the audit log; its name may be used again.
    """

    __tablename__ = "api_key"
    __table_args__ = (
        UniqueConstraint("prefix"),
        Index("uq_api_key_name_in_use", "name", unique=True, sqlite_where=_IN_USE),
        CheckConstraint("length(name) > 0", name="name_not_empty"),
        CheckConstraint("length(prefix) > 0", name="prefix_not_empty"),
        CheckConstraint("length(secret_sha256) = 64", name="secret_sha256_is_sha256"),
        CheckConstraint(one_of("scope", KEY_SCOPES), name="scope_known"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    name: Mapped[str]
    prefix: Mapped[str]
    secret_sha256: Mapped[str]
    scope: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    expires_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]


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
