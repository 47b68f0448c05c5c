"""Job news shared by all listeners of a job: read once for all until something is committed."""

import threading
from uuid import UUID

from db.queries.change_feed import (
    Mark,
    Watch,
)
from db.session import Database
from service.api.jobs.events import (
    News,
    read_news,
)

_MOST = 1_000


class SharedNews:
    """News of jobs by the last trial that a listener has seen. Thread-safe."""

    def __init__(self, database: Database, max_age_s: float) -> None:
        self._database = database
        self._watch = Watch(database, max_age_s)
        self._lock = threading.Lock()
        self._kept: dict[tuple[UUID, int], tuple[Mark, News]] = {}

    def read(self, job_id: UUID, after: int) -> News:
        """Return what `read_news` returns, from the cache if nothing was committed since.

        Raises:
            NotFound: there is no such job.
        """
        with self._lock:
            kept = self._kept.get((job_id, after))
            if kept is not None and self._watch.is_as_at(kept[0]):
                return kept[1]
            mark = self._watch.mark()
            news = read_news(self._database, job_id, after)
            if len(self._kept) >= _MOST:
                self._kept.clear()
            self._kept[job_id, after] = mark, news
            return news

    def close(self) -> None:
        """Close the subscription to the database."""
        self._watch.close()
