"""Parts of K in a work-group: sub-groups sum different parts of one tile, and add them in shared local memory."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, IntegerType, i32
from xdsl.dialects.memref import AllocaOp
from xdsl.ir import SSAValue

from codegen.xe.build.matrices import Element
from codegen.xe.build.sources import Place
from codegen.xe.build.tiles import Shape, Tiles
from codegen.xe.build.writer import (
    Writer,
    named,
)
from codegen.xe.dialects import gpu
from codegen.xe.dialects.index_list import Index
from codegen.xe.dialects.xetile import (
    InitTileOp,
    LoadTileOp,
    StoreTileOp,
    TileTraits,
    TileType,
)
from codegen.xe.dialects.xetile.tile_attr import SHARED_LOCAL_MEMORY

Store = Callable[[Writer, Place, Sequence[SSAValue]], None]


@dataclass(frozen=True, slots=True)
class KParts:
    """The sums of all parts, of which this sub-group has number `part`: tiles of each product stacked along rows.

    `repeated` is set if several tiles are computed in sequence.
    """

    tiles: Tiles
    element: Element
    count: int
    products: int
    part: Index
    sums: SSAValue
    repeated: bool

    def write(self, w: Writer, place: Place, accs: Sequence[SSAValue], store: Store) -> None:
        """Write `store` for the total of each product, added in the order of the parts; sub-groups share the columns of
        the tile.
        """
        if self.repeated:
            w.insert(gpu.BarrierOp())  # the sums may still be read for the previous tile
        for product, acc in enumerate(accs):
            w.insert(StoreTileOp(acc, self._tile(w, self.part, product, 0, self.tiles.c.shape)))
        w.insert(gpu.BarrierOp())
        width = self.tiles.stored.shape[1]
        sharing = self.tiles.c.shape[1] // width

        def total(w: Writer) -> None:
            column = w.mul(self.part, width)
            totals = [self._total(w, product, column) for product in range(self.products)]
            store(w, replace(place, column=w.add(place.column, column)), totals)

        if sharing == self.count:
            total(w)
        else:
            w.when(w.less(self.part, sharing), total)

    def _total(self, w: Writer, product: int, column: Index) -> SSAValue:
        add = arith.AddiOp if isinstance(self.element, IntegerType) else arith.AddfOp
        total: SSAValue | None = None
        for part in range(self.count):
            one = w.insert(LoadTileOp(self._tile(w, part, product, column, self.tiles.stored.shape))).value
            total = one if total is None else w.insert(add(total, one)).result
        assert total is not None  # there is at least one part
        return total

    def _tile(self, w: Writer, part: Index, product: int, column: Index, shape: Shape) -> SSAValue[TileType]:
        tile = TileType(shape, self.element, TileTraits(memory_space=SHARED_LOCAL_MEMORY))
        number = w.add(w.mul(part, self.products), product)
        return w.insert(InitTileOp(self.sums, (w.mul(number, self.tiles.c.shape[0]), column), tile)).tile


def k_parts(
    w: Writer, tiles: Tiles, element: Element, count: int, products: int, part: Index, *, repeated: bool
) -> KParts:
    """Return the parts of K of a kernel; the memory for their sums is allocated once, also for several tiles of C."""
    rows, columns = tiles.c.shape
    space = IntegerAttr(SHARED_LOCAL_MEMORY, i32)
    sums = w.insert(AllocaOp.get(element, shape=(count * products * rows, columns), memory_space=space)).memref
    return KParts(tiles, element, count, products, part, named(sums, "sums"), repeated)
