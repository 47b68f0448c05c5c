"""Compilation on any machine; a task whose machine is lost runs again on another."""

from __future__ import annotations

import threading
import time
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from distributed import Future, KilledWorker

from codegen import AnyArtifact, CompileCrashed, GemmProblem, KernelConfig
from codegen.workers.busy_timer import Busy
from codegen.workers.cache import CacheUses
from codegen.workers.pool import Made
from hal import DeviceSpec
from service.cluster.dask.dask_worker import (
    COMPILES,
    Failed,
    compile_there,
)
from service.cluster.dask.lost import SchedulerLost
from service.cluster.executor import ExecutorLost
from service.telemetry.traces import trace_here

if TYPE_CHECKING:
    from service.cluster.dask.engine import DaskEngine

_PATIENCE_S = 300.0  # for a scheduler that does not answer
_PAUSE_S = 1.0


class DaskCompiler:
    """A Compiler that uses all machines; `uses` counts their cache hits. Thread-safe."""

    def __init__(self, engine: DaskEngine) -> None:
        self._engine = engine
        self._busy = Busy()
        self.uses = CacheUses()

    @property
    def workers(self) -> int:
        """Number of concurrent compilations of this executor."""
        return self._engine.compilations()

    @property
    def busy_s(self) -> float:
        """Seconds with at least one compilation running."""
        return self._busy.seconds

    def compile(self, problem: GemmProblem, config: KernelConfig, spec: DeviceSpec) -> DaskCompilation:
        """Start to compile."""
        return DaskCompilation(self._engine, (problem, config, spec), self._busy, self.uses)


class DaskCompilation:
    """A running compilation."""

    def __init__(
        self, engine: DaskEngine, asked: tuple[GemmProblem, KernelConfig, DeviceSpec], busy: Busy, uses: CacheUses
    ) -> None:
        self._engine, self._asked, self._busy, self._uses = engine, asked, busy, uses
        self._trace = trace_here()
        self._moved = threading.Event()
        self._cancelled = False
        self._busy.begin()
        self._counted = threading.Lock()
        self._future: Future[Any] | None = None
        with suppress(SchedulerLost):  # `result` retries
            self._begin()

    def result(self) -> AnyArtifact:
        """Wait for the artifact.

        Raises:
            Refused, CompileFailed: as the compile workers of one machine.
            CompileCrashed: every machine that compiled it died.
            CancelledError: it was cancelled.
            ExecutorLost: there was no scheduler for five minutes.
        """
        try:
            answer = self._wait()
        except KilledWorker as killed:
            raise CompileCrashed("worker", f"every machine that compiled it died: {killed}") from None
        finally:
            self._end()
        made = answer if isinstance(answer, Made) else None
        self._uses.note(hit=made is not None and made.from_cache)
        if isinstance(answer, Failed):
            raise answer.error
        assert made is not None
        assert isinstance(made.artifact, AnyArtifact)
        return made.artifact

    def cancel(self) -> None:
        """Cancel it; a machine that has started finishes it."""
        self._cancelled = True
        self._moved.set()
        self._end()

    def _wait(self) -> object:
        patience_s = time.monotonic() + _PATIENCE_S
        while True:
            if self._cancelled:
                raise CancelledError
            try:
                future = self._future or self._begin()
                return self._engine.wait(future, self._moved, lambda: self._cancelled, lambda: False)
            except SchedulerLost as lost:
                self._future = None
                if time.monotonic() > patience_s:
                    raise ExecutorLost(f"nothing compiles: {lost}") from lost
                self._moved.wait(_PAUSE_S)

    def _begin(self) -> Future[Any]:
        self._future = self._engine.submit(
            compile_there, *self._asked, self._trace, key=f"compile-{uuid4().hex}", resources={COMPILES: 1}
        )
        return self._future

    def _end(self) -> None:
        """Count it as ended once, and release it in the scheduler."""
        if self._counted.acquire(blocking=False):
            self._busy.end()
        if self._future is not None:
            self._future.release()
