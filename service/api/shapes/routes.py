"""/v1/shape-sets."""

from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from fastapi import Path, Query, Response

from service.api.keys.guard import (
    READ,
    TUNE,
    CallerDep,
    guarded_router,
)
from service.api.shapes import service
from service.api.shapes.schemas import (
    PresetList,
    ShapeSetBody,
    ShapeSetOut,
    ShapeSetPage,
)
from service.http.deps import (
    ContextDep,
    DatabaseDep,
    ReadSessionDep,
)
from service.http.idempotency import OnceDep
from service.http.list_query import PageQuery
from service.http.responses import (
    BAD_REQUEST,
    CONFLICT,
    NOT_FOUND,
    TOO_LARGE,
    TOO_MANY,
    Responses,
)

router = guarded_router("/v1/shape-sets", "shape sets")

_ID = "01970a3c-0000-7000-8000-000000000000"
_LOCATION: dict[str, object] = {
    "headers": {"Location": {"description": "Path of the set", "schema": {"type": "string"}}},
    "description": "Queued",
}
_CREATED: Responses = {
    202: _LOCATION,
    200: _LOCATION | {"model": ShapeSetOut, "description": "The same set is active"},
}
SetId = Annotated[UUID, Path(description="Id of the set", examples=[_ID])]


@router.post(
    "", status_code=202, responses=_CREATED | BAD_REQUEST | CONFLICT | TOO_LARGE | TOO_MANY, dependencies=[TUNE]
)
def create_shape_set(
    body: ShapeSetBody, context: ContextDep, response: Response, by: CallerDep, once: OnceDep
) -> ShapeSetOut:
    """Queue a set of shapes for a worker. If an identical set is active, that one is returned instead."""
    # Imported here: lists need nothing of devices and searches.
    from service.api.shapes.requests import submit, understand

    request = understand(body, context.devices, context.settings)
    with once.write() as session:
        set_id, is_new = submit(session, request, context.settings.max_active_jobs, by)
        status = HTTPStatus.ACCEPTED if is_new else HTTPStatus.OK
        found = service.read_set(session, set_id)
        return once.answer(session, response, found, status, f"/v1/shape-sets/{set_id}")


@router.get("", dependencies=[READ])
def list_shape_sets(session: ReadSessionDep, query: Annotated[PageQuery, Query()]) -> ShapeSetPage:
    """List sets of shapes, newest first."""
    return service.list_sets(session, query.limit, query.before)


@router.get("/presets", dependencies=[READ])
def list_presets() -> PresetList:
    """List the models whose layers are available as presets."""
    return service.presets()


@router.get("/{set_id:uuid}", responses=NOT_FOUND, dependencies=[READ])
def read_shape_set(
    set_id: SetId, session: ReadSessionDep, query: Annotated[service.ShapeSetQuery, Query()]
) -> ShapeSetOut:
    """Return a set: each shape with its best, and, after the comparison, the fewest kernels that keep all
    within a bound.
    """
    return service.read_set(session, set_id, query.within)


@router.post("/{set_id:uuid}/cancel", responses=NOT_FOUND, dependencies=[TUNE])
def cancel_shape_set(set_id: SetId, database: DatabaseDep, by: CallerDep) -> ShapeSetOut:
    """Cancel a set and its jobs; results are kept."""
    with database.write() as session:
        return service.cancel(session, set_id, by)


@router.delete("/{set_id:uuid}", status_code=204, responses=NOT_FOUND | CONFLICT, dependencies=[TUNE])
def delete_shape_set(set_id: SetId, database: DatabaseDep, by: CallerDep) -> Response:
    """Delete a set that is over; its jobs and results are kept."""
    with database.write() as session:
        service.forget(session, set_id, by)
    return Response(status_code=204)
