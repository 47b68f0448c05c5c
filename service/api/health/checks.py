"""Checks of the parts that a service depends on."""

from collections.abc import Iterator

from sqlalchemy import func, select

from db.queries.cluster import heartbeats
from db.schema.cluster import Coordinator
from service.api.health.schemas import CheckOut
from service.http.context import Context
from service.jobs.heartbeat import (
    Role,
    is_alive,
)


def checks(context: Context) -> Iterator[CheckOut]:
    """Check each part besides the database; without these, requests are served but jobs may not run.

    Raises:
        DatabaseError: the database does not answer.
    """
    yield _artifacts(context)
    yield _compiler(context)
    with context.database.read() as session:
        rows = heartbeats.list_all(session)
        leads = session.scalar(select(func.count()).where(Coordinator.expires_at >= context.now())) or 0
    alive = {row.role for row in rows if is_alive(row, context.now(), context.settings.heartbeat_s)}
    yield _process(Role.WORKER, alive, "jobs wait until `xetune worker` runs somewhere with this database")
    yield _process(Role.SCHEDULER, alive, "schedules wait until a service with XETUNE_SCHEDULER=true runs")
    lacks = "none has the lease, so that no job is begun; one takes it within XETUNE_COORDINATOR_LEASE_S of its start"
    yield CheckOut(name="coordinator", ok=leads > 0, detail=None if leads > 0 else lacks)


def _artifacts(context: Context) -> CheckOut:
    fault = context.storage.fault()
    return CheckOut(name="artifacts", ok=fault is None, detail=fault)


def _compiler(context: Context) -> CheckOut:
    if context.compiler.confinement() is None:
        detail = "no confined process starts, so that nothing is compiled on request; the log says why"
        return CheckOut(name="compiler", ok=False, detail=detail)
    return CheckOut(name="compiler", ok=True)


def _process(role: Role, alive: set[str], otherwise: str) -> CheckOut:
    ok = role.value in alive
    detail = f"none was seen lately: one that has just started is seen within some seconds, else {otherwise}"
    return CheckOut(name=role.value, ok=ok, detail=None if ok else detail)
