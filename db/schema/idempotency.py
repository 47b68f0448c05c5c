"""Stored answers of idempotent requests."""

from datetime import datetime

from sqlalchemy import CheckConstraint, Index, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from db.schema.base import Base
from db.values import utc_now


class IdempotentAnswer(Base):
    """Answer to a request with an idempotency key; stored until `expires_at`.

    `caller` is the id of the API key, or the name of a user who needs none. `request_hash` is equal for equal
    requests. `body` is JSON; `location` the path of the created resource, if any.
    """

    __tablename__ = "idempotent_answer"
    __table_args__ = (
        UniqueConstraint("caller", "key"),
        Index(None, "expires_at"),
        CheckConstraint("length(caller) > 0", name="caller_not_empty"),
        CheckConstraint("length(key) > 0 AND length(key) <= 255", name="key_length"),
        CheckConstraint("length(request_hash) = 64", name="request_hash_is_sha256"),
        CheckConstraint("status >= 200 AND status < 300", name="status_is_success"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    caller: Mapped[str]
    key: Mapped[str]
    request_hash: Mapped[str]
    status: Mapped[int]
    location: Mapped[str | None]
    body: Mapped[str] = mapped_column(Text)
    made_at: Mapped[datetime] = mapped_column(default=utc_now)
    expires_at: Mapped[datetime]
