"""The outputs of an ordered list of named stages, and the time that each took."""

import time
from collections.abc import Callable
from typing import TypeVar

from xdsl.utils.exceptions import PassFailedException, VerifyException

from codegen.artifact.kernel_artifact import StageOutput
from codegen.errors import CompileFailed

T = TypeVar("T")
Output = str | bytes
LaterOutput = Callable[[], Output]
"""Makes an output, with all checks of it, when no stage waits for it."""


class Stages:
    """Outputs in order, and the time each stage took."""

    def __init__(self) -> None:
        self._elapsed_ms: dict[str, float] = {}
        self._files: dict[str, tuple[str, bytes]] = {}
        self._later: dict[str, LaterOutput] = {}
        self._last = time.perf_counter()

    def run(self, stage: str, work: Callable[[], T]) -> T:
        """Run one part of a stage; time since the part before counts to it.

        Raises:
            CompileFailed: the part failed; it names the stage.
        """
        try:
            return work()
        except (RuntimeError, OSError, ArithmeticError, ValueError, VerifyException, PassFailedException) as error:
            raise CompileFailed(stage, str(error) or type(error).__name__) from error
        finally:
            now = time.perf_counter()
            self._elapsed_ms[stage] = self._elapsed_ms.get(stage, 0.0) + (now - self._last) * 1e3
            self._last = now

    def add(self, stage: str, file_name: str, work: Callable[[], Output]) -> bytes:
        """Run the last part of a stage and keep its output.

        Raises:
            CompileFailed: the part failed; it names the stage.
        """
        return self._keep(stage, file_name, self.run(stage, work))

    def add_or_defer(self, stage: str, file_name: str, work: Callable[[], Output | LaterOutput]) -> None:
        """Run the last part of a stage and keep its output, or let `complete` make it.

        Raises:
            CompileFailed: the part failed; it names the stage.
        """
        output = self.run(stage, work)
        if callable(output):
            self._later[stage] = output
            output = b""  # in its place
        self._keep(stage, file_name, output)

    def complete(self) -> None:
        """Make the outputs that were deferred, in order.

        Raises:
            CompileFailed: one failed; it names the stage. It stays deferred, so that no later call succeeds.
        """
        for stage, make in list(self._later.items()):
            file_name, _ = self._files[stage]
            self.add(stage, file_name, make)
            del self._later[stage]

    def outputs(self) -> tuple[StageOutput, ...]:
        """Return the stages that were collected, in order; call `complete` before."""
        assert not self._later, f"the outputs of {', '.join(self._later)} are deferred"
        return tuple(StageOutput(s, name, data, self._elapsed_ms[s]) for s, (name, data) in self._files.items())

    def _keep(self, stage: str, file_name: str, output: Output) -> bytes:
        data = output.encode() if isinstance(output, str) else output
        self._files[stage] = (file_name, data)
        return data
