"""What each route declares: the scope that a caller needs."""

from contextlib import suppress
from dataclasses import replace
from typing import Annotated

from fastapi import Depends, Request

from db.errors import DatabaseError
from service.audit.log import Outcome, record
from service.deps import ContextDep
from service.errors import Forbidden, Unauthorized
from service.keys.callers import Caller, identify
from service.keys.scopes import Scope


class Needs:
    """A dependency of routes: lets only callers of a scope pass; None lets everyone."""

    def __init__(self, scope: Scope | None) -> None:
        self.scope = scope

    def __call__(self, request: Request, context: ContextDep) -> None:
        """Find out who asks, and keep it for the route.

        Raises:
            Unauthorized: no key, or not one that works.
            Forbidden: rule `scope`; the key is not for this.
            TooMany: rule `rate`; the key, or the address without one, asks too often.
        """
        if self.scope is None:
            return
        try:
            caller = replace(identify(context, request), request_id=request.state.request_id)
        except Unauthorized:
            context.rates.take(_address(request))
            raise
        context.rates.take(caller.key_id or _address(request))
        if not caller.scope.includes(self.scope):
            # Refused all the same where it cannot be noted.
            with suppress(DatabaseError), context.database.write() as session:
                record(session, caller, "request", f"{request.method} {request.url.path}", Outcome.REFUSED)
            message = f"the API key {caller.name!r} is for {caller.scope}, this needs {self.scope}"
            raise Forbidden(message, rule="scope")
        request.state.caller = caller


def _address(request: Request) -> str:
    return "" if request.client is None else request.client.host


def _caller(request: Request) -> Caller:
    caller: Caller = request.state.caller
    return caller


PUBLIC = Depends(Needs(None))
READ = Depends(Needs(Scope.READ))
TUNE = Depends(Needs(Scope.TUNE))
ADMIN = Depends(Needs(Scope.ADMIN))
CallerDep = Annotated[Caller, Depends(_caller)]

__all__ = ["ADMIN", "PUBLIC", "READ", "TUNE", "CallerDep", "Needs"]
