"""Authentication of callers: by the API key of a request, or as the local user if no key is needed."""

import ipaddress
from contextlib import suppress
from datetime import datetime, timedelta

from fastapi import Request
from sqlalchemy.orm import Session

from db.errors import DatabaseError
from db.queries.access import api_keys
from db.schema.access import ApiKey
from service.api.keys.caller import LOCAL, Caller, is_passed_on
from service.api.keys.scope import Scope
from service.api.keys.tokens import read_token
from service.errors import Forbidden, Unauthorized
from service.http.context import Context
from service.settings import Settings

COOKIE = "xetune_key"
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
HOW_TO_MAKE = "`xetune keys create NAME --scope admin` makes one"
_USE_NOTED_EVERY = timedelta(minutes=1)


def identify(context: Context, request: Request) -> Caller:
    """Authenticate a request.

    Until the first key is created, a service that listens on loopback accepts local requests without a key,
    unless a proxy forwarded them. From then on each request needs one: in the header `Authorization: Bearer`,
    or, for pages of the dashboard, in a cookie.

    Raises:
        Unauthorized: no key, or an invalid one.
        Forbidden: rule `csrf`; a change with the cookie that did not come from a page of this service.
    """
    header, cookie = request.headers.get("authorization"), request.cookies.get(COOKIE)
    generation = context.callers.generation
    with context.database.read() as session:
        closed = api_keys.any_made(session)
        if not closed and is_loopback(context.settings.host) and not is_passed_on(request.headers):
            context.callers.keep(None, LOCAL, generation, None)
            return LOCAL
        if header is None and cookie is None:
            if context.settings.open_on_loopback and closed and is_from_here(request):
                return LOCAL
            missing = "" if closed else f"; there is none yet, and a proxy passed this on: {HOW_TO_MAKE}"
            raise Unauthorized(f"this needs an API key, as `Authorization: Bearer KEY`{missing}", rule="key-missing")
        key = read_key(session, _shown(header, cookie), context.now())
    if header is None and request.method not in SAFE_METHODS and not is_same_origin(request):
        raise Forbidden("only a page of this service may change anything with the cookie's key", rule="csrf")
    _note_use(context, key)
    caller = Caller(key.name, Scope(key.scope), key.id)
    if header is not None:
        context.callers.keep(header, caller, generation, key.expires_at)
    return caller


def check_closed(settings: Settings, session: Session) -> str | None:
    """Return why a service must not start: other hosts can reach it and no key exists. None if it may start."""
    if is_loopback(settings.host) or api_keys.any_made(session):
        return None
    return (
        f"others can reach {settings.host} (XETUNE_HOST), and there is no API key that they must show: {HOW_TO_MAKE}; "
        "or listen on 127.0.0.1"
    )


def is_loopback(host: str) -> bool:
    """Return whether an address is loopback; of names only localhost is recognized."""
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host.lower() == "localhost"


def is_same_origin(request: Request) -> bool:
    """Return whether the browser states that the request is from this service. Older browsers send only the
    origin.
    """
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    host = request.headers.get("host", "")
    return request.headers.get("origin") in (f"http://{host}", f"https://{host}")


def read_key(session: Session, text: str, now: datetime) -> ApiKey:
    """Return the valid key of a text.

    Raises:
        Unauthorized: there is none, or it is revoked or expired.
    """
    token = read_token(text)
    if token is None:
        raise Unauthorized("that is not an API key; one looks like xetune_PREFIX_SECRET", rule="key-malformed")
    key = api_keys.by_prefix(session, token.prefix)
    if not token.matches(None if key is None else key.secret_sha256) or key is None:
        raise Unauthorized("no such API key", rule="key-unknown")
    if key.revoked_at is not None:
        raise Unauthorized(f"the API key {key.name!r} was revoked; ask for another", rule="key-revoked")
    if key.expires_at is not None and key.expires_at <= now:
        expired = f"the API key {key.name!r} expired on {key.expires_at:%Y-%m-%d}; ask for another"
        raise Unauthorized(expired, rule="key-expired")
    return key


def _shown(header: str | None, cookie: str | None) -> str:
    if header is None:
        return cookie or ""
    kind, _, text = header.partition(" ")
    if kind.lower() != "bearer":
        raise Unauthorized("expected `Authorization: Bearer KEY`", rule="key-malformed")
    return text.strip()


def is_from_here(request: Request) -> bool:
    """Return whether the request is from a process of this machine, and not forwarded."""
    return not is_passed_on(request.headers) and request.client is not None and is_loopback(request.client.host)


def _note_use(context: Context, key: ApiKey) -> None:
    now = context.now()
    if key.last_used_at is None or now - key.last_used_at >= _USE_NOTED_EVERY:
        # If the use cannot be recorded now, a later request records it.
        with suppress(DatabaseError), context.database.write() as session:
            api_keys.note_use(session, key.id, now)
