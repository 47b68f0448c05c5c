"""Invalidation of in-memory caches when the database changes."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from db.errors import DatabaseError
from db.queries.change_feed import (
    News,
    Watch,
    news,
)
from db.session import Database

OnNews = Callable[[News], None]
_LOOKS = 2  # the first may have begun before the last commit


class CacheInvalidation:
    """Subscription to changes of the database: caches are notified before they are used again. Thread-safe.

    A cache registers its invalidation, calls `is_fresh` before each use, and `refresh` if it is not fresh.
    """

    def __init__(self, database: Database, max_age_s: float) -> None:
        self._database = database
        self._watch = Watch(database, max_age_s)
        self._lock = threading.Lock()
        self._stamps: dict[str, int] = {}
        self._mark: tuple[int, float] | None = None
        self._told: list[OnNews] = []
        self._thread = ThreadPoolExecutor(1, "freshness")
        self._refreshing: Future[None] | None = None

    def tell(self, on_news: OnNews) -> None:
        """Register a callback for all further news."""
        self._told.append(on_news)

    def is_fresh(self) -> bool:
        """Return whether no commit since the last refresh changed what is cached; takes microseconds, does not wait."""
        if self._mark is None:
            return False
        if self._watch.is_as_at(self._mark):
            return True
        mark = self._watch.mark()
        if (
            self._watch.stamps() != self._stamps
        ):  # of most commits, such as those of trials that failed, they are the same
            return False
        self._mark = mark
        return True

    def refresh(self) -> None:
        """Notify callbacks of changes, if there are any; waits for the database.

        Raises:
            DatabaseError: it cannot be read.
        """
        if self.is_fresh():
            return
        with self._lock:
            if self.is_fresh():  # another thread did it meanwhile
                return
            mark = self._watch.mark()
            with self._database.read() as session:
                told = news(session, self._stamps)
            if told.subjects:
                for on_news in self._told:
                    on_news(told)
            self._stamps = dict(told.stamps)
            self._mark = mark

    async def wait(self) -> bool:
        """Return whether what is cached may be used; after a commit one refresh serves all waiting requests.

        False if the database cannot be read.
        """
        for _ in range(_LOOKS):
            if self.is_fresh():
                return True
            if self._refreshing is None or self._refreshing.done():
                self._refreshing = self._thread.submit(self.refresh)
            try:
                await asyncio.shield(asyncio.wrap_future(self._refreshing))
            except DatabaseError:
                return False
        return self.is_fresh()

    def close(self) -> None:
        """Close the subscription."""
        self._thread.shutdown(wait=False)
        self._watch.close()
