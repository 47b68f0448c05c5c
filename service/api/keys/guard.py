"""Scopes that routes require of callers."""

from collections.abc import Callable, Coroutine
from functools import cached_property
from itertools import chain, islice
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic.fields import FieldInfo

from service.api.keys.caller import FORWARDING, Caller
from service.api.keys.callers import identify, is_from_here
from service.api.keys.scope import Scope
from service.api.keys.scope_check import check_scope
from service.errors import Unauthorized, UnsupportedType
from service.http.context import Context
from service.http.deps import ContextDep, context_of
from service.http.json_paths import broken_texts
from service.http.known_fields import is_model
from service.http.repeated_fields import repeated_in_body, repeated_in_query, takes_several
from service.http.responses import GUARDED
from service.http.validation_errors import SHOWN_ERRORS

Handle = Callable[[Request], Coroutine[Any, Any, Response]]
_JSON = "application/json"
_NEVER_CACHED = frozenset((b"cookie", *(name.encode() for name in FORWARDING)))


class Needs:
    """A dependency of routes that accepts only callers with a scope; None accepts everyone."""

    def __init__(self, scope: Scope | None) -> None:
        self.scope = scope

    async def __call__(self, request: Request, context: ContextDep) -> None:
        """Check the caller, unless the route did before it read the body; raises as `check`."""
        state = request.scope["state"]
        if self.scope is None or "caller" in state:
            return
        cached = await _cached_reader(state, context) if self.scope is Scope.READ else None
        if cached is None:
            await run_in_threadpool(self.check, request, context)
        else:
            context.rates.take(cached.key_id or _address(request))
            state["caller"] = cached.asking(state["request_id"])

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


async def _cached_reader(state: dict[str, Any], context: Context) -> Caller | None:
    """Return the caller of a read request, if it is cached."""
    headers: dict[bytes, bytes] = state["headers"]
    if not _NEVER_CACHED.isdisjoint(headers):
        return None
    state["fresh"] = await context.freshness.wait()
    if not state["fresh"]:
        return None
    authorization = headers.get(b"authorization")
    return context.callers.find(None if authorization is None else authorization.decode("latin-1"))


class GuardedRoute(APIRoute):
    """A route that authenticates the caller before it reads the body, requires JSON where it takes JSON, and refuses
    unknown parameters of the query and values that are given twice.
    """

    def get_route_handler(self) -> Handle:
        """Return the handler of the framework, after the checks."""
        handle = super().get_route_handler()

        async def guarded(request: Request) -> Response:
            await self.check(request, context_of(request))
            self._check_query(request)
            if self._takes_json:
                _check_text(await request.body())
            return await handle(request)

        return guarded

    async def check(self, request: Request, context: Context) -> None:
        """Check the caller and the stated type of the body; raises as `Needs.check`, and UnsupportedType."""
        for guard in self._guards:
            await guard(request, context)
        if self._takes_json:
            _check_json(request)

    def _check_query(self, request: Request) -> None:
        """Check that parameters that are no lists occur once, and their names, unless a model does, which forbids
        others.

        Raises:
            RequestValidationError: one is unknown, or occurs twice.
        """
        if not request.scope["query_string"]:
            return
        sent, (names, once) = request.query_params, self._query
        unknown = () if names is None else (pair for pair in sent.items() if pair[0] not in names)
        faults = [{"type": "extra_forbidden", "loc": ("query", name), "input": value} for name, value in unknown]
        if faults := faults or [*repeated_in_query(sent.multi_items(), once)]:
            raise RequestValidationError(faults)

    @cached_property
    def _query(self) -> tuple[frozenset[str] | None, frozenset[str]]:
        """Names of the parameters of a query, None if a model has them; and those that are no lists."""
        fields = dict[str, FieldInfo]()
        has_model = False
        for parameter in self.dependant.query_params:
            if is_model(model := parameter.field_info.annotation):
                has_model = True
                fields |= {field.alias or name: field for name, field in model.model_fields.items()}
            else:
                fields[parameter.alias] = parameter.field_info
        once = frozenset(name for name, field in fields.items() if not takes_several(field))
        return None if has_model else frozenset(fields), once

    @cached_property
    def _guards(self) -> list[Needs]:
        return [guard.call for guard in self.dependant.dependencies if isinstance(guard.call, Needs)]

    @cached_property
    def _takes_json(self) -> bool:
        return self.body_field is not None and getattr(self.body_field.field_info, "media_type", "") == _JSON


def operation_id(route: APIRoute) -> str:
    """Return the id of an operation: the name of its function."""
    return route.name


def guarded_router(prefix: str, tag: str, route_class: type[APIRoute] = GuardedRoute) -> APIRouter:
    """Return a router of a feature, whose routes join the app as they are.

    FastAPI matches the path of an included router twice for each request.
    """
    return APIRouter(
        prefix=prefix,
        tags=[tag],
        route_class=route_class,
        responses=GUARDED,
        generate_unique_id_function=operation_id,
    )


def _check_text(body: bytes) -> None:
    """Check what parsers of JSON take without a word: fields that occur twice, and halves of surrogate pairs.

    Raises:
        RequestValidationError: there are some.
    """
    if faults := [*islice(chain(repeated_in_body(body), broken_texts(body)), SHOWN_ERRORS)]:
        raise RequestValidationError(faults)


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

__all__ = [
    "ADMIN",
    "PUBLIC",
    "READ",
    "SCRAPE",
    "TUNE",
    "CallerDep",
    "GuardedRoute",
    "Needs",
    "guarded_router",
    "operation_id",
]
