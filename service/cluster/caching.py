"""What the compilers of a place count, beside compiling."""

from typing import Protocol

from codegen.cache import CacheUses
from tuner.measure import Compiler


class CachingCompiler(Compiler, Protocol):
    """A Compiler that counts what its cache had."""

    @property
    def uses(self) -> CacheUses: ...
