"""Callers of the service, their scopes, and a cache of callers by API key, cleared when any key changes."""

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from service.api.keys.scope import Scope

if TYPE_CHECKING:
    from db.queries.change_feed import News


@dataclass(frozen=True, slots=True)
class Caller:
    """A caller and its scope. `key_id` is None if no key was needed, `request_id` if there is no request."""

    name: str
    scope: Scope
    key_id: UUID | None = None
    request_id: str | None = None

    def asking(self, request_id: str) -> "Caller":
        """Return this caller with a request."""
        return Caller(self.name, self.scope, self.key_id, request_id)


FORWARDING = frozenset(
    (
        *("forwarded", "via", "x-real-ip", "cf-connecting-ip", "true-client-ip"),
        *(f"x-forwarded-{part}" for part in ("for", "host", "proto", "port", "server")),
    )
)
"""Headers, in lower case, with which a proxy says that it forwards a request."""


def is_passed_on(headers: Iterable[str]) -> bool:
    """Return whether a proxy forwarded the request; names are in lower case."""
    return not FORWARDING.isdisjoint(headers)


LOCAL = Caller("local", Scope.ADMIN)
COMMAND_LINE = Caller("command line", Scope.ADMIN)
CLOCK = Caller("schedule", Scope.ADMIN)
WORKER = Caller("worker", Scope.ADMIN)
RESERVED = frozenset(caller.name for caller in (LOCAL, COMMAND_LINE, CLOCK, WORKER))
"""Names in the audit log that no key may have."""

_KEPT_S = 60.0  # then it is checked again, and its use recorded
_MOST = 10_000


@dataclass(frozen=True, slots=True)
class _Known:
    caller: Caller
    until: float
    expires_at: datetime | None


class CallerCache:
    """Callers by their `Authorization` header. Thread-safe.

    `generation` counts changes of keys: a caller that was identified in an earlier one is not stored.
    """

    def __init__(self, now: Callable[[], datetime], clock: Callable[[], float] = time.monotonic) -> None:
        self._now, self._clock = now, clock
        self._lock = threading.Lock()
        self._known: dict[str | None, _Known] = {}
        self.generation = 0

    def find(self, shown: str | None) -> Caller | None:
        """Return the caller of a header; None if it has to be looked up in the database."""
        known = self._known.get(shown)
        if known is None or self._clock() >= known.until:
            return None
        if known.expires_at is not None and known.expires_at <= self._now():
            return None
        return known.caller

    def keep(self, shown: str | None, caller: Caller, generation: int, expires_at: datetime | None) -> None:
        """Store a caller that was identified in that generation."""
        with self._lock:
            if generation != self.generation:
                return
            if len(self._known) >= _MOST:
                self._known = {}
            self._known[shown] = _Known(caller, self._clock() + _KEPT_S, expires_at)

    def on_news(self, news: "News") -> None:
        """Clear the cache when a key was created, revoked or changed."""
        if news.of_keys:
            with self._lock:
                self._known = {}
                self.generation += 1
