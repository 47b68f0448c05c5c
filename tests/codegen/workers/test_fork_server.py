"""A process that forks for another does its work, says how work ended, and ends with it."""

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from codegen import CompileFailed
from codegen.workers.fork import in_fork
from codegen.workers.fork_server import (
    ForkServer,
    ForkServerEnded,
)
from codegen.xe.spirv import (
    emit_spirv,
    start_emitter,
)

KERNEL = """
target triple = "spirv64-unknown-unknown"

define spir_kernel void @scale(ptr addrspace(1) %x, float %by) {
  %v = load float, ptr addrspace(1) %x
  %w = fmul float %v, %by
  store float %w, ptr addrspace(1) %x
  ret void
}
"""


def work(data: bytes) -> bytes:
    """As the data says."""
    if data == b"raise":
        raise CompileFailed("llvm", "what is wrong")
    if data == b"abort":
        os.abort()
    if data == b"files":
        return str(list(Path("/proc/self/fd").iterdir())).encode()
    return data[::-1]


def forked(data: bytes) -> bytes:
    """That work, in a fork of the server."""
    return in_fork("llvm", "LLVM", lambda: work(data), 10)


@pytest.fixture
def server() -> Iterator[ForkServer]:
    """A server of that work."""
    made = ForkServer("llvm", forked)
    yield made
    made.close()


def test_what_the_work_gives_comes_back_whole(server: ForkServer) -> None:
    data = bytes(range(256)) * 5000
    assert server.run(data) == data[::-1]
    assert server.run(b"") == b""


@pytest.mark.parametrize(("data", "message"), [(b"raise", "what is wrong"), (b"abort", "LLVM ended with SIGABRT")])
def test_a_failure_of_the_work_is_named_and_the_server_goes_on(server: ForkServer, data: bytes, message: str) -> None:
    with pytest.raises(CompileFailed, match=message):
        server.run(data)
    assert server.run(b"abc") == b"cba"


def test_a_failure_of_what_is_done_meanwhile_is_raised_and_the_server_goes_on(server: ForkServer) -> None:
    def meanwhile() -> None:
        raise CompileFailed("xegpu", "what is wrong")

    with pytest.raises(CompileFailed, match="what is wrong"):
        server.run(b"abc", meanwhile)
    assert server.run(b"def") == b"fed", "not the reply to the request before"


def test_it_prepares_for_each_request() -> None:
    prepared = bytearray()
    server = ForkServer("llvm", lambda data: bytes(prepared) + data, lambda: prepared.append(46))
    assert [server.run(b"a"), server.run(b"b")] == [b".a", b"..b"]
    server.close()


def test_one_that_cannot_prepare_ends() -> None:
    def prepare() -> None:
        raise MemoryError

    server = ForkServer("llvm", work, prepare)
    with pytest.raises(ForkServerEnded):
        server.run(b"abc")
    server.close()


def test_it_keeps_no_file_open_of_the_process_that_it_is_a_fork_of(tmp_path: Path) -> None:
    with contextlib.ExitStack() as files:
        for number in range(9):
            files.enter_context((tmp_path / str(number)).open("w"))
        server = ForkServer("llvm", forked)
        seen = server.run(b"files")
        server.close()
    assert seen.count(b",") < 7  # standard files, the socket, a result, messages, the folder that is listed


def test_a_server_that_is_gone_is_named(server: ForkServer) -> None:
    os.kill(server.pid, signal.SIGKILL)
    os.waitpid(server.pid, 0)
    with pytest.raises(ForkServerEnded):
        server.run(b"abc")


def test_kernels_are_the_same_by_an_emitter_and_without_one() -> None:
    alone = emit_spirv(KERNEL)
    emitter = start_emitter()
    assert [emit_spirv(KERNEL) for _ in range(3)] == [alone] * 3
    with pytest.raises(CompileFailed):
        emit_spirv("no IR")
    os.kill(emitter.pid, signal.SIGKILL)
    os.waitpid(emitter.pid, 0)
    assert emit_spirv(KERNEL) == alone


def test_an_emitter_that_cannot_fork_a_process_for_many_modules_does_so_later(monkeypatch: pytest.MonkeyPatch) -> None:
    alone, here, refusals = emit_spirv(KERNEL), os.getpid(), [BlockingIOError("no process can be started")]

    def server(stage: str, work: Callable[[bytes], bytes], prepare: Callable[[], None]) -> ForkServer:
        if os.getpid() != here and refusals:
            raise refusals.pop()
        return ForkServer(stage, work, prepare)

    monkeypatch.setattr("codegen.xe.spirv.ForkServer", server)
    emitter = start_emitter()
    assert [emit_spirv(KERNEL) for _ in range(2)] == [alone] * 2
    assert len(psutil.Process(emitter.pid).children()) == 1
    emitter.close()


def test_a_fork_that_emitted_and_is_gone_is_replaced() -> None:
    alone = emit_spirv(KERNEL)
    emitter = start_emitter()
    assert emit_spirv(KERNEL) == alone
    (fork,) = psutil.Process(emitter.pid).children()
    fork.kill()
    assert emit_spirv(KERNEL) == alone
    assert emit_spirv(KERNEL) == alone
    (other,) = psutil.Process(emitter.pid).children()
    assert other != fork
    emitter.close()
    assert other.wait(10) is None, "it ends with the emitter"
