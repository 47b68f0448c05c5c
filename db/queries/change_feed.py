"""Feed of changes since an earlier read: API keys, and results of problems on devices."""

import sqlite3
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from sqlalchemy import Select, bindparam, select
from sqlalchemy.dialects import sqlite
from sqlalchemy.orm import Session

from db.schema.change import KEYS, Change, ResultChange
from db.schema.target import Device, Problem
from db.session import Database, sqlite_path

_DEVICE = "device "


@dataclass(frozen=True, slots=True)
class News:
    """Current stamps by subject, and the slugs of changed devices, each with the keys of its changed problems."""

    stamps: Mapping[str, int]
    devices: frozenset[str] = frozenset()
    results: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    subjects: frozenset[str] = frozenset()

    @property
    def of_keys(self) -> bool:
        """Return whether an API key changed."""
        return KEYS in self.subjects


_STAMPS = select(Change.subject, Change.stamp)
_SLUG = select(Device.slug).where(Device.id == bindparam("device_id"))
_CHANGED = (
    select(Problem.key)
    .join(ResultChange, ResultChange.problem_id == Problem.id)
    .where(ResultChange.device_id == bindparam("device_id"), ResultChange.stamp > bindparam("before"))
)
_Query = Select[str] | Select[str, int]
_Ask = Callable[[_Query, Mapping[str, int]], Sequence[Sequence[Any]]]


def news(session: Session, before: Mapping[str, int]) -> News:
    """Return everything whose stamp differs from the one in `before`."""
    return _news(lambda query, values: session.execute(query, values).all(), before)


def _news(ask: _Ask, before: Mapping[str, int]) -> News:
    stamps: dict[str, int] = dict(map(tuple, ask(_STAMPS, {})))
    subjects = frozenset(subject for subject, stamp in stamps.items() if before.get(subject) != stamp)
    results: dict[str, set[str]] = {}
    for subject in subjects:
        if not subject.startswith(_DEVICE):
            continue
        device_id = int(subject.removeprefix(_DEVICE))
        for (slug,) in ask(_SLUG, {"device_id": device_id}):  # none if it was deleted
            changed = ask(_CHANGED, {"device_id": device_id, "before": before.get(subject, 0)})
            results.setdefault(slug, set()).update(key for (key,) in changed)
    told = {slug: frozenset(keys) for slug, keys in results.items()}
    return News(stamps, frozenset(told), told, subjects)


def of_devices(session: Session) -> dict[int, int]:
    """Return how often the results of each device changed, by the id of its row."""
    rows = session.execute(select(Change.subject, Change.stamp).where(Change.subject.startswith(_DEVICE)))
    return {int(subject.removeprefix(_DEVICE)): stamp for subject, stamp in rows}


Mark = tuple[int, float]


class Watch:
    """Cheap check for commits since a mark. Thread-safe.

    With SQLite it sees commits of any process at once; with PostgreSQL those of this process at once, and others
    after at most `max_age_s`.
    """

    def __init__(self, database: Database, max_age_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._database, self._max_age_s, self._clock = database, max_age_s, clock
        path = sqlite_path(database.engine)
        self._file = None if path is None else f"{path.absolute().as_uri()}?mode=ro"
        self._lock = threading.Lock()
        self._sqlite: sqlite3.Connection | None = None

    def mark(self) -> Mark:
        """Return a mark to compare with later; take it before reading the database."""
        version = self._version()
        return (self._database.commits.count, self._clock()) if version is None else (version, 0.0)

    def is_as_at(self, mark: Mark) -> bool:
        """Return whether no commit since the mark is known."""
        version = self._version()
        if version is not None:
            return version == mark[0]
        return self._database.commits.count == mark[0] and self._clock() - mark[1] <= self._max_age_s

    def news(self, before: Mapping[str, int]) -> News | None:
        """Return the `news` in a tenth of a millisecond; None unless the database is SQLite and can be read at once."""
        with self._lock, suppress(sqlite3.Error):
            if (connection := self._sqlite) is not None:
                return _news(lambda query, values: connection.execute(_text(query), values).fetchall(), before)
        return None

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            if self._sqlite is not None:
                self._sqlite.close()
                self._sqlite = None

    def _version(self) -> int | None:
        """Return SQLite's version number of the file's content, valid for one connection; None for other databases."""
        if self._file is None:
            return None
        with self._lock, suppress(sqlite3.Error):
            if self._sqlite is None:
                self._sqlite = sqlite3.connect(self._file, uri=True, check_same_thread=False, timeout=0)
            return self._sqlite.execute("PRAGMA data_version").fetchone()[0]
        return -time.monotonic_ns()  # differs each time: with an unknown version, assume a change


@cache
def _text(query: _Query) -> str:
    return str(query.compile(dialect=sqlite.dialect(paramstyle="named")))
