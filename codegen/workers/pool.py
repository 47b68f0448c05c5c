"""Compile workers: processes that may abort, hang or grow without harm."""

import contextlib
import multiprocessing
import signal
from collections.abc import Callable, Generator
from concurrent.futures import BrokenExecutor, Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass
from multiprocessing import resource_tracker
from pathlib import Path
from types import TracebackType
from typing import Generic, Self, TypeVar

from pebble import ProcessExpired, ProcessFuture, ProcessPool

from codegen.artifact.kernel_artifact import (
    AnyArtifact,
    CpuArtifact,
    KernelArtifact,
)
from codegen.backend import compile_kernel
from codegen.config.kernel_config import KernelConfig
from codegen.errors import CompileCrashed, CompileTimedOut
from codegen.problem.gemm import GemmProblem
from codegen.workers.busy_timer import Busy
from codegen.workers.cache import (
    CacheUses,
    CompileCache,
)
from codegen.workers.gc_policy import collect_between
from codegen.workers.starting import start_worker
from hal import DeviceSpec

Artifact = TypeVar("Artifact", bound=KernelArtifact | CpuArtifact, covariant=True)
Result = TypeVar("Result")
Compiler = Callable[[GemmProblem, KernelConfig, DeviceSpec], AnyArtifact]

_COMPILATIONS_PER_WORKER = 200  # MLIR's context grows with every module


@dataclass(frozen=True, slots=True)
class Made(Generic[Artifact]):
    """Artifact of a worker, and whether it was a cache hit."""

    artifact: Artifact
    from_cache: bool = False


class Compilation(Generic[Artifact]):
    """A compilation under way."""

    def __init__(self, future: ProcessFuture[Made[Artifact]], timeout_s: float) -> None:
        self._future = future
        self._timeout_s = timeout_s

    def result(self) -> Artifact:
        """Wait for the artifact.

        Raises:
            Refused: a legality rule refuses.
            CompileFailed: a stage failed.
            CompileTimedOut: the time limit passed.
            CompileCrashed: the compiler ended its process, or the workers ended before it was its turn.
        """
        return self.finished().artifact

    def finished(self) -> Made[Artifact]:
        """Wait for the artifact and its origin; raises as `result`."""
        try:
            return self._future.result()
        except FutureTimeoutError:
            raise CompileTimedOut("worker", f"no result within {self._timeout_s:g} s; the worker was ended") from None
        except ProcessExpired as expired:
            raise CompileCrashed("worker", f"the compiler ended its process ({_how(expired.exitcode)})") from None
        except (BrokenExecutor, RuntimeError) as broken:  # Pebble's, when workers end outside of a compilation
            # With the traceback in the worker as its cause, it is the compiler's.
            what = "the compile workers ended" if broken.__cause__ is None else f"a {type(broken).__name__}"
            raise CompileCrashed("worker", f"{what}: {broken}") from None

    def cancel(self) -> None:
        """Cancel it unless it has ended."""
        self._future.cancel()


class CompilePool:
    """Workers that compile, with a time limit for each compilation and a cache. Workers that all end are replaced.

    `uses` counts what the cache had; a kernel that was refused or failed to compile is one that it had not.
    """

    def __init__(self, workers: int, timeout_s: float, cache: Path | None, compiler: Compiler = compile_kernel) -> None:
        self.workers = workers
        self._compiler = compiler
        self._timeout_s = timeout_s
        self._cache = cache
        self.uses = CacheUses()
        self._busy = Busy()
        self._pool = self._new_pool()

    @property
    def busy_s(self) -> float:
        """Seconds of wall time in which at least one compilation was under way."""
        return self._busy.seconds

    def wait_until_up(self) -> None:
        """Wait until a worker can compile, at most the time limit of a compilation."""
        with contextlib.suppress(FutureTimeoutError, ProcessExpired, BrokenExecutor, RuntimeError):
            self._schedule(_answer).result(self._timeout_s)

    def compile(self, problem: GemmProblem, config: KernelConfig, spec: DeviceSpec) -> Compilation[AnyArtifact]:
        """Start the compilation of a GEMM kernel."""
        future = self._schedule(_compile, self._compiler, problem, config, spec, self._cache)
        self._busy.begin()
        future.add_done_callback(self._end)
        return Compilation(future, self._timeout_s)

    def _end(self, future: Future[Made[AnyArtifact]]) -> None:
        self._busy.end()
        if self._cache is not None and not future.cancelled():
            self.uses.note(hit=future.exception() is None and future.result().from_cache)

    def compile_module(
        self,
        source: str,
        spec: DeviceSpec,
        name: str = "<input>",
        *,
        block: tuple[int, int, int] | None = None,
        marked: bool = False,
    ) -> Compilation[KernelArtifact]:
        """Start the compilation of the kernels of a module; the cache is not used."""
        return Compilation(self._schedule(_compile_module, source, spec, name, block, marked), self._timeout_s)

    def close(self) -> None:
        """End the workers; running compilations are dropped."""
        self._pool.stop()
        self._pool.join()

    def _schedule(self, function: Callable[..., Result], *arguments: object) -> ProcessFuture[Result]:
        with _signals_held():
            if not self._pool.active:
                self.close()
                self._pool = self._new_pool()
            return self._pool.schedule(function, args=arguments, timeout=self._timeout_s)

    def _new_pool(self) -> ProcessPool:
        return ProcessPool(
            max_workers=self.workers,
            max_tasks=_COMPILATIONS_PER_WORKER,
            initializer=start_worker,
            context=multiprocessing.get_context("spawn"),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@contextlib.contextmanager
def _signals_held() -> Generator[None]:
    """Start threads, and processes of these, that never get Ctrl-C and SIGTERM, not even while they import.

    They go to the parent, which ends the workers itself.
    """
    resource_tracker.ensure_running()  # lets signals through where it starts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _answer() -> None:
    """Do nothing: the call shows that a worker is up."""


def _compile(
    compiler: Compiler, problem: GemmProblem, config: KernelConfig, spec: DeviceSpec, cache: Path | None
) -> Made[AnyArtifact]:
    store = CompileCache(cache) if cache is not None else None
    if store is not None and (known := store.get(problem, config, spec)) is not None:
        return Made(known, from_cache=True)
    collect_between()
    artifact = compiler(problem, config, spec)
    if store is not None:
        # A cache that cannot be written costs time, not the result.
        with contextlib.suppress(OSError):
            store.put(artifact, spec)
    return Made(artifact)


def _compile_module(
    source: str, spec: DeviceSpec, name: str, block: tuple[int, int, int] | None, marked: bool
) -> Made[KernelArtifact]:
    from codegen.pipeline import compile_module  # MLIR, which workers for CPUs do without

    collect_between()
    return Made(compile_module(source, spec, name, block=block, marked=marked))


def _how(exitcode: int | None) -> str:
    if exitcode is not None and exitcode < 0:
        return signal.Signals(-exitcode).name
    return f"exit status {exitcode}"
