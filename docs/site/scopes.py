"""The scope that each route requires, from the routes of the application."""

from collections.abc import Iterator

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute

from service.api.keys.guard import Needs
from service.app import create_app
from service.settings import Settings


def scopes() -> str:
    """Return a table of all routes with the scope that they declare as a dependency."""
    app = create_app(Settings(scheduler=False))
    rows = sorted(
        {(route.path_format, method, _scope(route)) for route in _routes(app) for method in route.methods or ()}
    )
    lines = [f"| {method} | `{path}` | {scope} |" for path, method, scope in rows]
    return "\n".join(["| method | path | scope |", "|---|---|---|", *lines])


def _scope(route: APIRoute) -> str:
    (needs,) = [each.call for each in route.dependant.dependencies if isinstance(each.call, Needs)]
    return "none" if needs.scope is None else needs.scope.value


def _routes(router: APIRouter | FastAPI) -> Iterator[APIRoute]:
    for route in router.routes:
        if isinstance(route, APIRoute):
            yield route
        else:  # a router that was included
            yield from _routes(route.original_router)  # pyright: ignore[reportAttributeAccessIssue]
