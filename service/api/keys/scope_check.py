"""Check of a caller's scope."""

from contextlib import suppress

from db.errors import DatabaseError
from service.api.audit.log import record
from service.api.audit.schemas import Outcome
from service.api.keys.caller import Caller
from service.api.keys.scope import Scope
from service.errors import Forbidden
from service.http.context import Context


def check_scope(context: Context, caller: Caller, needed: Scope, request: str, what: str) -> None:
    """Check that a caller may do `what`; a refusal is recorded in the audit log with the `request`.

    Raises:
        Forbidden: rule `scope`.
    """
    if caller.scope.includes(needed):
        return
    # Refused even if it cannot be recorded.
    with suppress(DatabaseError), context.database.write() as session:
        record(session, caller, "request", request, Outcome.REFUSED)
    raise Forbidden(f"the API key {caller.name!r} is for {caller.scope}, {what} needs {needed}", rule="scope")
