"""Compilers of an executor, with counters of cache hits."""

from typing import Protocol

from codegen.workers.cache import CacheUses
from tuner.measure.measure import Compiler


class CachingCompiler(Compiler, Protocol):
    """A Compiler that counts its cache hits."""

    @property
    def uses(self) -> CacheUses: ...
