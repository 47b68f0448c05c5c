"""Errors of pages as pages: with a way back, or with the form to sign in."""

from http import HTTPStatus

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse

from service.dashboard.rendering import message_page, page
from service.errors import ServiceError


def _note_page(request: Request) -> None:
    request.state.page = True


# Declared by routes whose errors are read by people, before what may raise them.
PAGE = Depends(_note_page)


def problem_page(request: Request, error: ServiceError) -> HTMLResponse | None:
    """The page of an error; None where the request is not for a page."""
    if not getattr(request.state, "page", False):
        return None
    if error.status is HTTPStatus.UNAUTHORIZED:
        where = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        return sign_in_page(request, None, where if request.method == "GET" else "/")
    answer = message_page(request, error.status.phrase, error.detail, error.status)
    answer.headers.update(error.headers())
    return answer


def sign_in_page(request: Request, message: str | None, where: str) -> HTMLResponse:
    """The form that asks for a key, and goes to `where` with it; `message` says what was wrong with the last."""
    values = {"message": message, "where": where}
    answer = page(request, "sign_in.html", values, status=HTTPStatus.UNAUTHORIZED)
    answer.headers["WWW-Authenticate"] = 'Bearer realm="xetune"'
    return answer
