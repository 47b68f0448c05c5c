"""Work that may end its process is run in a fork, which says how it ended."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from codegen import CompileFailed
from codegen.workers.fork import in_fork


def test_what_the_work_gives_comes_back_whole() -> None:
    data = bytes(range(256)) * 5000
    assert in_fork("llvm", "LLVM", lambda: data, 10) == data


def test_no_pipe_stays_open_where_a_process_cannot_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> int:
        raise BlockingIOError("no process can be started")

    monkeypatch.setattr(os, "fork", refuse)
    before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(BlockingIOError):
        in_fork("llvm", "LLVM", lambda: b"", 10)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def raising() -> bytes:
    """Raises after a library printed something."""
    os.write(2, b"a remark\n")
    raise CompileFailed("llvm", "what is wrong")


def killed() -> bytes:
    """Ends as an assertion of a library does."""
    os.write(2, b"assertion failed\n")
    os.abort()


def leaving() -> bytes:
    """Ends as LLVM's fatal errors do."""
    os._exit(1)


def busy() -> bytes:
    """Never ends by itself."""
    while True:
        pass


@pytest.mark.parametrize(
    ("work", "message"),
    [
        (raising, "what is wrong"),
        (killed, "LLVM ended with SIGABRT: assertion failed"),
        (leaving, "LLVM ended with exit status 1"),
        (busy, "LLVM took more than 1 s of processor time"),
    ],
)
@pytest.mark.slow
def test_the_end_of_the_work_is_the_reason(work: Callable[[], bytes], message: str) -> None:
    with pytest.raises(CompileFailed) as failed:
        in_fork("llvm", "LLVM", work, 1)
    assert failed.value.stage == "llvm"
    assert failed.value.message.startswith(message)  # Intel's runtime, where loaded, prints more of an abort
