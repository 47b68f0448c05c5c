"""What a GPU that need not be here would run for a kernel, and what that says of a time that is not measured."""

import math
from collections.abc import Callable
from concurrent.futures import CancelledError, Executor
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from codegen import AnyArtifact, CodegenError, CompileFailed, CompileTimedOut, GemmArtifact
from codegen.errors import OclocUnusable
from codegen.xe.isa import (
    NativeCode,
    with_isa,
)
from tuner.session.trial import Status

Native = Callable[[GemmArtifact, float], NativeCode]
"""Compiles a kernel for its GPU, until a time of the monotonic clock at the latest. Called from several threads.

Raises CompileFailed, CompileTimedOut at that time, and OclocUnusable.
"""


class Compilation(Protocol):
    """A compilation under way, as codegen's pool gives it."""

    def result(self) -> AnyArtifact: ...

    def cancel(self) -> None: ...


class Finding(NamedTuple):
    """Why a kernel whose time is not measured has none: the status and reason of its trial."""

    status: Status
    reason: str


@dataclass(frozen=True, slots=True)
class Examined:
    """A kernel, with what its GPU runs where that is known."""

    artifact: AnyArtifact
    finding: Finding | None = None


def examine(native: Native, artifact: AnyArtifact, until_s: float = math.inf) -> Examined:
    """Compile a kernel for its GPU: registers that spill are a finding, and so is code that cannot be made."""
    if not isinstance(artifact, GemmArtifact):
        return Examined(artifact)  # a CPU runs the code that it was given
    try:
        code = native(artifact, until_s)
    except OclocUnusable:
        return Examined(artifact)  # nothing is known of the kernel
    except CompileTimedOut as failure:
        return Examined(artifact, Finding(Status.TIMED_OUT, f"compilation: {failure}"))
    except CompileFailed as failure:
        return Examined(artifact, Finding(Status.COMPILE_FAILED, str(failure)))
    return Examined(with_isa(artifact, code), Finding(Status.REJECTED, _spill(code)) if code.spill_bytes else None)


def _spill(code: NativeCode) -> str:
    worst = max(code.reports, key=lambda report: report.spill_bytes)
    return (
        f"spill: kernel {worst.kernel} spills {worst.spill_bytes} bytes of {worst.grf_count} registers on {code.chip}, "
        "so its predicted time does not hold"
    )


class Examination:
    """A compilation whose kernel is examined, in a thread of `threads`, as soon as it is there."""

    def __init__(self, compilation: Compilation, native: Native, threads: Executor, until_s: float = math.inf) -> None:
        self._compilation = compilation
        self._future = threads.submit(lambda: examine(native, compilation.result(), until_s))

    def result(self) -> Examined:
        """Wait for the kernel and what is found.

        Raises:
            Refused, CompileFailed: as the compilation.
            CancelledError: it was stopped.
        """
        return self._future.result()

    def cancel(self) -> None:
        """Stop it if it has not ended."""
        self._compilation.cancel()
        self._future.cancel()


@dataclass(frozen=True, slots=True)
class Unexamined:
    """A compilation whose kernel is taken as it is."""

    compilation: Compilation

    def result(self) -> Examined:
        """Wait for the kernel.

        Raises:
            Refused, CompileFailed: as the compilation.
            CancelledError: it was stopped.
        """
        return Examined(self.compilation.result())

    def cancel(self) -> None:
        """Stop it if it has not ended."""
        self.compilation.cancel()


@dataclass(frozen=True, slots=True)
class Quiet:
    """A compilation that gives its kernel when `others` have ended too, whatever became of them.

    For a device that is the CPU that compiles: what is timed beside a compilation is the time of both.
    """

    wanted: "Examining"
    others: tuple["Examining", ...]

    def result(self) -> Examined:
        """Wait for all.

        Raises:
            Refused, CompileFailed: as the compilation that is wanted.
            CancelledError: it was stopped.
        """
        for other in self.others:
            with suppress(CodegenError, CancelledError):
                other.result()
        return self.wanted.result()

    def cancel(self) -> None:
        """Stop those that have not ended."""
        for each in (self.wanted, *self.others):
            each.cancel()


class Later:
    """A compilation that begins when its kernel is asked for: it may not be needed."""

    def __init__(self, begin: "Callable[[], Examining]") -> None:
        self._begin = begin
        self._begun: Examining | None = None

    def result(self) -> Examined:
        """Compile, and wait for the kernel.

        Raises:
            Refused, CompileFailed: as the compilation.
            CancelledError: it was stopped.
        """
        self._begun = self._begin()
        return self._begun.result()

    def cancel(self) -> None:
        """Stop it if it has begun and not ended."""
        if self._begun is not None:
            self._begun.cancel()


Examining = Examination | Unexamined | Quiet | Later
