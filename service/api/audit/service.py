"""Reads the audit log."""

from uuid import UUID

from sqlalchemy.orm import Session

from db.queries.access import audit
from db.schema.access import AuditEvent
from service.api.audit.schemas import (
    AuditEventOut,
    AuditPage,
    Outcome,
)


def list_events(
    session: Session,
    before: UUID | None,
    limit: int,
    key_id: UUID | None = None,
    action: str | None = None,
    subject: str | None = None,
) -> AuditPage:
    """Return the newest events older than `before`, filtered by key, action and subject."""
    rows = audit.list_page(session, limit=limit + 1, before=before, key_id=key_id, action=action, subject=subject)
    page = rows[:limit]
    return AuditPage(events=[_describe(row) for row in page], next_before=page[-1].id if len(rows) > limit else None)


def _describe(row: AuditEvent) -> AuditEventOut:
    return AuditEventOut(
        id=row.id,
        at=row.at,
        actor=row.actor,
        key_id=row.key_id,
        action=row.action,
        subject=row.subject,
        request_id=row.request_id,
        outcome=Outcome(row.outcome),
    )
