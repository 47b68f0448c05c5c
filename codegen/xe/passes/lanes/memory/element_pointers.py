"""Pointers of elements that lanes access one by one: those of several registers are computed as vectors.

Each lane's offset of register i is `shared + numbers[i] + products[i]`, in elements: an index that all registers share,
a constant, and an element of a vector where the step from one row to the next is no constant. A clamped offset is
selected by a condition, so that all three become one index or one vector.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import i64
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

    `step`: elements from one to the next. `extent`: those of the matrix, None if all are inside.
    """

    shared: Index
    numbers: Sequence[int]
    step: Index
    extent: Index | None


@dataclass(frozen=True, slots=True)
class _Offsets:
    """Offsets of registers in elements: what they share, a number to add for each, and a vector to add."""

    shared: Index
    numbers: Sequence[int]
    products: SSAValue | None = None


def differences(places: Places, columns: int) -> list[bytes]:
    """Return for each register by how many rows and columns the elements of its lanes differ, as a key."""
    coordinates = np.stack(np.divmod(_filled(places), columns), 1)
    return [of.tobytes() for of in coordinates - coordinates.min(2, keepdims=True)]


def _filled(places: Places) -> Places:
    """Return places with those that hold nothing filled by another element of their register, or by the first."""
    return np.where(places < 0, np.maximum(places.max(-1, keepdims=True), 0), places)


@dataclass(frozen=True, slots=True)
class _Part:
    """Offsets of registers, each one of fewer `distinct` ones: `which` are their numbers."""

    distinct: _Offsets
    which: Sequence[int]


@dataclass(frozen=True, slots=True)
class Pointers:
    """Pointers of registers, from one that all of them share; a register has the sum of its offsets of all parts.

    `inside` are conditions of elements inside the matrix, each of all registers or a vector.
    """

    emitter: Emitter
    start: SSAValue
    element: Attribute
    parts: Sequence[_Part]
    inside: Sequence[SSAValue]

    def each(self) -> list[SSAValue]:
        """Return the pointer of each register."""
        emitter, element = self.emitter, self.element
        pointers = [self._shared()] * len(self.parts[0].which)
        for chunk, which in self._products():
            places = zip(pointers, which, strict=True)
            pointers = [emitter.pointer(pointer, emitter.register((chunk, at)), element) for pointer, at in places]
        advanced = zip(pointers, self._numbers(), strict=True)
        return [emitter.pointer(pointer, number, element) if number else pointer for pointer, number in advanced]

    def chunks(self) -> tuple[SSAValue, list[SSAValue]]:
        """Return the shared pointer, and chunks of offsets in elements, i64, of which a register has the sum."""
        emitter, numbers = self.emitter, self._numbers()
        offsets = [emitter.chunk([(chunk, at) for at in which]) for chunk, which in self._products()]
        if any(numbers) or not offsets:
            constant = emitter.constant(numbers[0], i64) if len(numbers) == 1 else emitter.numbers(numbers, i64)
            offsets.append(constant)
        return self._shared(), offsets

    def _shared(self) -> SSAValue:
        pointer = self.start
        for part in self.parts:
            if part.distinct.shared != 0:
                pointer = pointer_at(self.emitter, pointer, part.distinct.shared, self.element)
        return pointer

    def _products(self) -> Iterator[tuple[SSAValue, Sequence[int]]]:
        for part in self.parts:
            if part.distinct.products is not None:
                yield self.emitter.as_integers(part.distinct.products), part.which

    def _numbers(self) -> list[int]:
        """Return the constant part of the offset of each register."""
        of_parts = [[part.distinct.numbers[at] for at in part.which] for part in self.parts]
        return [sum(of_register) for of_register in zip(*of_parts, strict=True)]


