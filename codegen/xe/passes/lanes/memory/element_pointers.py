"""Pointers of elements that lanes access one by one: those of several registers are computed as vectors.

Each lane's offset of register i is `shared + numbers[i] + products[i]`, in elements: an index that all registers share,
a constant, and an element of a vector where the step from one row to the next is no constant. A clamped offset is
selected by a condition, so that all three become one index or one vector.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.dialects import arith
from xdsl.ir import Attribute, SSAValue

from codegen.xe.dialects.index_list import Index
from codegen.xe.passes.lanes.emitter import Emitter, index, length_of
from codegen.xe.passes.lanes.memory.lane_memory import all_of, numbers_of, pointer_at
from codegen.xe.passes.lanes.memory.surfaces import MatrixAccess
from codegen.xe.passes.lanes.vectors.layout import Places
from codegen.xe.subgroup import subgroup_size

_NARROW = 8


@dataclass(frozen=True, slots=True)
class _Axis:
    """Rows or columns of registers: a part that they share, and a number to add for each.

    `step`: elements from one to the next. `inside`: whether they are inside the matrix, one condition or a vector.
    """

    shared: Index
    numbers: Sequence[int]
    step: Index
    inside: SSAValue | None


def differences(places: Places, columns: int) -> list[bytes]:
    """Return for each register by how many rows and columns the elements of its lanes differ, as a key."""
    coordinates = np.stack(np.divmod(_filled(places), columns), 1)
    return [of.tobytes() for of in coordinates - coordinates.min(2, keepdims=True)]


def _filled(places: Places) -> Places:
    """Return places with those that hold nothing filled by another element of their register, or by the first."""
    return np.where(places < 0, np.maximum(places.max(-1, keepdims=True), 0), places)


def pointers_of(
    emitter: Emitter, matrix: MatrixAccess, element: Attribute, places: Places, columns: int, *, clamped: bool
) -> tuple[list[SSAValue], list[SSAValue]]:
    """Return the pointers of registers with the same `differences`, and the conditions of elements inside the matrix.

    A condition is one of all registers, or a vector. `clamped`: pointers of elements outside are to the first element,
    or, on GPUs with narrow sub-groups, to the first row or column: rows share the offset of a column, and columns that
    of a row. Those add and select 64 bits in several instructions; others, which do not, spilled more.
    """
    rows_of, columns_of = np.divmod(_filled(places), columns)
    row = _axis(emitter, matrix.row, rows_of, matrix.height, matrix.pitch)
    column = _axis(emitter, matrix.column, columns_of, matrix.width, 1)
    inside = [axis.inside for axis in (row, column) if axis.inside is not None]
    parts: list[tuple[list[_Axis], SSAValue | None]] = [([row, column], None)]
    if clamped and subgroup_size() == _NARROW:
        parts = [([row], row.inside), ([column], column.inside)]
    elif clamped and inside:
        inside = [_all(emitter, inside)]
        parts = [([row, column], inside[0])]
    pointer, numbers, offsets = matrix.pointer, [0] * len(places), list[SSAValue]()
    for axes, where in parts:
        shared, more, products = _offset(emitter, axes)
        if where is not None:
            offset = _joined(emitter, shared, more, products)
            offset = _repeated(emitter, offset, max(length_of(offset), length_of(where)))
            shared = emitter.chosen(where, offset, emitter.splat(emitter.constant(0, index), length_of(offset)))
            more, products = [0] * len(places), None
            if length_of(shared) > 1:
                shared, products = 0, shared
        pointer = pointer if shared == 0 else pointer_at(emitter, pointer, shared, element)
        numbers = [a + b for a, b in zip(numbers, more, strict=True)]
        offsets += [] if products is None else [emitter.as_integers(products)]
    return [_advanced(emitter, pointer, element, number, offsets, i) for i, number in enumerate(numbers)], inside


def _axis(emitter: Emitter, start: Index, of_lanes: Places, extent: Index | None, step: Index) -> _Axis:
    lane, least = numbers_of(emitter, of_lanes[0])
    shared, numbers = emitter.sum(start, lane), (of_lanes[:, 0] - of_lanes[0, 0] + least).tolist()
    return _Axis(shared, numbers, step, _inside(emitter, shared, numbers, extent))


def _inside(emitter: Emitter, shared: Index, numbers: Sequence[int], extent: Index | None) -> SSAValue | None:
    if extent is None:
        return None
    if isinstance(shared, int) and isinstance(extent, int) and all(0 <= shared + number < extent for number in numbers):
        return None
    # Unsigned: negative coordinates are out of bounds, too.
    at = _joined(emitter, shared, numbers)
    return emitter.compared(at, emitter.splat(emitter.index(extent), length_of(at)), "ult")


def _all(emitter: Emitter, conditions: Sequence[SSAValue]) -> SSAValue:
    """Return the conjunction of conditions, of which some are of all registers."""
    longest = max(map(length_of, conditions))
    return all_of(emitter, [_repeated(emitter, condition, longest) for condition in conditions])


def _repeated(emitter: Emitter, value: SSAValue, length: int) -> SSAValue:
    """Return a vector of `length`, or one value for all registers as such a vector."""
    return value if length_of(value) == length else emitter.splat(value, length)


def _offset(emitter: Emitter, axes: Sequence[_Axis]) -> tuple[Index, list[int], SSAValue | None]:
    """Return the offsets of registers in elements: what they share, a number to add for each, and a vector to add."""
    shared = emitter.sum(*(emitter.product(axis.shared, axis.step) for axis in axes))
    numbers, products = [0] * len(axes[0].numbers), None
    for axis in axes:
        if isinstance(axis.step, int):
            numbers = [number + more * axis.step for number, more in zip(numbers, axis.numbers, strict=True)]
        elif len(set(axis.numbers)) == 1:
            shared = emitter.sum(shared, emitter.product(axis.numbers[0], axis.step))
        else:
            of_each, step = emitter.numbers(axis.numbers, index), emitter.splat(axis.step, len(axis.numbers))
            products = emitter.pure(arith.MuliOp, (of_each, step), of_each.type)
    return shared, numbers, products


def _joined(emitter: Emitter, shared: Index, numbers: Sequence[int], products: SSAValue | None = None) -> SSAValue:
    """Return the sum of what registers share, of a number for each and of a vector: one, or a vector if they differ."""
    if len(set(numbers)) == 1 and products is None:
        return emitter.index(emitter.sum(shared, numbers[0]))
    terms = [] if products is None else [products]
    if isinstance(shared, int):
        numbers = [shared + number for number in numbers]
    else:
        terms.append(emitter.splat(shared, len(numbers)))
    if any(numbers) or not terms:
        terms.append(emitter.numbers(numbers, index))
    total = terms[0]
    for term in terms[1:]:
        total = emitter.pure(arith.AddiOp, (total, term), total.type)
    return total


def _advanced(
    emitter: Emitter, pointer: SSAValue, element: Attribute, number: int, offsets: Sequence[SSAValue], register: int
) -> SSAValue:
    for offset in offsets:
        pointer = emitter.pointer(pointer, emitter.register((offset, register)), element)
    return emitter.pointer(pointer, number, element) if number else pointer
