"""API keys."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from db.schema.base import (
    Base,
    new_id,
    one_of,
    utc_now,
)

KEY_SCOPES = ("read", "tune", "admin")
_IN_USE = text("revoked_at IS NULL")


class ApiKey(Base):
    """A key in stored form: looked up by `prefix`; `secret_sha256` is the hash of the whole key, which is not stored.

    A revoked key stays for the audit log; its name may be used again.
    """

    __tablename__ = "api_key"
    __table_args__ = (
        UniqueConstraint("prefix"),
        Index("uq_api_key_name_in_use", "name", unique=True, sqlite_where=_IN_USE, postgresql_where=_IN_USE),
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
