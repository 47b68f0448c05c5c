"""Accesses to single elements: load, store and prefetch of scattered tiles, and atomic updates of any tile."""

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, VectorType, i1
from xdsl.dialects.vector import BroadcastOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from codegen.xe.dialects.index_list import Index
from codegen.xe.dialects.maps import Ints
from codegen.xe.dialects.upstream.arith_ops import (
    CmpiOp,
    SelectOp,
)
from codegen.xe.dialects.upstream.vector_ops import (
    ShapeCastOp,
    StepOp,
)
from codegen.xe.dialects.xegpu import (
    AtomicRmwOp,
    CreateTdescOp,
    LayoutAttr,
    LoadOp,
    PrefetchOp,
    SliceAttr,
    StoreOp,
)
from codegen.xe.dialects.xetile import AtomicRmwOp as TileAtomicRmwOp
from codegen.xe.dialects.xetile import (
    InitTileOp,
    PrefetchTileOp,
)
from codegen.xe.dialects.xetile import LoadOp as TileLoadOp
from codegen.xe.dialects.xetile import StoreOp as TileStoreOp
from codegen.xe.dialects.xetile.tile_attr import COLUMN_MAJOR
from codegen.xe.passes.xetile_to_xegpu.base import (
    as_elements,
    base_of,
)
from codegen.xe.passes.xetile_to_xegpu.descriptors import (
    ScatteredPlace,
    scattered_type,
)
from codegen.xe.passes.xetile_to_xegpu.layouts import (
    RESULT_LAYOUT,
    Instructions,
    layout,
    optional,
)
from codegen.xe.passes.xetile_to_xegpu.values import (
    constant,
    hints,
    replace,
    value_of,
)


def lower_gather(op: TileLoadOp, place: ScatteredPlace, instructions: Instructions) -> None:
    """Lower to a masked load; padding is selected where the mask is false."""
    tile, where = op.tile_type, InsertPoint.before(op)
    mask = op.mask or _always(tile.get_shape(), where)
    properties = hints(op) | optional("layout", tile.traits.wg_map, instructions.scattered)
    load = LoadOp(place.desc, None, mask, tile.vector_type, properties)
    number = _number(op.padding)
    if not number:
        replace(op, load)
        return
    Rewriter.insert_op(load, where)
    replace(op, SelectOp(mask, load.result, constant(tile.vector_type, number, where)))


def lower_scatter(op: TileStoreOp, place: ScatteredPlace, instructions: Instructions) -> None:
    """Lower to a masked store."""
    tile = op.tile_type
    mask = op.mask or _always(tile.get_shape(), InsertPoint.before(op))
    properties = hints(op) | optional("layout", tile.traits.wg_map, instructions.scattered)
    replace(op, StoreOp(op.value, place.desc, None, mask, properties))


def lower_scattered_prefetch(op: PrefetchTileOp, place: ScatteredPlace, instructions: Instructions) -> None:
    """Lower to a prefetch of each element."""
    layouts = optional("layout", op.tile_type.traits.wg_map, instructions.scattered)
    replace(op, PrefetchOp(place.desc, None, hints(op) | layouts))


def lower_atomic(op: TileAtomicRmwOp, init: InitTileOp, place: object, instructions: Instructions) -> None:
    """Lower to an atomic update of each element; of a block, of those inside the matrix.

    Raises:
        PassFailedException: a base that is not lowered.
    """
    tile, where = op.tile_type, InsertPoint.before(op)
    if isinstance(place, ScatteredPlace):
        desc, mask = place.desc, _always(tile.get_shape(), where)
    else:
        desc, mask = _elements(init, instructions, where)
    properties = optional("layout", tile.traits.wg_map, instructions.scattered)
    replace(op, AtomicRmwOp(op.kind.data, desc, mask, op.value, properties))


def _elements(init: InitTileOp, instructions: Instructions, where: InsertPoint) -> tuple[SSAValue, SSAValue]:
    """Return a descriptor of the single elements of a block, and the mask of those inside the matrix."""
    tile = init.tile.type
    base = base_of(init, where)
    wg_map = tile.traits.wg_map
    spread = _Spread(tile.get_shape(), None if wg_map is None else layout(wg_map, instructions.scattered), where)
    swapped = tile.traits.order == COLUMN_MAJOR  # the base is in stored order, the tile in index order
    rows, columns = (spread.indices(axis, base.offsets[axis ^ swapped]) for axis in (0, 1))
    first, second = (columns, rows) if swapped else (rows, columns)
    down, across = (spread.times(v, n) for v, n in zip((first, second), base.strides, strict=True))
    desc = CreateTdescOp(
        as_elements(init, base, where), spread.insert(arith.AddiOp(down, across)), scattered_type(tile, instructions)
    )
    inside = [spread.below(v, n) for v, n in zip((first, second), base.sizes, strict=True)]
    mask = spread.insert(arith.AndIOp(inside[0], inside[1]))
    Rewriter.insert_op(desc, where)
    return desc.result, mask


class _Spread:
    """Builder of index vectors of one shape and layout, at one insertion point."""

    def __init__(self, shape: Ints, said: LayoutAttr | None, where: InsertPoint) -> None:
        self._type = VectorType(IndexType(), shape)
        self._layout = said
        self._where = where

    def insert(self, op: Operation) -> SSAValue:
        """Insert an operation; return its result."""
        Rewriter.insert_op(op, self._where)
        return op.results[0]

    def indices(self, axis: int, first: Index) -> SSAValue:
        """Return the row or column of each element, counted from `first`."""
        shape = self._type.get_shape()
        step = StepOp(VectorType(IndexType(), (shape[axis],)))
        line = ShapeCastOp(step.result, VectorType(IndexType(), [n if a == axis else 1 for a, n in enumerate(shape)]))
        spread = BroadcastOp(line.result, self._type)
        if self._layout is not None:
            step.attributes[RESULT_LAYOUT] = SliceAttr(self._layout, (1 - axis,))
            spread.attributes[RESULT_LAYOUT] = self._layout
        Rewriter.insert_op([step, line, spread], self._where)
        return spread.results[0] if first == 0 else self.insert(arith.AddiOp(spread.results[0], self._splat(first)))

    def times(self, vector: SSAValue, factor: Index) -> SSAValue:
        """Multiply each index by a number."""
        return vector if factor == 1 else self.insert(arith.MuliOp(vector, self._splat(factor)))

    def below(self, vector: SSAValue, size: Index) -> SSAValue:
        """Compare each index with a size, unsigned: negative indices are large."""
        return self.insert(CmpiOp(vector, self._splat(size), "ult"))

    def _splat(self, number: Index) -> SSAValue:
        if isinstance(number, int):
            return constant(self._type, number, self._where)
        splat = BroadcastOp(value_of(number, self._where), self._type)
        if self._layout is not None:
            splat.attributes[RESULT_LAYOUT] = self._layout
        return self.insert(splat)


def _always(shape: Ints, where: InsertPoint) -> SSAValue:
    return constant(VectorType(i1, shape), 1, where)


def _number(padding: Attribute | None) -> float:
    return padding.value.data if isinstance(padding, FloatAttr | IntegerAttr) else 0


__all__ = ["lower_atomic", "lower_gather", "lower_scatter", "lower_scattered_prefetch"]
