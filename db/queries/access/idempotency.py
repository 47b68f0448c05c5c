"""Queries on stored answers of idempotent requests."""

from datetime import datetime

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from db.queries.insert import insert_missing
from db.schema.idempotency import IdempotentAnswer


def find(session: Session, caller: str, key: str, now: datetime) -> IdempotentAnswer | None:
    """Return the stored answer to the caller's request with that key, unless it has expired."""
    own = select(IdempotentAnswer).where(IdempotentAnswer.caller == caller, IdempotentAnswer.key == key)
    return session.scalars(own.where(IdempotentAnswer.expires_at > now)).first()


def claim(session: Session, *, caller: str, key: str, request_hash: str, now: datetime, expires_at: datetime) -> bool:
    """Claim a key for a request and delete expired answers; False when the key already has an answer.

    Waits for another transaction that claimed the same key.
    """
    session.execute(delete(IdempotentAnswer).where(IdempotentAnswer.expires_at <= now))
    values: dict[str, object] = {
        "caller": caller,
        "key": key,
        "request_hash": request_hash,
        "status": 200,  # replaced in the same transaction
        "body": "",
        "made_at": now,
        "expires_at": expires_at,
    }
    return insert_missing(session, IdempotentAnswer, values) is not None


def complete(session: Session, *, caller: str, key: str, status: int, location: str | None, body: str) -> None:
    """Store the answer to the request that this transaction claimed."""
    own = update(IdempotentAnswer).where(IdempotentAnswer.caller == caller, IdempotentAnswer.key == key)
    session.execute(own.values(status=status, location=location, body=body))
