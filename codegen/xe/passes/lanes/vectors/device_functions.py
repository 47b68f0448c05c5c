"""Functions that MLIR does not lower, as calls of OpenCL built-ins."""

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import f32, f64
from xdsl.ir import Operation, SSAValue

from codegen.xe.dialects.upstream.llvm_ops import DeviceCallOp
from codegen.xe.passes.lanes.emitter import (
    chunk_type,
    element_of,
    length_of,
)
from codegen.xe.passes.lanes.lowering import Lowering

NAMES = ("acosh", "asinh", "atanh", "cbrt", "erf", "erfc")
"""Source: OpenCL C specification 3.0, "Math functions"."""


def call(lowering: Lowering, op: Operation, operands: Sequence[SSAValue]) -> SSAValue:
    """Call the function named like the operation, in f32 for narrower elements."""
    (chunk,), name = operands, op.name.partition(".")[2]
    emitter, element, length = lowering.emitter, element_of(chunk), length_of(chunk)
    computed = f64 if element == f64 else f32
    wide = chunk_type(computed, length)
    argument = chunk if element == computed else emitter.as_f32(chunk)
    letter = "d" if computed == f64 else "f"
    symbol = f"_Z{len(name)}{name}{f'Dv{length}_' if length > 1 else ''}{letter}"
    emitter.declare(symbol, (argument,), wide)
    result = emitter.value(DeviceCallOp(symbol, [argument], wide))
    return result if element == computed else emitter.value(arith.TruncFOp(result, chunk.type))
