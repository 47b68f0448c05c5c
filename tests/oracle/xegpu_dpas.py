"""The meaning of XeGPU's operations on values."""

from codegen.xe.dialects import xegpu
from tests.oracle.combine import product
from tests.oracle.elements import (
    Array,
    element_of,
)
from tests.oracle.frame import Frame
from tests.oracle.refusal import InterpretationRefused
from tests.oracle.registry import rule_of


@rule_of(xegpu.DpasOp)
def _dpas(frame: Frame, op: xegpu.DpasOp) -> None:
    a, b = frame.array(op.a), frame.array(op.b)
    if min(a.ndim, b.ndim) < 2:
        raise InterpretationRefused("", "expected the matrices of a whole sub-group, got those of a work-item")
    a = a.reshape(a.shape[0], -1)
    c = None if op.c is None else frame.array(op.c)
    frame.set(op.d, product(a, _unpacked(b), c, element_of(op.d.type)))


def _unpacked(matrix: Array) -> Array:
    """A matrix [K, N] from words [K / v, N, v] of v elements of a column, if it is in words."""
    if matrix.ndim == 2:
        return matrix
    words, columns, length = matrix.shape
    return matrix.transpose(0, 2, 1).reshape(words * length, columns)


@rule_of(xegpu.ConvertLayoutOp)
def _convert_layout(frame: Frame, op: xegpu.ConvertLayoutOp) -> None:
    """Each sub-group holds another part of the same values."""
    frame.set(op.result, frame.array(op.source))
