"""The audit log as text."""

from collections.abc import Mapping
from uuid import UUID

from rich.table import Table

from service.api.audit.schemas import AuditPage
from service.cli.printing.output import text_table


def table_of(page: AuditPage, prefixes: Mapping[UUID, str]) -> Table:
    """Return a page of the audit log as a table."""
    table = text_table("time, UTC", "who", "what", "to what", "outcome")
    for event in page.events:
        prefix = None if event.key_id is None else prefixes.get(event.key_id)
        who = event.actor if prefix is None else f"{event.actor} ({prefix})"
        table.add_row(f"{event.at:%Y-%m-%d %H:%M:%S}", who, event.action, event.subject, event.outcome.value)
    return table
