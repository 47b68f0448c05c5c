"""/v1/audit."""

from typing import Annotated

from fastapi import Query

from service.api.audit import service
from service.api.audit.schemas import AuditPage
from service.api.audit.service import AuditQuery
from service.api.keys.guard import ADMIN, guarded_router
from service.http.deps import ReadSessionDep

router = guarded_router("/v1/audit", "audit")


@router.get("", dependencies=[ADMIN])
def list_audit_events(session: ReadSessionDep, query: Annotated[AuditQuery, Query()]) -> AuditPage:
    """Audit log, newest first."""
    return service.list_events(session, query)