def pointers_of(
    emitter: Emitter, matrix: MatrixAccess, element: Attribute, places: Places, columns: int, *, clamped: bool
) -> Pointers:
    """Return the pointers of registers with the same `differences`.

    `clamped`: pointers of elements outside the matrix are to the first element, or, on GPUs with narrow sub-groups, to
    the first row or column: rows share the offset of a column, and columns that of a row. Those add and select 64 bits
    in several instructions; others, which do not, spilled more.
    """
    rows_of, columns_of = np.divmod(_filled(places), columns)
    row = _axis(emitter, matrix.row, rows_of, matrix.height, matrix.pitch)
    column = _axis(emitter, matrix.column, columns_of, matrix.width, 1)
    inside = [condition for axis in (row, column) if (condition := _inside(emitter, axis)) is not None]
    axes_of_parts = [[row, column]]
    if clamped and subgroup_size() == _NARROW:
        axes_of_parts = [[row], [column]]
    elif clamped and inside:
        inside = [_all(emitter, inside)]
    parts = list[_Part]()
    for axes in axes_of_parts:
        of_each = list(zip(*(axis.numbers for axis in axes), strict=True))
        distinct = list(dict.fromkeys(of_each))
        axes = [replace(axis, numbers=of) for axis, of in zip(axes, zip(*distinct, strict=True), strict=True)]
        offsets = _clamped(emitter, axes) if clamped else _offset(emitter, axes)
        parts.append(_Part(offsets, [distinct.index(number) for number in of_each]))
    return Pointers(emitter, matrix.pointer, element, parts, inside)


def _axis(emitter: Emitter, start: Index, of_lanes: Places, extent: Index | None, step: Index) -> _Axis:
    lane, least = numbers_of(emitter, of_lanes[0])
    shared, numbers = emitter.sum(start, lane), (of_lanes[:, 0] - of_lanes[0, 0] + least).tolist()
    if isinstance(shared, int) and isinstance(extent, int) and all(0 <= shared + number < extent for number in numbers):
        extent = None
    return _Axis(shared, numbers, step, extent)


def _inside(emitter: Emitter, axis: _Axis) -> SSAValue | None:
    """Return the condition of elements inside the matrix, one of all registers or a vector; None if all are."""
    if axis.extent is None:
        return None
    # Unsigned: negative coordinates are out of bounds, too.
    at = _joined(emitter, _Offsets(axis.shared, axis.numbers))
    return emitter.compared(at, emitter.splat(emitter.index(axis.extent), length_of(at)), "ult")


def _all(emitter: Emitter, conditions: Sequence[SSAValue]) -> SSAValue:
    """Return the conjunction of conditions, of which some are of all registers."""
    longest = max(map(length_of, conditions))
    return all_of(emitter, [_repeated(emitter, condition, longest) for condition in conditions])


def _repeated(emitter: Emitter, value: SSAValue, length: int) -> SSAValue:
    """Return a vector of `length`, or one value for all registers as such a vector."""
    return value if length_of(value) == length else emitter.splat(value, length)


def _clamped(emitter: Emitter, axes: Sequence[_Axis]) -> _Offsets:
    """Return the offsets of registers, 0 where an element is outside the matrix."""
    offsets = _offset(emitter, axes)
    inside = [condition for axis in axes if (condition := _inside(emitter, axis)) is not None]
    if not inside:
        return offsets
    where, offset = _all(emitter, inside), _joined(emitter, offsets)
    length = max(length_of(offset), length_of(where))
    zeros = emitter.splat(emitter.constant(0, index), length)
    chosen = emitter.chosen(where, _repeated(emitter, offset, length), zeros)
    none = [0] * len(offsets.numbers)
    return _Offsets(chosen, none) if length == 1 else _Offsets(0, none, chosen)


def _offset(emitter: Emitter, axes: Sequence[_Axis]) -> _Offsets:
    """Return the offsets of registers."""
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
    return _Offsets(shared, numbers, products)


def _joined(emitter: Emitter, offsets: _Offsets) -> SSAValue:
    """Return offsets as one for all registers, or as a vector if they differ."""
    shared, numbers, products = offsets.shared, offsets.numbers, offsets.products
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
