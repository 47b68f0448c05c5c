"""The meaning of XeGPU's operations on values."""

from collections.abc import Iterator, Sequence

import numpy as np

from codegen.xe.dialects import xegpu
from codegen.xe.subgroup import subgroup_size
from tests.oracle.combine import product
from tests.oracle.elements import (
    Array,
    Element,
    element_of,
    shape_of,
)
from tests.oracle.frame import (
    Event,
    Frame,
)
from tests.oracle.refusal import InterpretationRefused
from tests.oracle.registry import rule_of
from tests.oracle.work_items import together


@rule_of(xegpu.DpasOp)
def _dpas(frame: Frame, op: xegpu.DpasOp) -> Iterator[Event] | None:
    if frame.lane is not None:
        return _dpas_of_work_item(frame, op, frame.lane)
    a, b = frame.array(op.a), frame.array(op.b)
    if min(a.ndim, b.ndim) < 2:
        raise InterpretationRefused("", "expected the matrices of a whole sub-group, got those of a work-item")
    a = a.reshape(a.shape[0], -1)
    c = None if op.c is None else frame.array(op.c)
    frame.set(op.d, product(a, _unpacked(b), c, element_of(op.d.type)))
    return None


def _dpas_of_work_item(frame: Frame, op: xegpu.DpasOp, lane: int) -> Iterator[Event]:
    """One instruction: work-item l holds column l of B and D, and of A what the instruction takes from it.

    Source: OpenCL extension cl_intel_subgroup_matrix_multiply_accumulate. A has 16 columns, of 8 bits 32 in pairs, of
    32 bits 8, with every second row in the second half of the sub-group.
    """
    operands = [v for v in (op.a, op.b, op.c) if v is not None]
    given = [frame.array(v).reshape(-1) for v in operands]
    d = yield from together(frame, op, given, lambda all_given: _product_of_parts(all_given, element_of(op.d.type)))
    frame.set(op.d, d[:, lane].reshape(shape_of(op.d.type)))


def _product_of_parts(given: Sequence[Sequence[Array]], element: Element) -> Array:
    parts = [np.stack(part) for part in zip(*given, strict=True)]  # [16, elements]
    per_row, depth = parts[0].shape[1], parts[1].shape[1]
    rows = per_row * subgroup_size() // depth
    if depth not in (8, 16, 32) or rows * depth != per_row * subgroup_size():
        raise InterpretationRefused("", f"expected the operands of one instruction, got {per_row} and {depth} elements")
    a = np.zeros((rows, depth), parts[0].dtype)
    for item, i in np.ndindex(subgroup_size(), per_row):
        if depth == 8:
            a[2 * i + item // 8, item % 8] = parts[0][item, i]
        else:
            wide = depth // subgroup_size()
            a[i // wide, item * wide + i % wide] = parts[0][item, i]
    return product(a, parts[1].T, parts[2].T if len(parts) == 3 else None, element)


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
