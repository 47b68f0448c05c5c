"""Who asks."""

from collections.abc import Container
from dataclasses import dataclass
from uuid import UUID

from service.api.keys.scopes import Scope


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, and what for at most. `key_id` is None where no key was needed, `request_id` where nothing was sent."""

    name: str
    scope: Scope
    key_id: UUID | None = None
    request_id: str | None = None


_FORWARDING = (
    *("forwarded", "via", "x-real-ip", "cf-connecting-ip", "true-client-ip"),
    *(f"x-forwarded-{part}" for part in ("for", "host", "proto", "port", "server")),
)


def is_passed_on(headers: Container[str]) -> bool:
    """Whether a proxy says that it asks for another."""
    return any(name in headers for name in _FORWARDING)


LOCAL = Caller("local", Scope.ADMIN)
COMMAND_LINE = Caller("command line", Scope.ADMIN)
CLOCK = Caller("schedule", Scope.ADMIN)
RESERVED = frozenset(caller.name for caller in (LOCAL, COMMAND_LINE, CLOCK))
"""Names in the audit log that no key may have."""
