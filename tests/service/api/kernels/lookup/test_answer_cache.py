"""The cache of lookup answers stays within its bytes, whatever is asked."""

import tracemalloc
from datetime import UTC, datetime

import pytest

from db.queries.change_feed import News
from service.api.kernels.lookup.answer_cache import Answers, Kept, Question

BUDGET = 1_000_000
LISTING = object()


def answers() -> Answers:
    """An empty cache at a fixed time."""
    return Answers(BUDGET, lambda: datetime(2026, 11, 24, tzinfo=UTC))


@pytest.mark.parametrize("kind", ["queries", "batches of devices with long names"])
def test_requests_take_no_more_memory_than_their_share(kind: str) -> None:
    cache = answers()
    tracemalloc.start()
    try:
        for number in range(3000):
            padded = f"m={number}&x=" + "\u4e00" * 600
            question: Question = ("/v1/kernels", padded.encode()) if kind == "queries" else (padded, None, b"{}")
            cache.remember([question], [("b580", f"{number:064}")], LISTING)
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert BUDGET / 8 < used < BUDGET / 3


def test_a_request_that_comes_again_is_counted_once() -> None:
    cache = answers()
    for _ in range(3000):
        cache.remember([("/v1/kernels", b"m=1")], [("b580", "a" * 64)], LISTING)
    cache.remember([("/v1/kernels", b"m=2")], [("b580", "b" * 64)], LISTING)
    assert len(cache._questions) == 2


def miss(number: int) -> Kept:
    """An answer that depends on all results of the device."""
    return Kept(b"x" * 600 + str(number).encode(), None, None, None)


def test_answers_that_depend_on_other_problems_take_no_more_memory_than_the_budget() -> None:
    cache = answers()
    tracemalloc.start()
    try:
        for number in range(8000):
            cache.keep((f"b580-{number % 3}", f"{number:064}"), miss(number), 0, LISTING)
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert BUDGET / 4 < used < BUDGET
    assert sum(map(len, cache._others.values())) == len(cache._kept) < 1000


def test_news_evict_the_answers_that_depend_on_other_problems_of_that_device_alone() -> None:
    cache = answers()
    keys = [("b580", "a" * 64), ("b580", "b" * 64), ("b60", "c" * 64)]
    for number, key in enumerate(keys):
        cache.keep(key, miss(number), 0, LISTING)
    cache.on_news(News({}, frozenset({"b580"}), {"b580": frozenset()}))
    assert [kept is not None for kept in cache.find(keys, LISTING)] == [False, False, True]
    assert set(cache._others) == {"b60"}
    assert cache._bytes == len(miss(2).body) + len("b60") + 64 + 1000
