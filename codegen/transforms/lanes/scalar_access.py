"""Loads and stores lane by lane, for what no block message can do: bounds are checked, registers go one by one."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import VectorType, i64
from xdsl.dialects.llvm import LoadOp, StoreOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from codegen.dialects.index_list import Index
from codegen.dialects.llvm_ops import element_pointer
from codegen.dialects.xevm import LoadCacheControlAttr, StoreCacheControlAttr
from codegen.transforms.lanes.constants import all_of, index_by_lane
from codegen.transforms.lanes.emitter import Emitter, bits_of
from codegen.transforms.lanes.layout import LANES, LaneLayout, Places
from codegen.transforms.lanes.surfaces import MatrixAccess
from codegen.transforms.lanes.values import Lanes


@dataclass(frozen=True, slots=True)
class Access:
    """An access to a block of a matrix: the type of the block, and how caches treat it."""

    matrix: MatrixAccess
    type: VectorType[Attribute]
    cache: LoadCacheControlAttr | StoreCacheControlAttr | None = None


def load_each(emitter: Emitter, access: Access, layout: LaneLayout, fill: SSAValue) -> Lanes:
    """The block in a layout; `fill` outside of the matrix."""
    scalars = [(_load(emitter, access, row, fill), 0) for row in layout.places]
    chunks = [emitter.chunk(scalars[first : first + length]) for first, length in layout.spans()]
    return Lanes(access.type, layout, tuple(chunks))


def _load(emitter: Emitter, access: Access, places: Places, fill: SSAValue) -> SSAValue:
    offset, inside = _place(emitter, access, places)
    if inside is not None:  # the first element of the matrix is there to be read instead
        offset = emitter.value(arith.SelectOp(inside, emitter.index(offset), emitter.index(0)))
    value = load_element(emitter, access.matrix.pointer, offset, access.type.element_type, access.cache)
    return value if inside is None else emitter.value(arith.SelectOp(inside, value, fill))


def load_element(
    emitter: Emitter, pointer: SSAValue, offset: Index, element: Attribute, cache: Attribute | None = None
) -> SSAValue:
    """The element at an offset from a pointer, in elements."""
    at = emitter.as_int(offset, i64) if isinstance(offset, SSAValue) else offset
    load = LoadOp(emitter.value(element_pointer(pointer, at, element)), element, alignment=_alignment(element))
    if cache is not None:
        load.attributes["cache_control"] = cache
    return emitter.value(load)


def store_element(
    emitter: Emitter, pointer: SSAValue, offset: Index, value: SSAValue, cache: Attribute | None = None
) -> None:
    """Write the element at an offset from a pointer, in elements."""
    at = emitter.as_int(offset, i64) if isinstance(offset, SSAValue) else offset
    store = StoreOp(value, emitter.value(element_pointer(pointer, at, value.type)), alignment=_alignment(value.type))
    if cache is not None:
        store.attributes["cache_control"] = cache
    emitter.add(store)


def _alignment(element: Attribute) -> int:
    return max(1, bits_of(element) // 8)


def store_each(emitter: Emitter, access: Access, value: Lanes) -> None:
    """Write a block, inside of the matrix."""
    for register, places, owned in zip(value.registers(), value.layout.places, owners(value.layout), strict=True):
        offset, inside = _place(emitter, access, places)
        conditions = ([] if inside is None else [inside]) + ([] if owned.all() else [emitter.lanes(owned.tolist())])
        scalar = emitter.register(register)
        with guarded(emitter, conditions):
            store_element(emitter, access.matrix.pointer, offset, scalar, access.cache)


def owners(layout: LaneLayout) -> Places:
    """True where a lane is the first to hold its element, [registers, 16]."""
    flat = layout.places.reshape(-1)
    first = np.zeros(len(flat), np.bool_)
    elements, where = np.unique(flat, return_index=True)
    first[where[elements >= 0]] = True
    return first.reshape(-1, LANES)


class guarded:  # noqa: N801 - reads as a statement
    """A context whose operations run where all conditions hold."""

    def __init__(self, emitter: Emitter, conditions: Sequence[SSAValue]) -> None:
        self._emitter, self._conditions = emitter, conditions
        self._block = Block()
        self._inside = emitter.into(self._block)

    def __enter__(self) -> None:
        if self._conditions:
            self._inside.__enter__()

    def __exit__(self, *details: object) -> None:
        if not self._conditions:
            return
        self._emitter.add(scf.YieldOp())
        self._inside.__exit__(*details)
        condition = all_of(self._emitter, self._conditions)
        self._emitter.add(scf.IfOp(condition, [], Region(self._block), Region()))


def _place(emitter: Emitter, access: Access, places: Places) -> tuple[Index, SSAValue | None]:
    """Elements from the matrix's first to that of each lane, and where it is inside; None: everywhere."""
    matrix, columns = access.matrix, access.type.get_shape()[-1]
    filled = np.maximum(places, 0)
    row = emitter.sum(matrix.row, _numbers(emitter, filled // columns))
    column = emitter.sum(matrix.column, _numbers(emitter, filled % columns))
    offset = emitter.sum(emitter.product(row, matrix.pitch), emitter.product(column, matrix.step))
    conditions: list[SSAValue] = []
    for at, extent in ((row, matrix.height), (column, matrix.width)):
        if extent is None or (isinstance(at, int) and isinstance(extent, int) and 0 <= at < extent):
            continue
        # Unsigned: what lies before the matrix is beyond it, too.
        conditions.append(emitter.value(arith.CmpiOp(emitter.index(at), emitter.index(extent), "ult")))
    return offset, all_of(emitter, conditions) if conditions else None


def _numbers(emitter: Emitter, of_lanes: Places) -> Index:
    numbers = of_lanes.tolist()
    return numbers[0] if len(set(numbers)) == 1 else index_by_lane(emitter, numbers)
