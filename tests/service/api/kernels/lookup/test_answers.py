"""The cache of lookup answers stays within its bytes, whatever is asked."""

import tracemalloc
from datetime import UTC, datetime

import pytest

from service.api.kernels.lookup.answers import Answers, Question

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
