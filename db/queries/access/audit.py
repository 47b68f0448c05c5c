"""Queries on the audit log."""

from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.queries.insert import insert_row
from db.schema.access import AuditEvent


def add(
    session: Session,
    *,
    actor: str,
    key_id: UUID | None,
    action: str,
    subject: str,
    request_id: str | None,
    outcome: str,
) -> None:
    """Add an event, in the transaction of the change that it records."""
    session.flush()  # a new key, to which the event refers
    values = {"actor": actor, "key_id": key_id, "action": action, "subject": subject, "request_id": request_id}
    insert_row(session, AuditEvent, {**values, "outcome": outcome})


def list_page(
    session: Session,
    *,
    limit: int,
    before: UUID | None = None,
    key_id: UUID | None = None,
    action: str | None = None,
    subject: str | None = None,
) -> list[AuditEvent]:
    """Return the newest events, at most `limit`, older than `before`."""
    query = select(AuditEvent).order_by(AuditEvent.id.desc()).limit(limit)
    if before is not None:
        query = query.where(AuditEvent.id < before)
    if key_id is not None:
        query = query.where(AuditEvent.key_id == key_id)
    if action is not None:
        query = query.where(AuditEvent.action == action)
    if subject is not None:
        query = query.where(AuditEvent.subject == subject)
    return list(session.scalars(query))
