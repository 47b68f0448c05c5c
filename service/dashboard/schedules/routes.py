"""/schedules: the list, the form that makes one, and a schedule with its history."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session

from service.api.keys.guard import READ
from service.api.schedules import service
from service.dashboard.error_pages import PAGE
from service.dashboard.forms import offered
from service.dashboard.problem_filter import (
    identity_of,
    number,
    unread_number,
)
from service.dashboard.rendering import page
from service.dashboard.schedules.fields import fields_of, new_schedule
from service.dashboard.schedules.reading import (
    budget_of,
    missed_of,
    next_times,
    preview,
    schedule_rows,
    work_of,
)
from service.errors import BadRequest
from service.http.context import Context
from service.http.deps import ContextDep, ReadSessionDep

router = APIRouter(prefix="/schedules", default_response_class=HTMLResponse)

_SHOWN_RUNS = 50


def _form_values(session: Session, context: Context) -> dict[str, object]:
    return {"offered": offered(session, context), "max_grace_s": context.settings.max_misfire_grace_s}


def _identity(schedule_id: str) -> UUID:
    return identity_of("schedule", schedule_id)


@router.get("", dependencies=[PAGE, READ])
def read_schedules(request: Request, context: ContextDep, session: ReadSessionDep) -> HTMLResponse:
    """Every schedule, and the form that makes one."""
    now = context.now()
    values = {
        "rows": list(schedule_rows(session)),
        **_form_values(session, context),
        "blank": new_schedule(),
        "now": now,
    }
    return page(request, "schedules/list.html", values, "schedules")


@router.get("/preview", dependencies=[PAGE, READ])
def read_preview(
    request: Request,
    context: ContextDep,
    cron: Annotated[str, Query(max_length=200)] = "",
    timezone: Annotated[str, Query(max_length=100)] = "UTC",
    hours: Annotated[str, Query(max_length=11)] = "",
) -> HTMLResponse:
    """Part of a form: the next times of an expression, or what is wrong with it."""
    now = context.now()
    try:
        due, wrong = preview(cron, timezone, hours or None, now), None
    except BadRequest as error:
        due, wrong = [], error.detail
    values = {"cron": cron, "timezone": timezone, "hours": hours, "due": due, "wrong": wrong, "now": now}
    return page(request, "schedules/_preview.html", values)


@router.get("/{schedule_id}", dependencies=[PAGE, READ])
def read_schedule(
    request: Request,
    context: ContextDep,
    session: ReadSessionDep,
    schedule_id: Annotated[UUID, Depends(_identity)],
) -> HTMLResponse:
    """A schedule: what it starts, when it is due, and what came of its runs."""
    now, words = context.now(), request.query_params
    schedule, before = service.read_schedule(session, schedule_id), number(words, "before")
    values = {
        "schedule": schedule,
        "work": work_of(schedule),
        "budget": budget_of(schedule),
        "missed": missed_of(schedule),
        "due": next_times(session, schedule),
        "history": service.history(session, schedule_id, before, _SHOWN_RUNS),
        "before": before,
        "unread": unread_number(words),
        "now": now,
    }
    return page(request, "schedules/schedule.html", values, "schedules")


@router.get("/{schedule_id}/edit", dependencies=[PAGE, READ])
def read_edit_form(
    request: Request,
    context: ContextDep,
    session: ReadSessionDep,
    schedule_id: Annotated[UUID, Depends(_identity)],
) -> HTMLResponse:
    """The form that changes a schedule."""
    schedule = service.read_schedule(session, schedule_id)
    values = {"schedule": schedule, "work": work_of(schedule), "fields": fields_of(schedule)}
    return page(request, "schedules/edit.html", values | _form_values(session, context), "schedules")
