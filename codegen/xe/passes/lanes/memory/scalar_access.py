"""Lane-by-lane loads and stores where no block message applies: with bounds checks, register by register.

If each lane holds rows of a block, a chunk of adjacent columns is accessed at once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import gcd

import numpy as np
from xdsl.dialects.builtin import VectorType, i32
from xdsl.ir import Attribute, SSAValue

from codegen.xe.dialects.index_list import Index
from codegen.xe.dialects.maps import Ints
from codegen.xe.dialects.upstream.xevm import (
    LoadCacheControlAttr,
    StoreCacheControlAttr,
)
from codegen.xe.passes.lanes.emitter import (
    Emitter,
    Register,
    bits_of,
    element_of,
)
from codegen.xe.passes.lanes.memory.lane_memory import (
    Guarded,
    all_of,
    load,
    numbers_of,
    owners,
    pointer_at,
    store,
)
from codegen.xe.passes.lanes.memory.surfaces import MatrixAccess
from codegen.xe.passes.lanes.values import Lanes
from codegen.xe.passes.lanes.vectors.layout import (
    LaneLayout,
    Places,
    by_row,
)
from codegen.xe.subgroup import subgroup_size

RUN = 8
"""Columns of a chunk of rows."""
_WORD = 32
_RUN_BYTES = 16  # pitch alignment of a matrix with block messages
_NARROW = 8


@dataclass(frozen=True, slots=True)
class Access:
    """An access to a block of a matrix: the type of the block, and its cache control."""

    matrix: MatrixAccess
    type: VectorType[Attribute]
    cache: LoadCacheControlAttr | StoreCacheControlAttr | None = None


def load_each(emitter: Emitter, access: Access, layout: LaneLayout, fill: SSAValue, longest: int = 1) -> Lanes:
    """Load the block in a layout; elements outside the matrix are `fill`.

    Up to `longest` adjacent elements of a row are loaded at once where a lane holds them, in any order; `fill` is 0
    then.
    """
    found: dict[int, Register] = {}
    if longest == 1:
        found.update(_load_repeated(emitter, access, layout.places, fill))
    left = [register for register in range(len(layout.places)) if register not in found]
    for run in _runs(layout.places, left, access.type.get_shape()[-1], longest):
        loaded = _load(emitter, access, layout.places[run[0]], fill, len(run))
        found.update({register: (loaded, i) for i, register in enumerate(run)})
    chunks = [emitter.chunk([found[i] for i in range(first, first + length)]) for first, length in layout.spans()]
    return Lanes(access.type, layout, tuple(chunks))


def _load_repeated(emitter: Emitter, access: Access, places: Places, fill: SSAValue) -> Iterator[tuple[int, Register]]:
    """Yield the registers whose lanes all hold one element, if there are several: each lane loads one of them.

    Loads of all lanes from one address that is selected crash Intel's compiler.
    """
    repeated = [i for i, row in enumerate(places) if row[0] >= 0 and (row == row[0]).all()]
    elements = list(dict.fromkeys(places[i][0] for i in repeated))
    if len(elements) < 2:
        return
    size = subgroup_size()
    of_lanes = np.array([*elements, *elements[-1:] * (-len(elements) % size)], np.int64).reshape(-1, size)
    loaded = [_load(emitter, access, of_lane, fill, 1) for of_lane in of_lanes]
    shared = [emitter.shuffled(loaded[i // size], [i % size] * size) for i in range(len(elements))]
    for i in repeated:
        yield i, (shared[elements.index(places[i][0])], 0)


def _runs(places: Places, registers: Sequence[int], columns: int, longest: int) -> Iterator[list[int]]:
    """Yield the registers in runs of adjacent elements of a row: powers of two, each at a multiple of its length."""
    numbers = {places[i].tobytes(): i for i in registers} if longest > 1 else {}
    left = dict.fromkeys(registers)
    while left:
        run = [next(iter(left))]
        first = places[run[0]]
        if longest > 1 and (first >= 0).all():
            starts = gcd(longest, *(first % columns).tolist())
            while len(run) < starts and (following := numbers.get((first + len(run)).tobytes())) in left:
                run.append(following)
        run = run[: 1 << (len(run).bit_length() - 1)]
        for register in run:
            del left[register]
        yield run


def _load(emitter: Emitter, access: Access, places: Places, fill: SSAValue, length: int) -> SSAValue:
    element = access.type.element_type
    pointer, inside = (_by_row if subgroup_size() == _NARROW else _by_element)(emitter, access, places)
    words = length * bits_of(element) // _WORD
    if length == 1 or not words:
        scalar = load(emitter, pointer, element, cache=access.cache)
        return scalar if inside is None else emitter.chosen(inside, scalar, fill)
    of = element if bits_of(element) == _WORD else i32
    value = load(emitter, pointer, of, words, cache=access.cache)
    if inside is not None:
        value = emitter.chosen(inside, value, emitter.splat(emitter.constant(0, of), words))
    return emitter.bitcast(value, element)


def store_each(emitter: Emitter, access: Access, value: Lanes) -> None:
    """Store the elements of a block that are inside the matrix."""
    for register, places, owned in zip(value.registers(), value.layout.places, owners(value.layout), strict=True):
        offset, inside = _place(emitter, access, places)
        conditions = ([] if inside is None else [inside]) + ([] if owned.all() else [emitter.lanes(owned.tolist())])
        scalar = emitter.register(register)
        with Guarded(emitter, conditions):
            pointer = pointer_at(emitter, access.matrix.pointer, offset, access.type.element_type)
            store(emitter, pointer, scalar, access.cache)


def holds_rows(layout: LaneLayout, shape: Ints) -> bool:
    """True if each lane holds rows of a block, and each chunk RUN adjacent columns."""
    if len(shape) != 2 or shape[0] % subgroup_size() or set(layout.chunks) != {RUN}:
        return False
    return np.array_equal(layout.places, by_row(*shape).places)


def store_rows(emitter: Emitter, access: Access, value: Lanes) -> None:
    """Store a block that `holds_rows`: each chunk is aligned to 16 bytes, and wholly inside or outside the matrix."""
    for chunk, (first, length) in zip(value.chunks, value.layout.spans(), strict=True):
        offset, inside = _place(emitter, access, value.layout.places[first])
        element = access.type.element_type
        data = emitter.bitcast(chunk, i32) if bits_of(element) < bits_of(i32) else chunk
        aligned = min(_RUN_BYTES, length * bits_of(element) // 8) * 8 // bits_of(element_of(data))
        with Guarded(emitter, [] if inside is None else [inside]):
            pointer = pointer_at(emitter, access.matrix.pointer, offset, element)
            store(emitter, pointer, data, access.cache, aligned=aligned)


def _by_element(emitter: Emitter, access: Access, places: Places) -> tuple[SSAValue, SSAValue | None]:
    """Return the pointer of each lane, and whether its element is inside the matrix: outside, to the first element."""
    offset, inside = _place(emitter, access, places)
    if inside is not None:
        offset = emitter.chosen(inside, emitter.index(offset), emitter.index(0))
    return pointer_at(emitter, access.matrix.pointer, offset, access.type.element_type), inside


def _by_row(emitter: Emitter, access: Access, places: Places) -> tuple[SSAValue, SSAValue | None]:
    """Return the same, but outside the pointer to the first row or column: rows share the offset of a column, and
    columns the pointer of a row.

    GPUs with narrow sub-groups add and select 64 bits in several instructions. Others, which do not, spilled more.
    """
    matrix, element = access.matrix, access.type.element_type
    row, column = _coordinates(emitter, access, places)
    of_row, of_column = _inside(emitter, row, matrix.height), _inside(emitter, column, matrix.width)
    if of_row is of_column is None:
        return _by_element(emitter, access, places)
    start = _or_first(emitter, emitter.product(row, matrix.pitch), of_row)
    pointer = matrix.pointer if start == 0 else pointer_at(emitter, matrix.pointer, start, element)
    pointer = pointer_at(emitter, pointer, _or_first(emitter, column, of_column), element)
    return pointer, all_of(emitter, [condition for condition in (of_row, of_column) if condition is not None])


def _or_first(emitter: Emitter, offset: Index, inside: SSAValue | None) -> Index:
    return offset if inside is None else emitter.chosen(inside, emitter.index(offset), emitter.index(0))


def _place(emitter: Emitter, access: Access, places: Places) -> tuple[Index, SSAValue | None]:
    """Return the element offset of each lane, and whether it is inside the matrix; None: everywhere."""
    matrix = access.matrix
    row, column = _coordinates(emitter, access, places)
    offset = emitter.sum(emitter.product(row, matrix.pitch), column)
    found = _inside(emitter, row, matrix.height), _inside(emitter, column, matrix.width)
    conditions = [condition for condition in found if condition is not None]
    return offset, all_of(emitter, conditions) if conditions else None


def _coordinates(emitter: Emitter, access: Access, places: Places) -> tuple[Index, Index]:
    """Return the row and the column of each lane's element."""
    matrix, columns = access.matrix, access.type.get_shape()[-1]
    filled = np.maximum(places, 0)
    row = emitter.sum(matrix.row, *numbers_of(emitter, filled // columns))
    return row, emitter.sum(matrix.column, *numbers_of(emitter, filled % columns))


def _inside(emitter: Emitter, at: Index, extent: Index | None) -> SSAValue | None:
    if extent is None or (isinstance(at, int) and isinstance(extent, int) and 0 <= at < extent):
        return None
    # Unsigned: negative coordinates are out of bounds, too.
    return emitter.compared(emitter.index(at), emitter.index(extent), "ult")
