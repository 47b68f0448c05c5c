"""Callers of requests."""

from collections.abc import Container
from dataclasses import dataclass
from uuid import UUID

from service.api.keys.scopes import Scope


@dataclass(frozen=True, slots=True)
class Caller:
    """A caller and its scope. `key_id` is None if no key was needed, `request_id` if there is no request."""

    name: str
    scope: Scope
    key_id: UUID | None = None
    request_id: str | None = None


_FORWARDING = (
    *("forwarded", "via", "x-real-ip", "cf-connecting-ip", "true-client-ip"),
    *(f"x-forwarded-{part}" for part in ("for", "host", "proto", "port", "server")),
)


def is_passed_on(headers: Container[str]) -> bool:
    """Return whether a proxy forwarded the request."""
    return any(name in headers for name in _FORWARDING)


LOCAL = Caller("local", Scope.ADMIN)
COMMAND_LINE = Caller("command line", Scope.ADMIN)
CLOCK = Caller("schedule", Scope.ADMIN)
RESERVED = frozenset(caller.name for caller in (LOCAL, COMMAND_LINE, CLOCK))
"""Names in the audit log that no key may have."""
