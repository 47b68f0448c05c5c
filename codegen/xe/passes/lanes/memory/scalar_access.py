"""Lane-by-lane loads and stores where no block message applies: with bounds checks, register by register.

If each lane holds rows of a block, a chunk of adjacent columns is accessed at once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import gcd

import numpy as np
from xdsl.dialects.builtin import VectorType, i32
from xdsl.ir import Attribute, SSAValue

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
    length_of,
)
from codegen.xe.passes.lanes.memory.element_pointers import differences, pointers_of
from codegen.xe.passes.lanes.memory.lane_memory import (
    Guarded,
    load,
    load_elements,
    owners,
    store,
    store_elements,
)
from codegen.xe.passes.lanes.memory.surfaces import MatrixAccess
from codegen.xe.passes.lanes.values import Lanes
from codegen.xe.passes.lanes.vectors.layout import (
    LONGEST,
    Choice,
    LaneLayout,
    Places,
    by_row,
    pieces,
)
from codegen.xe.passes.lanes.vectors.subgroup_shuffles import shuffled
from codegen.xe.subgroup import subgroup_size

RUN = 8
"""Columns of a chunk of rows."""
_WORD = 32
_RUN_BYTES = 16  # pitch alignment of a matrix with block messages


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
    least = max(1, _WORD // bits_of(access.type.element_type))
    runs = list(_runs(layout.places, left, access.type.get_shape()[-1], least, longest))
    for some in _alike(access, layout, runs):
        loaded = _load(emitter, access, layout.places[[run[0] for run in some]], fill, len(some[0]))
        found.update(zip((register for run in some for register in run), loaded, strict=True))
    chunks = [emitter.chunk([found[i] for i in range(first, first + length)]) for first, length in layout.spans()]
    return Lanes(access.type, layout, tuple(chunks))


def _alike(
    access: Access, layout: LaneLayout, runs: Sequence[list[int]], owned: Choice | None = None
) -> Iterator[Sequence[list[int]]]:
    """Yield powers of two of successive runs of a chunk whose pointers can be computed together.

    `owned`: lanes that access a register, the same for all runs; all lanes if None.
    """
    different = differences(layout.places, access.type.get_shape()[-1])
    chunk_of = np.repeat(np.arange(len(layout.chunks)), layout.chunks).tolist()

    def kind(run: list[int]) -> tuple[int, int, bytes, bytes]:
        first = run[0]
        return chunk_of[first], len(run), different[first], b"" if owned is None else owned[first].tobytes()

    for _, some in groupby(runs, kind):
        alike = list(some)
        for length in pieces(len(alike), LONGEST):
            yield alike[:length]
            del alike[:length]


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
    loaded = [_load(emitter, access, of_lane[None], fill, 1)[0] for of_lane in of_lanes]
    shared = [shuffled(emitter, emitter.register(loaded[i // size]), [i % size] * size) for i in range(len(elements))]
    for i in repeated:
        yield i, (shared[elements.index(places[i][0])], 0)


def _runs(places: Places, registers: Sequence[int], columns: int, least: int, longest: int) -> Iterator[list[int]]:
    """Yield the registers in runs of adjacent elements of a row: powers of two from `least`, a word, to `longest`, each
    at a multiple of its length; others alone.
    """
    numbers = {places[i].tobytes(): i for i in registers} if longest > 1 else {}
    left = dict.fromkeys(registers)
    while left:
        run = [next(iter(left))]
        first = places[run[0]]
        if longest > 1 and (first >= 0).all():
            of_row = first % columns
            most = min(gcd(longest, *of_row.tolist()), columns - int(of_row.max()))
            while len(run) < most and (following := numbers.get((first + len(run)).tobytes())) in left:
                run.append(following)
        run = run[: 1 << (len(run).bit_length() - 1)] if len(run) >= least else run[:1]
        for register in run:
            del left[register]
        yield run


def _load(emitter: Emitter, access: Access, places: Places, fill: SSAValue, length: int) -> list[Register]:
    """Return the registers of successive runs of a length, given the first elements of each."""
    element, count = access.type.element_type, len(places)
    found = pointers_of(emitter, access.matrix, element, places, access.type.get_shape()[-1], clamped=True)
    if length == 1:
        if access.cache is None:
            chunk = load_elements(emitter, *found.chunks(), element, count)
        else:
            loads = [load(emitter, pointer, element, cache=access.cache) for pointer in found.each()]
            chunk = emitter.chunk([(loaded, 0) for loaded in loads])
        for condition in found.inside:
            chunk = emitter.chosen(condition, chunk, emitter.splat(fill, count))
        return [(chunk, i) for i in range(count)]
    words, out = length * bits_of(element) // _WORD, list[Register]()
    of = element if bits_of(element) == _WORD else i32
    for i, pointer in enumerate(found.each()):
        value = load(emitter, pointer, of, words, cache=access.cache)
        for condition in found.inside:
            zeros = emitter.splat(emitter.constant(0, of), words)
            value = emitter.chosen(emitter.register((condition, i)), value, zeros)
        out += [(emitter.bitcast(value, element), part) for part in range(length)]
    return out


def store_each(emitter: Emitter, access: Access, value: Lanes) -> None:
    """Store the elements of a block that are inside the matrix.

    The condition that all registers of a chunk share is tested once, around them: Intel's compiler otherwise takes the
    elements of all chunks from their vectors before the first branch, and holds both.
    """
    registers, owned, columns = value.registers(), owners(value.layout), access.type.get_shape()[-1]
    for some in _alike(access, value.layout, [[register] for register in range(len(registers))], owned):
        numbers = [number for (number,) in some]
        places, mine = value.layout.places[numbers], owned[numbers[0]]
        found = pointers_of(emitter, access.matrix, access.type.element_type, places, columns, clamped=False)
        shared = [condition for condition in found.inside if length_of(condition) == 1]
        own = [condition for condition in found.inside if length_of(condition) > 1]
        own += [] if mine.all() else [emitter.lanes(mine.tolist())]
        with Guarded(emitter, shared):
            if access.cache is None:
                chunk = emitter.chunk([registers[number] for number in numbers])
                store_elements(emitter, chunk, *found.chunks(), own)
                continue
            for i, (number, pointer) in enumerate(zip(numbers, found.each(), strict=True)):
                scalar = emitter.register(registers[number])
                with Guarded(emitter, [emitter.register((condition, i)) for condition in own]):
                    store(emitter, pointer, scalar, access.cache)


def holds_rows(layout: LaneLayout, shape: Ints) -> bool:
    """True if each lane holds rows of a block, and each chunk RUN adjacent columns."""
    if len(shape) != 2 or shape[0] % subgroup_size() or set(layout.chunks) != {RUN}:
        return False
    return np.array_equal(layout.places, by_row(*shape).places)


def store_rows(emitter: Emitter, access: Access, value: Lanes) -> None:
    """Store a block that `holds_rows`: each chunk is aligned to 16 bytes, and wholly inside or outside the matrix."""
    columns = access.type.get_shape()[-1]
    for chunk, (first, length) in zip(value.chunks, value.layout.spans(), strict=True):
        element, places = access.type.element_type, value.layout.places[[first]]
        found = pointers_of(emitter, access.matrix, element, places, columns, clamped=False)
        (pointer,) = found.each()
        data = emitter.bitcast(chunk, i32) if bits_of(element) < bits_of(i32) else chunk
        aligned = min(_RUN_BYTES, length * bits_of(element) // 8) * 8 // bits_of(element_of(data))
        with Guarded(emitter, found.inside):
            store(emitter, pointer, data, access.cache, aligned=aligned)
