"""Work that may end its process is run in a fork, which says how it ended."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from codegen import CompileFailed, Distributor, compile_module
from codegen.workers.fork import in_fork
from codegen.xe.mlir import XeGpuModule
from hal.facts.xe import find

EXAMPLE = Path(__file__).parents[3] / "examples" / "batched_gemm.mlir"


def test_what_the_work_gives_comes_back_whole() -> None:
    data = bytes(range(256)) * 5000
    assert in_fork("llvm", "LLVM", lambda: data, 10) == data


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
def test_the_end_of_the_work_is_the_reason(work: Callable[[], bytes], message: str) -> None:
    with pytest.raises(CompileFailed) as failed:
        in_fork("llvm", "LLVM", work, 1)
    assert (failed.value.stage, failed.value.message) == ("llvm", message)


def test_a_module_over_which_mlir_ends_goes_our_way(monkeypatch: pytest.MonkeyPatch) -> None:
    lower = XeGpuModule.lower

    def ending(self: XeGpuModule, chip: str, level: str = "workgroup") -> bytes:
        if level == "workgroup":
            os.kill(os.getpid(), signal.SIGSEGV)
        return lower(self, chip, level)

    monkeypatch.setattr(XeGpuModule, "lower", ending)
    artifact = compile_module(EXAMPLE.read_text(), find("b580"))
    assert artifact.distribution.by is Distributor.XETUNE
    assert artifact.distribution.because == ("mlir-refused: MLIR ended with SIGSEGV",)
