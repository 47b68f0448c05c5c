"""One MLIR context for the process, with every upstream dialect loaded."""

from functools import cache

from torch_mlir import ir
from torch_mlir._mlir_libs import _mlirRegisterEverything


@cache
def context() -> ir.Context:
    """Return the context. Not thread-safe: one thread of a process compiles."""
    ctx = ir.Context()
    registry = ir.DialectRegistry()
    _mlirRegisterEverything.register_dialects(registry)
    ctx.append_dialect_registry(registry)
    ctx.load_all_available_dialects()
    ctx.enable_multithreading(False)
    return ctx
