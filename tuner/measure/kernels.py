"""Kernels of a session: compiled for its candidates, and kept for the final comparison."""

from collections.abc import Callable, Set
from concurrent.futures import ThreadPoolExecutor

from codegen import AnyArtifact, KernelConfig
from tuner.measure.isa_check import (
    Compilation,
    Examination,
    Examining,
    Later,
    Native,
    Unexamined,
)
from tuner.measure.measure import (
    Bench,
    Compiler,
)
from tuner.measure.measurement_reuse import Reuse


class Kernels:
    """Compiler of candidates; for predicted times, `native` also examines the code for their GPU."""

    def __init__(
        self, bench: Bench, pool: Compiler, native: Native | None, reuse: Reuse, until_s: Callable[[], float]
    ) -> None:
        self._bench, self._pool, self._native, self._reuse, self._until_s = bench, pool, native, reuse, until_s
        self._threads = ThreadPoolExecutor(pool.workers)
        self._kept: dict[KernelConfig, AnyArtifact] = {}

    def begin(self, config: KernelConfig) -> Compilation:
        """Begin to compile a configuration."""
        return self._pool.compile(self._bench.problem, config, self._bench.spec)

    def candidate(self, config: KernelConfig) -> Examining:
        """Begin to compile a candidate; if its time is known, only on request."""
        if self._bench.device is not None and self._reuse.knows(config):
            return Later(lambda: self.examining(self.begin(config)))
        return self.examining(self.begin(config))

    def examining(self, compilation: Compilation) -> Examining:
        """Return the candidate of a compilation."""
        if self._bench.device is None and self._native is not None:
            return Examination(compilation, self._native, self._threads, self._until_s())
        return Unexamined(compilation)

    def keep(self, config: KernelConfig, artifact: AnyArtifact, wanted: Set[KernelConfig]) -> None:
        """Keep a kernel; drop those that are not in `wanted`."""
        self._kept = {c: a for c, a in (self._kept | {config: artifact}).items() if c in wanted}

    def of(self, config: KernelConfig) -> AnyArtifact | Compilation:
        """Return the kernel, or a new compilation if an earlier run made it."""
        return self._kept.get(config) or self.begin(config)

    def close(self) -> None:
        """Stop without waiting for work in progress."""
        self._threads.shutdown(wait=False, cancel_futures=True)
