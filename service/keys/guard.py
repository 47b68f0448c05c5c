"""What each route declares: the scope that a caller needs."""

from typing import Annotated

from fastapi import Depends, Request

from service.deps import ContextDep
from service.errors import Forbidden
from service.keys.callers import LOCAL, Caller, identify
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
        """
        if self.scope is None:
            return
        caller = identify(context, request)
        if not caller.scope.includes(self.scope):
            message = f"the API key {caller.name!r} is for {caller.scope}, this needs {self.scope}"
            raise Forbidden(message, rule="scope")
        request.state.caller = caller


def _caller(request: Request) -> Caller:
    caller: Caller = request.state.caller
    return caller


PUBLIC = Depends(Needs(None))
READ = Depends(Needs(Scope.READ))
TUNE = Depends(Needs(Scope.TUNE))
ADMIN = Depends(Needs(Scope.ADMIN))
CallerDep = Annotated[Caller, Depends(_caller)]

__all__ = ["ADMIN", "LOCAL", "PUBLIC", "READ", "TUNE", "CallerDep", "Needs"]
