"""Loads and stores lane by lane, for what no block message can do: bounds are checked, registers go one by one."""

from dataclasses import dataclass

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, SSAValue

from codegen.dialects.index_list import Index
from codegen.dialects.upstream.xevm import LoadCacheControlAttr, StoreCacheControlAttr
from codegen.transforms.lanes.emitter import Emitter
from codegen.transforms.lanes.lane_memory import Guarded, all_of, load, numbers_of, owners, pointer_at, store
from codegen.transforms.lanes.layout import LaneLayout, Places
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
    element = access.type.element_type
    value = load(emitter, pointer_at(emitter, access.matrix.pointer, offset, element), element, cache=access.cache)
    return value if inside is None else emitter.value(arith.SelectOp(inside, value, fill))


def store_each(emitter: Emitter, access: Access, value: Lanes) -> None:
    """Write a block, inside of the matrix."""
    for register, places, owned in zip(value.registers(), value.layout.places, owners(value.layout), strict=True):
        offset, inside = _place(emitter, access, places)
        conditions = ([] if inside is None else [inside]) + ([] if owned.all() else [emitter.lanes(owned.tolist())])
        scalar = emitter.register(register)
        with Guarded(emitter, conditions):
            pointer = pointer_at(emitter, access.matrix.pointer, offset, access.type.element_type)
            store(emitter, pointer, scalar, access.cache)


def _place(emitter: Emitter, access: Access, places: Places) -> tuple[Index, SSAValue | None]:
    """Elements from the matrix's first to that of each lane, and where it is inside; None: everywhere."""
    matrix, columns = access.matrix, access.type.get_shape()[-1]
    filled = np.maximum(places, 0)
    row = emitter.sum(matrix.row, *numbers_of(emitter, filled // columns))
    column = emitter.sum(matrix.column, *numbers_of(emitter, filled % columns))
    offset = emitter.sum(emitter.product(row, matrix.pitch), column)
    conditions: list[SSAValue] = []
    for at, extent in ((row, matrix.height), (column, matrix.width)):
        if extent is None or (isinstance(at, int) and isinstance(extent, int) and 0 <= at < extent):
            continue
        # Unsigned: what lies before the matrix is beyond it, too.
        conditions.append(emitter.value(arith.CmpiOp(emitter.index(at), emitter.index(extent), "ult")))
    return offset, all_of(emitter, conditions) if conditions else None
