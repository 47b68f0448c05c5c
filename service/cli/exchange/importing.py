"""Import of a file as commands do it."""

from pathlib import Path
from typing import TYPE_CHECKING

from service.api.exchange.schemas import ImportOut
from service.cli.access.resource import Action, Asked, Done, checked

if TYPE_CHECKING:
    from service.http.context import Context


def import_of(file: Path, asked: Asked) -> Action[ImportOut]:
    """Return the action that imports a file; `asked` has what it does not state."""

    def take(context: "Context") -> Done[ImportOut]:
        from service.api.exchange import import_upload
        from service.api.exchange.schemas import ImportQuery
        from service.api.keys.caller import COMMAND_LINE

        read = import_upload.receive(file, checked(ImportQuery, asked), context, COMMAND_LINE)
        with context.database.write() as session:
            done = import_upload.take_in(session, read, COMMAND_LINE, context.settings)
        return Done(done, is_new=bool(done.queued))

    return Action("/v1/imports", file, ImportOut, take, creates=True, asked=asked)
