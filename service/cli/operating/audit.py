"""xetune audit: the audit log."""

from typing import Annotated
from uuid import UUID

import typer

from service.cli.access.opening import open_access
from service.cli.default_command import FirstByDefault
from service.cli.options.output import AsJson
from service.cli.printing.output import CONSOLE, print_json

_PAGE = 200


app = typer.Typer(cls=FirstByDefault, help="List the audit log, newest first.")


@app.command("list")
def list_command(
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Maximum number of events.")] = 50,
    before: Annotated[UUID | None, typer.Option(help="Only events older than this one.")] = None,
    action: Annotated[str | None, typer.Option(help="Only this action, such as job.create.")] = None,
    subject: Annotated[str | None, typer.Option(help="Only entries on this subject, such as a job's id.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the audit log, newest first."""
    from service.api.audit.schemas import AuditEventOut, AuditPage
    from service.cli.operating.audit_tables import EVENTS, table_of
    from service.cli.operating.key_tables import KEYS

    with open_access() as access:
        events: list[AuditEventOut] = []
        while True:
            asked = {"before": before, "limit": min(limit - len(events), _PAGE), "action": action, "subject": subject}
            part = access.read(EVENTS, asked)
            events, before = events + part.events, part.next_before
            if before is None or len(events) >= limit:
                break
        page = AuditPage(events=events, next_before=before)
        # A name may be of several keys, one after another; a prefix is of one.
        of_keys = not as_json and any(event.key_id is not None for event in page.events)
        prefixes = {key.id: key.prefix for key in access.read(KEYS).keys} if of_keys else {}
    if as_json:
        print_json(page.model_dump(mode="json"))
    elif not page.events:
        CONSOLE.print("No such event.")
    else:
        CONSOLE.print(table_of(page, prefixes))
        if page.next_before is not None:
            CONSOLE.print(f"older ones: xetune audit list --before {page.next_before}", highlight=False, soft_wrap=True)
