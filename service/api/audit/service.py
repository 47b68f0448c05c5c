"""Reads the audit log."""

from uuid import UUID

from pydantic import Field
from sqlalchemy.orm import Session

from db.queries.access import audit
from db.schema.access import AuditEvent
from service.api.audit.schemas import (
    AuditEventOut,
    AuditPage,
    Outcome,
)
from service.http.list_query import ID_EXAMPLE, NO_NUL, PageQuery


class AuditQuery(PageQuery):
    """Filters of the audit log; all must match."""

    key: UUID | None = Field(default=None, description="Only events of this key", examples=[ID_EXAMPLE])
    action: str | None = Field(
        default=None, max_length=200, pattern=NO_NUL, description="Only this action", examples=["job.create"]
    )
    subject: str | None = Field(
        default=None, max_length=200, pattern=NO_NUL, description="Only events with this subject", examples=[ID_EXAMPLE]
    )


def list_events(session: Session, wanted: AuditQuery) -> AuditPage:
    """Return the newest matching events older than `before`."""
    rows = audit.list_page(
        session,
        limit=wanted.limit + 1,
        before=wanted.before,
        key_id=wanted.key,
        action=wanted.action,
        subject=wanted.subject,
    )
    page, is_last = rows[: wanted.limit], len(rows) <= wanted.limit
    return AuditPage(events=[_describe(row) for row in page], next_before=None if is_last else page[-1].id)


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
