"""/docs: the reference of the API, from the contract of this service."""

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from service.api.keys.guard import READ
from service.dashboard.error_pages import PAGE
from service.dashboard.rendering import POLICY, page

router = APIRouter(default_response_class=HTMLResponse)

_POLICY = POLICY.replace("img-src 'self'", "img-src 'self' data:")  # arrows in the style sheet of Swagger UI


@router.get("/docs", dependencies=[PAGE, READ])
def read_reference(request: Request) -> HTMLResponse:
    """All operations with samples to copy, drawn by Swagger UI from /openapi.json."""
    return page(request, "reference/reference.html", {}, policy=_POLICY)
