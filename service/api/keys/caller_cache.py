"""Cache of callers by API key, cleared when any key changes, so that most requests need no database query."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from db.queries.change_feed import News
from db.schema import KEYS
from service.api.keys.caller import Caller

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

    def on_news(self, news: News) -> None:
        """Clear the cache when a key was created, revoked or changed."""
        if KEYS in news.subjects:
            with self._lock:
                self._known = {}
                self.generation += 1
