"""Scopes that routes require of callers."""

from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Annotated, Any

from fastapi import Depends, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.routing import APIRoute

from db.errors import DatabaseError
from service.api.audit.log import (
    Outcome,
    record,
)
from service.api.keys.caller import Caller, is_passed_on
from service.api.keys.callers import (
    identify,
    is_from_here,
)
from service.api.keys.scope import Scope
from service.errors import Forbidden, Unauthorized, UnsupportedType
from service.http.deps import (
    Context,
    ContextDep,
    context_of,
)

Handle = Callable[[Request], Coroutine[Any, Any, Response]]


class Needs:
    """A dependency of routes that accepts only callers with a scope; None accepts everyone."""

    def __init__(self, scope: Scope | None) -> None:
        self.scope = scope

    async def __call__(self, request: Request, context: ContextDep) -> None:
        """Check the caller, unless the route did before it read the body; raises as `check`."""
        if self.scope is None or hasattr(request.state, "caller"):
            return
        cached = await _cached_reader(request, context) if self.scope is Scope.READ else None
        if cached is None:
            await run_in_threadpool(self.check, request, context)
        else:
            context.rates.take(cached.key_id or _address(request))
            request.state.caller = cached.asking(request.state.request_id)

    def check(self, request: Request, context: Context) -> None:
        """Authenticate the caller, and store it for the route.

        Raises:
            Unauthorized: no key, or not one that works.
            Forbidden: rule `scope`; the key is not for this.
            TooMany: rule `rate`; the key, or the address without one, asks too often.
        """
        if self.scope is None:
            return
        try:
            caller = identify(context, request).asking(request.state.request_id)
        except Unauthorized:
            context.rates.take(_address(request))
            raise
        context.rates.take(caller.key_id or _address(request))
        check_scope(context, caller, self.scope, f"{request.method} {request.url.path}", "this")
        request.state.caller = caller


async def _cached_reader(request: Request, context: Context) -> Caller | None:
    """Return the caller of a read request, if it is cached."""
    headers = request.headers
    if "cookie" in headers or is_passed_on(headers) or not await context.freshness.wait():
        return None
    return context.callers.find(headers.get("authorization"))


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


class GuardedRoute(APIRoute):
    """A route that authenticates the caller before it reads the body, and requires JSON where it takes JSON."""

    def get_route_handler(self) -> Handle:
        """Return the handler of the framework, after the checks."""
        handle, body = super().get_route_handler(), self.body_field
        takes_json = body is not None and getattr(body.field_info, "media_type", "") == "application/json"
        guards = [guard.call for guard in self.dependant.dependencies if isinstance(guard.call, Needs)]

        async def guarded(request: Request) -> Response:
            for guard in guards:
                await guard(request, context_of(request))
            if takes_json:
                _check_json(request)
            return await self.respond(request, handle)

        return guarded

    async def respond(self, request: Request, handle: Handle) -> Response:
        """Answer a request that passed the checks."""
        return await handle(request)


def _check_json(request: Request) -> None:
    """Check that the stated type of a body is JSON.

    Raises:
        UnsupportedType: rule `content-type`.
    """
    stated = request.headers.get("content-type", "")
    kind, _, subtype = stated.partition(";")[0].strip().lower().partition("/")
    if kind != "application" or not (subtype == "json" or subtype.endswith("+json")):
        raise UnsupportedType(f"expected a body of Content-Type application/json, got {stated or 'none'!r}")


class NeedsToScrape(Needs):
    """As Needs; if the settings allow it, programs of this machine need no key."""

    def check(self, request: Request, context: Context) -> None:
        """Authenticate the caller, unless no key is required; raises as in Needs."""
        if not (context.settings.metrics_open_on_loopback and is_from_here(request)):
            super().check(request, context)


def _address(request: Request) -> str:
    return "" if request.client is None else request.client.host


async def _caller(request: Request) -> Caller:
    caller: Caller = request.state.caller
    return caller


PUBLIC = Depends(Needs(None))
READ = Depends(Needs(Scope.READ))
SCRAPE = Depends(NeedsToScrape(Scope.READ))
TUNE = Depends(Needs(Scope.TUNE))
ADMIN = Depends(Needs(Scope.ADMIN))
CallerDep = Annotated[Caller, Depends(_caller)]

__all__ = ["ADMIN", "PUBLIC", "READ", "SCRAPE", "TUNE", "CallerDep", "GuardedRoute", "Needs", "check_scope"]
