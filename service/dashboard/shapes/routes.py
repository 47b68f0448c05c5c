"""/shapes: sets of shapes, the form that makes one, and a set with its live part, chart and table."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session

from service.api.keys.guard import READ
from service.api.shapes import service
from service.api.shapes.schemas import ShapeSetPage
from service.dashboard.charts.answers import chart_answer
from service.dashboard.error_pages import PAGE
from service.dashboard.evidence import TimeEvidence
from service.dashboard.forms import first_set, offered
from service.dashboard.problem_filter import (
    identity,
    identity_of,
    unread_id,
)
from service.dashboard.rendering import page
from service.dashboard.shapes.reading import (
    KNOWN_BY,
    evidence_of_total,
    gains_chart,
    kernel_rows,
    news_of,
    read_binaries,
    shape_rows,
    shapes_csv,
)
from service.http.deps import (
    ContextDep,
    ReadSessionDep,
)

router = APIRouter(prefix="/shapes", default_response_class=HTMLResponse)

_SHOWN_SETS = 50
_NO_SETS = ShapeSetPage(shape_sets=[], next_before=None)


def _identity(set_id: str) -> UUID:
    return identity_of("set of shapes", set_id)


_SetId = Annotated[UUID, Depends(_identity)]


@router.get("", dependencies=[PAGE, READ])
def read_sets(request: Request, context: ContextDep, session: ReadSessionDep) -> HTMLResponse:
    """Sets of shapes, newest first, and the form that makes one."""
    words, before = request.query_params, identity(request.query_params.get("before", ""))
    unread = unread_id(words)
    values = {
        "view": _NO_SETS if unread else service.list_sets(session, _SHOWN_SETS, before),
        "unread": unread,
        "before": before,
        "offered": offered(session, context),
        "first": first_set(),
    }
    return page(request, "shapes/list.html", values, "shapes")


@router.get("/{set_id}", dependencies=[PAGE, READ])
def read_set(request: Request, session: ReadSessionDep, set_id: _SetId) -> HTMLResponse:
    """A set: its shapes, what was gained, and the fewest kernels that serve all."""
    return page(request, "shapes/set.html", _values(session, set_id), "shapes")


@router.get("/{set_id}/live", dependencies=[PAGE, READ])
def read_live(request: Request, session: ReadSessionDep, set_id: _SetId, seen: str = "") -> Response:
    """The live part; nothing while all is as it was `seen`."""
    values = _values(session, set_id)
    if values["news"] == seen:
        return Response(status_code=204)
    answer = page(request, "shapes/_live.html", values)
    answer.headers["HX-Trigger"] = "news"
    return answer


@router.get("/{set_id}/charts/gains", dependencies=[PAGE, READ])
def read_gains(request: Request, session: ReadSessionDep, set_id: _SetId) -> Response:
    """Gains over the defaults."""
    found = service.read_set(session, set_id)
    return chart_answer(request, gains_chart(found), f"{found.source} on {found.device}")


@router.get("/{set_id}/shapes.csv", dependencies=[PAGE, READ])
def read_csv(session: ReadSessionDep, set_id: _SetId) -> Response:
    """The table of shapes as a file."""
    headers = {"Content-Disposition": f'attachment; filename="shapes-{set_id}.csv"', "Cache-Control": "no-store"}
    text = shapes_csv(service.read_set(session, set_id))
    return Response(text, media_type="text/csv; charset=utf-8", headers=headers)


def _values(session: Session, set_id: UUID) -> dict[str, object]:
    found = service.read_set(session, set_id)
    rows = shape_rows(found)
    return {
        "found": found,
        "rows": rows,
        "total": evidence_of_total(rows),
        "kernels": kernel_rows(
            found, read_binaries(session, set_id), TimeEvidence.EMULATED not in {r.time for r in rows}
        ),
        "known_by": KNOWN_BY,
        "news": news_of(found),
    }
