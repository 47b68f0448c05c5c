"""Queries on API keys."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from db.schema.access import ApiKey


def create(
    session: Session,
    *,
    name: str,
    prefix: str,
    secret_sha256: str,
    scope: str,
    now: datetime,
    expires_at: datetime | None,
) -> ApiKey:
    """Add a key.

    Raises:
        sqlalchemy.exc.IntegrityError: a key in use has the name, or any the prefix.
    """
    key = ApiKey(
        name=name, prefix=prefix, secret_sha256=secret_sha256, scope=scope, created_at=now, expires_at=expires_at
    )
    session.add(key)
    session.flush()
    return key


def any_made(session: Session) -> bool:
    """Return whether any key was ever made, including revoked and expired ones."""
    return session.scalar(select(ApiKey.id).limit(1)) is not None


def get(session: Session, key_id: UUID) -> ApiKey | None:
    """Return one key."""
    return session.get(ApiKey, key_id)


def by_prefix(session: Session, prefix: str) -> ApiKey | None:
    """Return the key with that prefix."""
    return session.scalars(select(ApiKey).where(ApiKey.prefix == prefix)).first()


def in_use(session: Session, name: str) -> ApiKey | None:
    """Return the key of that name that is not revoked."""
    return session.scalars(select(ApiKey).where(ApiKey.name == name, ApiKey.revoked_at.is_(None))).first()


def list_all(session: Session) -> list[ApiKey]:
    """Return all keys, the newest first."""
    return list(session.scalars(select(ApiKey).order_by(ApiKey.id.desc())))


def note_use(session: Session, key_id: UUID, now: datetime) -> None:
    """Store when a key was last used."""
    session.execute(update(ApiKey).where(ApiKey.id == key_id).values(last_used_at=now))
