"""The audit log as text."""

from collections.abc import Mapping
from typing import TYPE_CHECKING
from uuid import UUID

from rich.table import Column, Table

from service.api.audit.schemas import AuditPage
from service.cli.access.resource import Asked, Resource, checked
from service.cli.printing.output import text_table

if TYPE_CHECKING:
    from service.http.context import Context

_ID = 36  # characters of an id, which --subject takes whole


def _page(context: "Context", asked: Asked) -> AuditPage:
    from service.api.audit.service import AuditQuery, list_events

    query = checked(AuditQuery, asked)
    with context.database.read() as session:
        return list_events(session, query)


EVENTS = Resource("/v1/audit", AuditPage, _page)


def table_of(page: AuditPage, prefixes: Mapping[UUID, str]) -> Table:
    """Return a page of the audit log as a table."""
    table = text_table("time, UTC", "who, what", Column("to what, outcome", min_width=_ID, overflow="fold"))
    for event in page.events:
        prefix = None if event.key_id is None else prefixes.get(event.key_id)
        who = event.actor if prefix is None else f"{event.actor} ({prefix})"
        what = f"{who}\n{event.action}", f"{event.subject}\n{event.outcome.value}"
        table.add_row(f"{event.at:%Y-%m-%d %H:%M:%S}", *what)
    return table
