"""Queries on process heartbeats."""

from datetime import datetime

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from db.queries.insert import insert_missing
from db.schema.presence import Presence


def note(session: Session, role: str, name: str, *, host: str, version: str, now: datetime) -> None:
    """Store a heartbeat of a process."""
    own = update(Presence).where(Presence.role == role, Presence.name == name)
    if session.scalar(own.values(seen_at=now).returning(Presence.name)) is None:
        values = {"role": role, "name": name, "host": host, "version": version, "started_at": now, "seen_at": now}
        insert_missing(session, Presence, values)


def leave(session: Session, role: str, name: str) -> None:
    """Delete the heartbeat of a process that ends."""
    session.execute(delete(Presence).where(Presence.role == role, Presence.name == name))


def forget(session: Session, before: datetime) -> None:
    """Delete heartbeats older than that moment."""
    session.execute(delete(Presence).where(Presence.seen_at < before))


def list_all(session: Session) -> list[Presence]:
    """Return all heartbeats, by role and name."""
    return list(session.scalars(select(Presence).order_by(Presence.role, Presence.name)))
