"""Cache of rendered lookup answers, in memory, invalidated when something that they depend on changes.

An answer from results of the problem itself depends on that problem and device; any other answer on all
results of the device. One that lacks a dynamic kernel because that is not in the compile cache, which does not notify
of changes, is valid for a short time.
"""

import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from service.api.kernels.lookup.answers import Answer, Key
from service.api.kernels.lookup.batch_schemas import Columns
from service.api.kernels.lookup.schemas import AnswerSource, MissOut

if TYPE_CHECKING:
    from db.queries.change_feed import News

_OVERHEAD_BYTES = 1_000  # overhead of an entry besides its text, approximately
_QUESTION_OVERHEAD_BYTES = 300  # of its two tuples and its entry in the dictionary, approximately
_SHARE_OF_QUESTIONS = 4
Question = tuple[str | bytes | None, ...]
"""The parts of a request that its answer depends on, as they were received."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A rendered answer, its source and columns; a miss has neither. Valid until `until`, unless None."""

    body: bytes
    columns: Columns | None
    source: AnswerSource | None
    until: float | None

    @classmethod
    def of(cls, answer: Answer) -> "Kept":
        """Render an answer."""
        found, end = answer.found, None if answer.until is None else answer.until.timestamp()
        body = found.model_dump_json().encode()
        if isinstance(found, MissOut):
            return cls(body, None, None, end)
        return cls(body, Columns.of(found), found.source, end)


class Answers:
    """Answers by device and problem, and the requests that they answered. Thread-safe.

    At most `most_bytes`, of which requests take a quarter; the least recently used answers and the oldest requests are
    evicted first. `generation` counts invalidations: an answer that was computed in an earlier one is not stored.
    """

    def __init__(self, most_bytes: int, now: Callable[[], datetime]) -> None:
        self._most_question_bytes, self._now = most_bytes // _SHARE_OF_QUESTIONS, now
        self._most_bytes = most_bytes - self._most_question_bytes
        self._lock = threading.Lock()
        self._kept: OrderedDict[Key, Kept] = OrderedDict()
        self._others: dict[str, set[str]] = {}  # by device the problems whose answers come from other problems
        self._questions: OrderedDict[Question, Key] = OrderedDict()
        self._listing: object = None
        self._bytes = self._question_bytes = 0
        self.generation = 0

    def find(self, keys: Sequence[Key], listing: object) -> list[Kept | None]:
        """Return the cached answers for that listing of devices."""
        now = self._now().timestamp()
        with self._lock:
            return [self._find(key, now) if listing is self._listing else None for key in keys]

    def asked(self, questions: Sequence[Question], listing: object) -> list[Kept] | None:
        """Return the answers to requests seen before with that `listing` of devices; None unless all are cached."""
        now = self._now().timestamp()
        found: list[Kept] = []
        with self._lock:
            if listing is not self._listing:
                return None
            for question in questions:
                key = self._questions.get(question)
                kept = None if key is None else self._find(key, now)
                if kept is None:
                    return None
                found.append(kept)
        return found

    def remember(self, questions: Sequence[Question], keys: Sequence[Key], listing: object) -> None:
        """Store the meaning of requests, valid while the devices are those of `listing`."""
        with self._lock:
            self._begin(listing)
            for question, key in zip(questions, keys, strict=True):
                self._question_bytes += 0 if question in self._questions else _nbytes(question, key)
                self._questions[question] = key
            while self._question_bytes > self._most_question_bytes:
                self._question_bytes -= _nbytes(*self._questions.popitem(last=False))

    def keep(self, key: Key, kept: Kept, generation: int, listing: object) -> None:
        """Store an answer that was computed in that generation, for that listing of devices."""
        with self._lock:
            self._begin(listing)
            if generation != self.generation:
                return
            self._drop(key)
            self._kept[key] = kept
            self._bytes += _kept_nbytes(key, kept)
            if kept.source not in (AnswerSource.EXACT, AnswerSource.STALE):
                self._others.setdefault(key[0], set()).add(key[1])
            while self._bytes > self._most_bytes and self._kept:
                self._drop(next(iter(self._kept)))

    def on_news(self, news: "News") -> None:
        """Evict what has become stale."""
        with self._lock:
            for device in news.devices:
                for problem in self._others.get(device, set()) | news.results[device]:
                    self._drop((device, problem))
                self.generation += 1

    def _begin(self, listing: object) -> None:
        """Clear the cache if the listing changed: devices may have other names, facts or drivers."""
        if listing is self._listing:
            return
        self._listing, self._bytes, self._question_bytes = listing, 0, 0
        for table in (self._kept, self._others, self._questions):
            table.clear()

    def _find(self, key: Key, now: float) -> Kept | None:
        kept = self._kept.get(key)
        if kept is None:
            return None
        if kept.until is not None and now >= kept.until:
            self._drop(key)
            return None
        self._kept.move_to_end(key)
        return kept

    def _drop(self, key: Key) -> None:
        if (kept := self._kept.pop(key, None)) is None:
            return
        self._bytes -= _kept_nbytes(key, kept)
        device, problem = key
        if (others := self._others.get(device)) is not None:
            others.discard(problem)
            if not others:
                del self._others[device]


def _kept_nbytes(key: Key, kept: Kept) -> int:
    """Return the memory of an answer and of its key, approximately."""
    config = None if kept.columns is None else kept.columns.config
    return _OVERHEAD_BYTES + len(kept.body) + (0 if config is None else len(bytes(config))) + sum(map(len, key))


def _nbytes(question: Question, key: Key) -> int:
    """Return the memory of a request, approximately."""
    return _QUESTION_OVERHEAD_BYTES + sum(map(sys.getsizeof, (*question, *key)))
