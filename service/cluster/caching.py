"""What the compilers of a place count, beside compiling."""

from typing import Protocol

from codegen.workers.cache import CacheUses
from tuner.measure.measure import Compiler


class CachingCompiler(Compiler, Protocol):
    """A Compiler that counts what its cache had."""

    @property
    def uses(self) -> CacheUses: ...
