"""GET /v1/fleet."""

from typing import Annotated

from fastapi import Query

from service.api.fleet.schemas import FleetOut, FleetQuery
from service.api.fleet.service import read_fleet
from service.api.keys.guard import (
    READ,
    guarded_router,
)
from service.http.deps import ContextDep, ReadSessionDep

router = guarded_router("/v1/fleet", "fleet")


@router.get("", dependencies=[READ])
def read_fleet_over_time(
    asked: Annotated[FleetQuery, Query()], context: ContextDep, session: ReadSessionDep
) -> FleetOut:
    """Jobs, trials, failures, prediction errors and gains by device and week or day."""
    return read_fleet(session, asked, context.now())
