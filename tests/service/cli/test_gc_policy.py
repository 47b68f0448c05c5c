"""The garbage collection policy of a command."""

import gc
import subprocess
import sys
from collections.abc import Iterator

import pytest

from service.cli import gc_policy
from service.cli.gc_policy import collect_after_imports


@pytest.fixture(autouse=True)
def usual() -> Iterator[tuple[int, int, int]]:
    """Keep the thresholds and callbacks of this process."""
    threshold, callbacks = gc.get_threshold(), list(gc.callbacks)
    yield threshold
    gc.set_threshold(*threshold)
    gc.callbacks[:] = callbacks


def test_the_first_collection_is_late_and_those_after_it_are_usual(
    usual: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gc_policy, "_IMPORTED", 50_000)
    gc.collect()
    before = gc.get_stats()[0]["collections"]
    collect_after_imports()
    kept: list[list[int]] = [[] for _ in range(40_000)]
    assert gc.get_stats()[0]["collections"] == before
    kept += [[] for _ in range(20_000)]
    assert gc.get_stats()[0]["collections"] > before
    assert gc.get_threshold() == usual
    assert len(kept) == 60_000


_AT_THE_END = """
import atexit, gc
atexit.register(lambda: print("frozen" if gc.get_freeze_count() > 1_000 else "not frozen"))
atexit.register(print, "first")
from service.cli.gc_policy import collect_after_imports
collect_after_imports()
"""


def test_the_interpreter_ends_without_a_search_for_garbage() -> None:
    done = subprocess.run([sys.executable, "-c", _AT_THE_END], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.splitlines() == ["first", "frozen"]
