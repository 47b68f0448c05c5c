"""/v1/audit."""

from typing import Annotated
from uuid import UUID

from fastapi import Query

from service.api.audit import service
from service.api.audit.schemas import AuditPage
from service.api.keys.guard import (
    ADMIN,
    guarded_router,
)
from service.http.deps import ReadSessionDep

router = guarded_router("/v1/audit", "audit")

_ID = "01970a3c-0000-7000-8000-000000000000"
_TEXT = r"^[^\x00]*$"  # PostgreSQL has no NUL


@router.get("", dependencies=[ADMIN])
def list_audit_events(
    session: ReadSessionDep,
    before: Annotated[UUID | None, Query(description="`next_before` of the page before", examples=[_ID])] = None,
    limit: Annotated[
        int, Query(ge=1, le=200, description="Maximum number of events in the response", examples=[50])
    ] = 50,
    key: Annotated[UUID | None, Query(description="Only events of this key", examples=[_ID])] = None,
    action: Annotated[
        str | None, Query(max_length=200, pattern=_TEXT, description="Only this action", examples=["job.create"])
    ] = None,
    subject: Annotated[
        str | None, Query(max_length=200, pattern=_TEXT, description="Only events with this subject", examples=[_ID])
    ] = None,
) -> AuditPage:
    """Audit log, newest first."""
    return service.list_events(session, before, limit, key, action, subject)
