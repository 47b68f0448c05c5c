"""Who showed a key a moment ago, kept in memory until any key changes: no request need ask the database then."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from db.queries.change_feed import News
from db.schema import KEYS
from service.api.keys.caller import Caller

_KEPT_S = 60.0  # then it is looked at again, and its use noted
_MOST = 10_000


@dataclass(frozen=True, slots=True)
class _Known:
    caller: Caller
    until: float
    expires_at: datetime | None


class KnownCallers:
    """Callers by what their `Authorization` header says. Thread-safe.

    `generation` counts changes of keys: who was found in an earlier one is not kept.
    """

    def __init__(self, now: Callable[[], datetime], clock: Callable[[], float] = time.monotonic) -> None:
        self._now, self._clock = now, clock
        self._lock = threading.Lock()
        self._known: dict[str | None, _Known] = {}
        self.generation = 0

    def find(self, shown: str | None) -> Caller | None:
        """Who showed that; None where it is to be looked at in the database."""
        known = self._known.get(shown)
        if known is None or self._clock() >= known.until:
            return None
        if known.expires_at is not None and known.expires_at <= self._now():
            return None
        return known.caller

    def keep(self, shown: str | None, caller: Caller, generation: int, expires_at: datetime | None) -> None:
        """Keep who was found in that generation."""
        with self._lock:
            if generation != self.generation:
                return
            if len(self._known) >= _MOST:
                self._known = {}
            self._known[shown] = _Known(caller, self._clock() + _KEPT_S, expires_at)

    def on_news(self, news: News) -> None:
        """Forget everyone when a key was made, revoked or changed."""
        if KEYS in news.subjects:
            with self._lock:
                self._known = {}
                self.generation += 1
