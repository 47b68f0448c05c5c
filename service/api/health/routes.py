"""/healthz and /readyz."""

from fastapi import APIRouter
from sqlalchemy import func, select

from db.migrate import check_migrated, head
from db.schema.job import Job
from service.api.health.checks import checks
from service.api.health.schemas import (
    CheckOut,
    Health,
    Readiness,
    WorkerOut,
)
from service.api.keys.guard import PUBLIC
from service.http.deps import ContextDep
from service.http.responses import OPEN

router = APIRouter(tags=["health"])


@router.get("/healthz", dependencies=[PUBLIC], openapi_extra=OPEN)
def read_health() -> Health:
    """Liveness: the process is up."""
    return Health()


@router.get("/readyz", dependencies=[PUBLIC], openapi_extra=OPEN)
def read_readiness(context: ContextDep) -> Readiness:
    """Readiness to serve requests: 503 unless the database is reachable and migrated. Also lists other
    missing parts.
    """
    check_migrated(context.database.engine)
    with context.database.read() as session:
        leased = select(func.count()).select_from(Job).where(Job.status == "running")
        running = session.scalar(leased.where(Job.lease_until >= context.now())) or 0
        stale = session.scalar(leased.where(Job.lease_until < context.now())) or 0
        queued = session.scalar(select(func.count()).select_from(Job).where(Job.status == "queued")) or 0
    found = [CheckOut(name="database", ok=True), CheckOut(name="migrations", ok=True), *checks(context)]
    return Readiness(
        status="ready" if all(check.ok for check in found) else "degraded",
        checks=found,
        database=head(),
        confinement=context.compiler.confinement(),
        workers=WorkerOut(running=running, stale=stale, queued=queued),
    )
