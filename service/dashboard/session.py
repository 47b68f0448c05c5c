"""Sign-in: a form sends an API key, which is then stored in a cookie that scripts cannot read.

A plain form is redirected to the page that required the key; a script (it accepts JSON) gets 204 or a
problem.

The cookie is SameSite=Strict, so that cross-site requests come without it; changes with it, including signing
in and out, must also be same-origin by the browser's headers.
"""

from http import HTTPStatus
from typing import Annotated
from urllib.parse import parse_qs

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from service.api.keys.callers import (
    COOKIE,
    is_same_origin,
    read_key,
)
from service.api.keys.guard import PUBLIC
from service.dashboard.error_pages import (
    PAGE,
    sign_in_page,
)
from service.errors import Forbidden, Unauthorized
from service.http.deps import ContextDep

router = APIRouter(prefix="/session", include_in_schema=False, default_response_class=HTMLResponse)

_MOST_FIELDS = 8


async def _form(request: Request) -> dict[str, str]:
    """The fields of a form as browsers send it; of those sent twice the last."""
    text = (await request.body()).decode("ascii", errors="replace")
    try:
        return {name: values[-1] for name, values in parse_qs(text, max_num_fields=_MOST_FIELDS).items()}
    except ValueError:  # more fields than any form of ours has
        return {}


FormDep = Annotated[dict[str, str], Depends(_form)]


@router.get("", dependencies=[PAGE, PUBLIC])
def read_form(request: Request) -> HTMLResponse:
    """Show only the form, after a key that was refused."""
    return sign_in_page(request, None, "/", HTTPStatus.OK)


@router.post("", dependencies=[PUBLIC])
def sign_in(request: Request, context: ContextDep, form: FormDep) -> Response:
    """Store a valid key in the browser, and redirect to the page that required it."""
    _check_origin(request)
    key, where = form.get("key", "").strip(), _own_path(form.get("next", "/"))
    stays = "application/json" in request.headers.get("accept", "")
    try:
        with context.database.read() as session:
            read_key(session, key, context.now())
    except Unauthorized as error:
        if stays:
            raise
        return sign_in_page(request, error.detail, where)
    answer = Response(status_code=HTTPStatus.NO_CONTENT) if stays else RedirectResponse(where, HTTPStatus.SEE_OTHER)
    answer.set_cookie(COOKIE, key, httponly=True, samesite="strict", secure=request.url.scheme == "https")
    return answer


@router.post("/end", dependencies=[PAGE, PUBLIC])
def sign_out(request: Request) -> Response:
    """Delete the key from the browser."""
    _check_origin(request)
    answer = RedirectResponse("/", HTTPStatus.SEE_OTHER)
    answer.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return answer


def _check_origin(request: Request) -> None:
    if not is_same_origin(request):
        raise Forbidden("only a page of this service may sign in or out", rule="csrf")


def _own_path(text: str) -> str:
    """The text if it is a path of this service, else the first page: a redirect must not lead elsewhere."""
    own = text.startswith("/") and not text.startswith("//")
    return text if own and text.isascii() and text.isprintable() and "\\" not in text else "/"
