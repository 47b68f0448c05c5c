"""The outputs of an ordered list of named stages, and the time that each took."""

import time
from collections.abc import Callable
from typing import TypeVar

from xdsl.utils.exceptions import PassFailedException, VerifyException

from codegen.artifact.kernel_artifact import StageOutput
from codegen.errors import CompileFailed

T = TypeVar("T")


class Stages:
    """Outputs in order, and the time each stage took."""

    def __init__(self) -> None:
        self._elapsed_ms: dict[str, float] = {}
        self._files: dict[str, tuple[str, bytes]] = {}
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

    def add(self, stage: str, file_name: str, work: Callable[[], str | bytes]) -> bytes:
        """Run the last part of a stage and keep its output.

        Raises:
            CompileFailed: the part failed; it names the stage.
        """
        output = self.run(stage, work)
        data = output.encode() if isinstance(output, str) else output
        self._files[stage] = (file_name, data)
        return data

    def outputs(self) -> tuple[StageOutput, ...]:
        """Return the stages that were collected, in order."""
        return tuple(StageOutput(s, name, data, self._elapsed_ms[s]) for s, (name, data) in self._files.items())
