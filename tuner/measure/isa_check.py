"""Native compilation of kernels for a GPU that need not be present, and what it implies for a predicted time."""

import math
from collections.abc import Callable
from concurrent.futures import CancelledError, Executor
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from codegen import AnyArtifact, CodegenError, CompileFailed, CompileTimedOut, GemmArtifact
from codegen.errors import OclocUnusable, ScoreboardHazards
from codegen.xe.isa import (
    Compiled,
    NativeCode,
    check_scoreboard,
    with_isa,
)
from tuner.session.trial import Status

Native = Callable[[GemmArtifact, float], NativeCode]
"""Compiles a kernel for its GPU, with a deadline on the monotonic clock. Called from several threads.

Raises CompileFailed, CompileTimedOut at the deadline or after the time of one compilation, and OclocUnusable.
"""


class Compilation(Protocol):
    """A running compilation, as returned by codegen's pool."""

    def result(self) -> AnyArtifact: ...

    def cancel(self) -> None: ...


class Finding(NamedTuple):
    """Status and reason of a trial whose time is rejected."""

    status: Status
    reason: str


@dataclass(frozen=True, slots=True)
class Examined:
    """A kernel, with its native code and the finding about that where they are known."""

    artifact: AnyArtifact
    finding: Finding | None = None
    compiled: Compiled | None = None


def examine(native: Native, artifact: AnyArtifact, until_s: float = math.inf) -> Examined:
    """Compile a kernel for its GPU: spilled registers, hazards and code that cannot be generated are findings."""
    if not isinstance(artifact, GemmArtifact):
        return Examined(artifact)  # a CPU runs the code as generated
    try:
        code = native(artifact, until_s)
    except OclocUnusable:
        return Examined(artifact)  # nothing is known about the kernel
    except CompileTimedOut as failure:
        return Examined(artifact, Finding(Status.TIMED_OUT, f"compilation: {failure}"))
    except CompileFailed as failure:
        return Examined(artifact, Finding(Status.COMPILE_FAILED, str(failure)))
    return Examined(with_isa(artifact, code), _finding(code), code.compiled)


def _finding(code: NativeCode) -> Finding | None:
    try:
        check_scoreboard(code)
    except ScoreboardHazards as failure:
        return Finding(Status.COMPILE_FAILED, str(failure))
    return Finding(Status.REJECTED, _spill(code)) if code.spill_bytes else None


def _spill(code: NativeCode) -> str:
    worst = max(code.reports, key=lambda report: report.spill_bytes)
    return (
        f"spill: kernel {worst.kernel} spills {worst.spill_bytes} bytes of {worst.grf_count} registers on {code.chip}, "
        "so its predicted time does not hold"
    )


class Examination:
    """A compilation whose kernel is examined in a thread of `threads` as soon as it is compiled."""

    def __init__(self, compilation: Compilation, native: Native, threads: Executor, until_s: float = math.inf) -> None:
        self._compilation = compilation
        self._future = threads.submit(lambda: examine(native, compilation.result(), until_s))

    def result(self) -> Examined:
        """Wait for the kernel and the findings.

        Raises:
            Refused, CompileFailed: from the compilation.
            CancelledError: it was cancelled.
        """
        return self._future.result()

    def cancel(self) -> None:
        """Cancel it if it has not ended."""
        self._compilation.cancel()
        self._future.cancel()


@dataclass(frozen=True, slots=True)
class Unexamined:
    """A compilation whose kernel is not examined."""

    compilation: Compilation

    def result(self) -> Examined:
        """Wait for the kernel.

        Raises:
            Refused, CompileFailed: from the compilation.
            CancelledError: it was cancelled.
        """
        return Examined(self.compilation.result())

    def cancel(self) -> None:
        """Cancel it if it has not ended."""
        self.compilation.cancel()


@dataclass(frozen=True, slots=True)
class Quiet:
    """A compilation whose result waits until `others` have ended too, whatever their outcome.

    For a device that is also the compiling CPU: a concurrent compilation would disturb the times.
    """

    wanted: "Examining"
    others: tuple["Examining", ...]

    def result(self) -> Examined:
        """Wait for all compilations.

        Raises:
            Refused, CompileFailed: from the requested compilation.
            CancelledError: it was cancelled.
        """
        for other in self.others:
            with suppress(CodegenError, CancelledError):
                other.result()
        return self.wanted.result()

    def cancel(self) -> None:
        """Cancel those that have not ended."""
        for each in (self.wanted, *self.others):
            each.cancel()


class Later:
    """A compilation that begins when its result is requested: it may not be needed."""

    def __init__(self, begin: "Callable[[], Examining]") -> None:
        self._begin = begin
        self._begun: Examining | None = None

    def result(self) -> Examined:
        """Compile, and wait for the kernel.

        Raises:
            Refused, CompileFailed: from the compilation.
            CancelledError: it was cancelled.
        """
        self._begun = self._begin()
        return self._begun.result()

    def cancel(self) -> None:
        """Cancel it if it has begun and not ended."""
        if self._begun is not None:
            self._begun.cancel()


Examining = Examination | Unexamined | Quiet | Later
