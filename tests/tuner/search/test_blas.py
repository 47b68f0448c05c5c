"""OpenBLAS computes with one thread where asked, and with as many as before after it."""

from collections.abc import Generator

import pytest

from tuner.search.blas import one_thread, set_threads


@pytest.fixture
def threads() -> Generator[int]:
    """The number of threads, 2 during the test."""
    before = set_threads(2)
    if before is None:
        pytest.skip("numpy has another BLAS")
    yield 2
    set_threads(before)


def _present() -> int | None:
    threads = set_threads(1)
    if threads is not None:
        set_threads(threads)
    return threads


def test_one_thread_until_the_last_user_ends(threads: int) -> None:
    with one_thread():
        with one_thread():
            assert _present() == 1
        assert _present() == 1
    assert _present() == threads


def test_threads_are_back_after_an_exception(threads: int) -> None:
    with pytest.raises(KeyError), one_thread():
        raise KeyError
    assert _present() == threads
