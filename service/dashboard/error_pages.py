"""Errors as pages: what happened, what to do, and the form to sign in where a key is what is missing."""

from collections.abc import Mapping
from http import HTTPStatus

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse

from service.dashboard.rendering import page

_SCOPE, _NO_KEY = "scope", "key-missing"
_HEADINGS = {
    HTTPStatus.NOT_FOUND: "Page not found",
    HTTPStatus.FORBIDDEN: "Access denied",
    HTTPStatus.UNPROCESSABLE_ENTITY: "Invalid address",
    HTTPStatus.INTERNAL_SERVER_ERROR: "Internal error",
    HTTPStatus.SERVICE_UNAVAILABLE: "Database unavailable",
}


def _note_page(request: Request) -> None:
    request.state.page = True


# Declared by routes that are pages whoever asks, before what may raise errors.
PAGE = Depends(_note_page)


def problem_page(
    request: Request, status: HTTPStatus, detail: str, headers: Mapping[str, str] | None = None, rule: str | None = None
) -> HTMLResponse:
    """Return the page of an error."""
    where = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    again = where if request.method == "GET" else "/"
    if status is HTTPStatus.UNAUTHORIZED:
        return sign_in_page(request, None if rule == _NO_KEY else detail, again)
    values = {
        "status": status.value,
        "heading": _HEADINGS.get(status, status.phrase),
        "detail": detail,
        "again": again,
        "asks_for_key": status is HTTPStatus.FORBIDDEN and rule == _SCOPE,
        "request_id": getattr(request.state, "request_id", None)
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR
        else None,
    }
    answer = page(request, "problem.html", values, status=status)
    answer.headers.update(headers or {})
    return answer


def sign_in_page(
    request: Request, message: str | None, where: str, status: HTTPStatus = HTTPStatus.UNAUTHORIZED
) -> HTMLResponse:
    """The form that asks for a key, and goes to `where` with it; `message` says what was wrong with the last."""
    answer = page(request, "sign_in.html", {"message": message, "where": where}, status=status)
    if status is HTTPStatus.UNAUTHORIZED:
        answer.headers["WWW-Authenticate"] = 'Bearer realm="xetune"'
    return answer
