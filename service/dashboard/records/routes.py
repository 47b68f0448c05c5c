"""/records: results of other tuners, filtered, and one of them with its replaced versions."""

import json
from typing import Annotated
from urllib.parse import urlencode
from uuid import UUID

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse

from db.values import JsonObject
from service.api.keys.guard import READ
from service.api.records import service
from service.api.records.devices import named_device
from service.api.records.schemas import RecordPage
from service.dashboard.error_pages import PAGE
from service.dashboard.problem_filter import (
    identity,
    identity_of,
    unread_id,
    word,
)
from service.dashboard.rendering import page
from service.http.deps import ReadSessionDep

router = APIRouter(prefix="/records", default_response_class=HTMLResponse)

_FILTERS = ("tuner", "kernel", "device")
_SHOWN, _LONGEST = 30, 300
_NONE = RecordPage(records=[], next_before=None)


def _identity(record_id: str) -> UUID:
    return identity_of("record", record_id)


_RecordId = Annotated[UUID, Depends(_identity)]


@router.get("", dependencies=[PAGE, READ])
def read_records(request: Request, session: ReadSessionDep) -> HTMLResponse:
    """Records, newest first."""
    words = request.query_params
    unread, before = unread_id(words), identity(words.get("before", ""))
    said = {name: word(words, name) for name in _FILTERS}
    filters = {name: value or None for name, value in said.items()}
    if said["device"]:
        filters["device"] = named_device(said["device"])
    found = _NONE if unread else service.list_records(session, filters, _SHOWN, before)
    asked = {name: value for name, value in said.items() if value}
    values = {
        "records": found.records,
        "filters": said,
        "address": f"/records?{urlencode(asked)}" if asked else "/records",
        "next": f"/records?{urlencode({**asked, 'before': found.next_before})}" if found.next_before else None,
        "before": before,
        "unread": unread,
        "line": _line,
    }
    return page(request, "records/list.html", values, "records")


@router.get("/{record_id}", dependencies=[PAGE, READ])
def read_record(
    request: Request, session: ReadSessionDep, record_id: Annotated[UUID, Depends(_identity)]
) -> HTMLResponse:
    """A record: its key, device, configuration, and the records of the same problem."""
    found = service.read(session, record_id)
    texts = [("Problem", found.problem), ("Configuration", found.config), ("Entry of the tuner", found.document)]
    values = {
        "found": found,
        "texts": [(title, json.dumps(text, indent=2, ensure_ascii=False)) for title, text in texts if text is not None],
        "history": service.history(session, record_id),
        "line": _line,
    }
    return page(request, "records/record.html", values, "records")


def _line(value: JsonObject) -> str:
    """Return JSON as one line, truncated."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."
