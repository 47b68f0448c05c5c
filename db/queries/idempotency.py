"""Queries on answers that are given again."""

from datetime import datetime

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from db.queries.insert import insert_missing
from db.schema import IdempotentAnswer


def find(session: Session, caller: str, key: str, now: datetime) -> IdempotentAnswer | None:
    """What the caller's request with that key was answered, unless that has expired."""
    own = select(IdempotentAnswer).where(IdempotentAnswer.caller == caller, IdempotentAnswer.key == key)
    return session.scalars(own.where(IdempotentAnswer.expires_at > now)).first()


def claim(session: Session, *, caller: str, key: str, request_hash: str, now: datetime, expires_at: datetime) -> bool:
    """Begin to answer a request, and forget answers that have expired; False when one with the key was answered.

    Waits for another transaction that claimed the same key.
    """
    session.execute(delete(IdempotentAnswer).where(IdempotentAnswer.expires_at <= now))
    values: dict[str, object] = {
        "caller": caller,
        "key": key,
        "request_hash": request_hash,
        "status": 200,  # until the same transaction has the answer
        "body": "",
        "made_at": now,
        "expires_at": expires_at,
    }
    return insert_missing(session, IdempotentAnswer, values)


def complete(session: Session, *, caller: str, key: str, status: int, location: str | None, body: str) -> None:
    """Keep the answer to the request that this transaction claimed."""
    own = update(IdempotentAnswer).where(IdempotentAnswer.caller == caller, IdempotentAnswer.key == key)
    session.execute(own.values(status=status, location=location, body=body))
