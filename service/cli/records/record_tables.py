"""Stored records, and records as text."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from rich.table import Column

from service.api.records.schemas import LookupQuery, RecordLookupOut, RecordOut, RecordPage
from service.cli.access.opening import Access
from service.cli.access.resource import Asked, Removal, Resource, checked, removed, stored
from service.cli.printing.output import CONSOLE, number_column, text_table
from service.text.short_ids import short_ids
from service.text.times import shown_us

if TYPE_CHECKING:
    from service.http.context import Context

_A_PAGE = 200


def _page(context: "Context", asked: Asked) -> RecordPage:
    from service.api.records.schemas import RecordQuery
    from service.api.records.service import list_records

    query = checked(RecordQuery, asked)
    with context.database.read() as session:
        return list_records(session, query.filters(), query.limit, query.before)


RECORDS = Resource("/v1/records", RecordPage, _page)


def each_record(access: Access, asked: Asked) -> Iterator[RecordOut]:
    """Yield all records that a query asks for, newest first."""
    before: UUID | None = None
    while True:
        page = access.read(RECORDS, {**asked, "before": before, "limit": _A_PAGE})
        yield from page.records
        if (before := page.next_before) is None:
            return


def _look_up(context: "Context", asked: Asked) -> RecordLookupOut:
    from service.api.records.lookup import find

    return find(context, checked(LookupQuery, asked))


LOOKUP = Resource("/v1/records/lookup", RecordLookupOut, _look_up)


def look_up(
    access: Access,
    tuner: str,
    kernel: str,
    problem: Mapping[str, object],
    device: str,
    driver: str | None,
    versions: Mapping[str, str],
) -> RecordLookupOut:
    """Return the record of a tuner for a problem of a kernel on a device, named by PCI id, id or name."""
    asked: Asked = {"tuner": tuner, "kernel": kernel, "problem": json.dumps(problem), "device": device}
    stated = [f"{name}={version}" for name, version in versions.items()]
    return access.read(LOOKUP, {**asked, "driver": driver, "version": stated or None})


def record_of(record_id: UUID) -> Resource[RecordOut]:
    """Return the resource of a record."""
    return stored(f"/v1/records/{record_id}", RecordOut, "service.api.records.service:read", record_id)


def removal_of(record_id: UUID) -> Removal:
    """Return the removal of a record."""
    return removed("/v1/records", "service.api.records.service:delete", record_id)


def print_all(found: Sequence[RecordOut]) -> None:
    """Print records as a table."""
    table = text_table(
        Column("record", no_wrap=True), "kernel", "device, driver", "versions", number_column("time"), spaced=True
    )
    short = short_ids(row.id for row in found)
    for row in found:
        versions = "\n".join(f"{name} {version}" for name, version in row.versions.items())
        time = "-" if row.time_us is None else shown_us(row.time_us)
        table.add_row(
            short[row.id], f"{row.tuner}\n{row.kernel}", f"{row.device}\n{row.driver or '-'}", versions or "-", time
        )
    CONSOLE.print(table)
