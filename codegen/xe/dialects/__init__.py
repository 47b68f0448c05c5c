"""The dialects of the compiler; parsing and printing of modules."""

from functools import cache
from io import StringIO

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func
from xdsl.ir import Operation

from codegen.xe.dialects.accessors import use_direct_accessors
from codegen.xe.dialects.gpu import Gpu
from codegen.xe.dialects.kernel_context import (
    KernelContext,
    KernelParser,
)
from codegen.xe.dialects.printer import ModulePrinter
from codegen.xe.dialects.upstream.affine_ops import Affine
from codegen.xe.dialects.upstream.arith_ops import Arith
from codegen.xe.dialects.upstream.control_ops import (
    ControlFlow,
    Scf,
)
from codegen.xe.dialects.upstream.index_ops import Index
from codegen.xe.dialects.upstream.linalg import Linalg
from codegen.xe.dialects.upstream.math_ops import Math
from codegen.xe.dialects.upstream.memref_ops import MemRef
from codegen.xe.dialects.upstream.vector_ops import Vector
from codegen.xe.dialects.xegpu import XeGPU
from codegen.xe.dialects.xetile import XeTile

__all__ = ["Gpu", "XeGPU", "XeTile", "context", "parse", "text"]

_DIALECTS = (
    Builtin,
    Affine,
    Arith,
    ControlFlow,
    Func,
    Index,
    Linalg,
    Math,
    MemRef,
    Scf,
    Vector,
    Gpu,
    XeTile,
    XeGPU,
)

for _dialect in _DIALECTS:
    use_direct_accessors(_dialect.operations)


@cache
def context() -> Context:
    """Return a context with every dialect that kernels use."""
    ctx = KernelContext()
    for dialect in _DIALECTS:
        ctx.load_dialect(dialect)
    return ctx


def parse(source: str, name: str = "<input>") -> ModuleOp:
    """Parse a module without verifying it.

    Raises:
        ParseError: the text is not a module of these dialects.
    """
    return KernelParser(context(), source, name).parse_module()


def text(op: Operation, *, generic: bool = False) -> str:
    """Print a module or an operation of one; with `generic` in MLIR's generic form, without aliases."""
    printer = ModulePrinter(StringIO(), print_generic_format=generic)
    printer.print_op(op)
    assert isinstance(printer.stream, StringIO)
    return f"{printer.alias_definitions()}{printer.stream.getvalue()}\n"
