"""Invalidation of in-memory caches when the database changes."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from db.errors import DatabaseError
from db.queries.change_feed import (
    Mark,
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
        self._mark: Mark | None = None
        self._told: list[OnNews] = []
        self._looked_at: int | None = None  # commits of this process at a look of this step
        self._thread = ThreadPoolExecutor(1, "freshness")
        self._refreshing: Future[None] | None = None

    def tell(self, on_news: OnNews) -> None:
        """Register a callback for all further news."""
        self._told.append(on_news)

    def is_fresh(self) -> bool:
        """Return whether nothing was committed since the last refresh; takes microseconds and does not block."""
        return self._mark is not None and self._watch.is_as_at(self._mark)

    def refresh(self) -> None:
        """Notify callbacks of changes, if there are any; waits for the database.

        Raises:
            DatabaseError: it cannot be read.
        """
        if self.is_fresh():
            return
        with self._lock:
            if self.is_fresh() or self._is_told_at_once():  # another thread did it meanwhile
                return
            mark = self._watch.mark()
            with self._database.read() as session:
                self._tell(news(session, self._stamps), mark)

    async def wait(self) -> bool:
        """Return whether what is cached may be used; after a commit one refresh serves all waiting requests.

        It is made here where it needs no waiting, since a thread would get Python's lock late. One look at the database
        serves all requests of a step of the event loop, which were received before it, until this process commits.
        False if the database cannot be read.
        """
        commits = self._database.commits.count
        if self._looked_at == commits:
            return True
        for _ in range(_LOOKS):
            if self.is_fresh() or self._refresh_at_once():
                self._looked_at = commits
                asyncio.get_running_loop().call_soon(self._end_step)  # before what is received from now on
                return True
            if self._refreshing is None or self._refreshing.done():
                self._refreshing = self._thread.submit(self.refresh)
            try:
                await asyncio.shield(asyncio.wrap_future(self._refreshing))
            except DatabaseError:
                return False
        return self.is_fresh()

    def _end_step(self) -> None:
        self._looked_at = None

    def _refresh_at_once(self) -> bool:
        """Refresh unless that needs waiting; return whether it is done."""
        if self._mark is None or not self._lock.acquire(blocking=False):  # the first one reads all results
            return False
        try:
            return self._is_told_at_once()
        finally:
            self._lock.release()

    def _is_told_at_once(self) -> bool:
        mark = self._watch.mark()
        told = self._watch.news(self._stamps)
        if told is None:
            return False
        self._tell(told, mark)
        return True

    def _tell(self, told: News, mark: Mark) -> None:
        if told.subjects:
            for on_news in self._told:
                on_news(told)
        self._stamps = dict(told.stamps)
        self._mark = mark

    def close(self) -> None:
        """Close the subscription."""
        self._thread.shutdown(wait=False)
        self._watch.close()
