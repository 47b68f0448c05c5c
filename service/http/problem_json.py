"""Rendering of every error as problem+json (RFC 9457)."""

import sys
from collections.abc import Mapping
from functools import cache
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from fastapi.routing import APIRoute
from pydantic import TypeAdapter
from starlette.exceptions import HTTPException
from starlette.routing import Match

from db.errors import DatabaseError
from service.errors import (
    PROBLEM_JSON,
    Malformed,
    Problem,
    ServiceError,
)
from service.http.known_fields import KnownFields, Schema, is_model
from service.http.validation_errors import SHOWN_ERRORS, faults_of
from service.refusals import REFUSALS, refusal_of


def add_problem_handlers(app: FastAPI) -> None:
    """Add the error handlers, which answer with problem+json, to the app."""

    @app.exception_handler(ServiceError)
    def _service(request: Request, error: ServiceError) -> Response:
        return answer(request, error)

    def _refused(request: Request, error: Exception) -> Response:
        return answer(request, refusal_of(error))

    for kind in (*REFUSALS, DatabaseError):
        app.add_exception_handler(kind, _refused)

    @app.exception_handler(RequestValidationError)
    def _malformed(request: Request, error: RequestValidationError) -> Response:
        known = _known_fields(request.scope.get("route"))
        return _service(request, Malformed(faults_of(error.errors()[:SHOWN_ERRORS], error.body, known)))

    @app.exception_handler(HTTPException)
    def _http(request: Request, error: HTTPException) -> Response:
        # Status numbers: their names differ between versions of Python.
        kind, detail, rule = {
            404: ("not-found", f"nothing is at {request.url.path}", None),
            405: ("method-not-allowed", f"{request.method} is not allowed here", None),
            408: ("request-timeout", str(error.detail), "body-time"),
            413: ("too-large", str(error.detail), "body-bytes"),
        }.get(error.status_code, (f"http-{error.status_code}", str(error.detail), None))
        if isinstance(error.__cause__, RecursionError):
            kind, detail, rule = "bad-request", "the body's JSON is nested too deeply to be read", "json-nesting"
        elif isinstance(error.__cause__, UnicodeDecodeError):
            kind, detail, rule = "bad-request", f"the body is no JSON in UTF-8: {error.__cause__}", "json-encoding"
        elif isinstance(error.__cause__, ValueError) and "integer string" in str(error.__cause__):
            most = sys.get_int_max_str_digits()
            kind, rule = "bad-request", "json-number"
            detail = f"the body's JSON has a number of more than {most} digits; send a smaller one"
        headers = dict(error.headers or {})
        if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            headers["Allow"] = ", ".join(_methods(app, request))
        status = HTTPStatus(error.status_code)
        page = _page(request, status, detail, headers)
        return page or _answer(request, status, kind, detail, headers=headers, rule=rule)


def render_fault(request: Request, error: Exception) -> Response:
    """Return the response to a request that failed with an internal error."""
    detail = (
        f"a fault of this service ({type(error).__name__}); its log has the details under this answer's X-Request-Id"
    )
    status = HTTPStatus.INTERNAL_SERVER_ERROR
    return _page(request, status, detail) or _answer(request, status, "internal", detail)


def answer(request: Request, error: ServiceError) -> Response:
    """Return the response of a ServiceError: a page if a page was requested, else problem+json."""
    page = _page(request, error.status, error.detail, error.headers(), error.rule)
    return page or render(request, error)


def render(request: Request, error: ServiceError) -> JSONResponse:
    """Render a ServiceError as problem+json; a field error without a rule has that of the problem."""
    return _answer(
        request,
        error.status,
        error.kind,
        error.detail,
        headers=error.headers(),
        rule=error.rule,
        errors=error.errors and [fault.model_copy(update={"rule": fault.rule or error.rule}) for fault in error.errors],
        next=error.next_requests,
    )


def _page(
    request: Request, status: HTTPStatus, detail: str, headers: Mapping[str, str] | None = None, rule: str | None = None
) -> Response | None:
    """Return the page of an error; None unless a page was requested."""
    if not _wants_page(request):
        return None
    from service.dashboard.error_pages import problem_page  # imports templates, which programs do not need

    return problem_page(request, status, detail, headers, rule)


def _answer(
    request: Request,
    status: HTTPStatus,
    kind: str,
    detail: str,
    headers: Mapping[str, str] | None = None,
    rule: str | None = None,
    **extra: object,
) -> JSONResponse:
    problem = Problem.model_validate(
        {
            "type": f"urn:xetune:problem:{kind}",
            "title": status.phrase,
            "status": status.value,
            "detail": detail,
            "instance": request.url.path,
            "rule": rule or kind,
            **extra,
        }
    )
    return JSONResponse(
        problem.model_dump(mode="json", exclude_none=True),
        status_code=status,
        headers=dict(headers or {}),
        media_type=PROBLEM_JSON,
    )


def _wants_page(request: Request) -> bool:
    return getattr(request.state, "page", False) or _accepts_page(request)


def _accepts_page(request: Request) -> bool:
    """Return whether a browser requests a page to show: scripts of pages and other programs accept JSON or
    anything.
    """
    kinds = [kind.partition(";")[0].strip().lower() for kind in request.headers.get("accept", "").split(",")]
    return "text/html" in kinds and "application/json" not in kinds[: kinds.index("text/html")]


def _methods(app: FastAPI, request: Request) -> list[str]:
    """Return the allowed methods of the path; the router itself returns those of one route only."""
    return [
        method
        for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
        if any(route.matches({**request.scope, "method": method})[0] is Match.FULL for route in app.routes)
    ]


def _known_fields(route: object) -> KnownFields:
    """Return the fields of the body and of the query of a route; none of what is no route of the API."""
    parts = dict[str, Schema]()
    if isinstance(route, APIRoute) and route.body_field is not None:
        parts["body"] = _schema(route.body_field.field_info.annotation)
    names = dict[str, Schema]()
    for parameter in route.dependant.query_params if isinstance(route, APIRoute) else ():
        if is_model(annotation := parameter.field_info.annotation):
            parts["query"] = _schema(annotation)
        else:
            names[parameter.alias] = {}
    return KnownFields({"query": {"properties": names}} | parts)


@cache
def _schema(annotation: Any) -> Schema:
    return TypeAdapter(annotation).json_schema()
