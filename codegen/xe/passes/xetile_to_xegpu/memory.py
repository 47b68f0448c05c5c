"""load_tile, store_tile and prefetch_tile on blocks of matrices, in device memory and in shared local memory."""

from collections.abc import Sequence

from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Operation
from xdsl.rewriter import InsertPoint, Rewriter

from codegen.xe.dialects import creation
from codegen.xe.dialects.index_list import Index
from codegen.xe.dialects.upstream.vector_ops import TransposeOp
from codegen.xe.dialects.xegpu import (
    LoadMatrixOp,
    LoadNdOp,
    PrefetchNdOp,
    StoreMatrixOp,
    StoreNdOp,
)
from codegen.xe.dialects.xetile import (
    LoadTileOp,
    PrefetchTileOp,
    StoreTileOp,
    TileType,
)
from codegen.xe.dialects.xetile.tile_attr import COLUMN_MAJOR
from codegen.xe.passes.xetile_to_xegpu.descriptors import (
    BlockPlace,
    MatrixPlace,
)
from codegen.xe.passes.xetile_to_xegpu.layouts import (
    RESULT_LAYOUT,
    Instructions,
    optional,
    stored_layout,
)
from codegen.xe.passes.xetile_to_xegpu.values import (
    add,
    hints,
    replace,
)

_SWAP = (1, 0)


def lower_load(op: LoadTileOp, place: BlockPlace | MatrixPlace, instructions: Instructions) -> None:
    """Lower to one load per block of array_length; a tile of order [0, 1] is transposed after loading."""
    made: list[Operation] = []
    ends: list[Operation] = []
    for number in range(len(op.values)):
        loads = _load(op, place, number, instructions)
        made += loads
        ends.append(loads[-1])
    for old, end in zip(op.values, ends, strict=True):
        end.results[0].name_hint = old.name_hint
    creation.replace(op, [end.results[0] for end in ends], made)


def lower_store(op: StoreTileOp, place: BlockPlace | MatrixPlace, instructions: Instructions) -> None:
    """Lower a store; a value for a tile of order [0, 1] is transposed first."""
    wg_map = op.tile_type.traits.wg_map
    if isinstance(place, MatrixPlace):
        properties = optional("layout", wg_map, instructions.local(op.tile_type))
        replace(op, StoreMatrixOp(op.value, place.mem_desc, place.offsets, properties))
        return
    if not _is_transposed(op.tile_type):
        properties = hints(op) | optional("layout", wg_map, instructions.block)
        replace(op, StoreNdOp(op.value, place.desc, place.offsets, properties))
        return
    properties = hints(op)
    swap = TransposeOp(op.value, _SWAP)
    if wg_map is not None:
        stored = stored_layout(wg_map, instructions.block)
        properties["layout"] = swap.attributes[RESULT_LAYOUT] = stored
    replace(op, swap, StoreNdOp(swap.result, place.desc, place.offsets, properties))


def lower_prefetch(op: PrefetchTileOp, place: BlockPlace | MatrixPlace, instructions: Instructions) -> None:
    """Lower a prefetch; for shared local memory, to nothing."""
    if isinstance(place, MatrixPlace):
        Rewriter.erase_op(op)
        return
    tile, properties = op.tile_type, hints(op)
    if not _is_transposed(tile):
        properties |= optional("layout", tile.traits.wg_map, instructions.prefetched(tile))
    elif tile.traits.wg_map is not None:
        properties["layout"] = stored_layout(tile.traits.wg_map, instructions.prefetched(tile))
    columns, width = (0 if _is_transposed(tile) else 1), tile.get_shape()[1]
    steps = range(0, tile.traits.array_length * width, width)
    offsets = [_moved(place.offsets, columns, step, InsertPoint.before(op)) for step in steps]
    creation.replace(op, (), [PrefetchNdOp(place.desc, o, properties) for o in offsets])


def _load(op: LoadTileOp, place: BlockPlace | MatrixPlace, number: int, instructions: Instructions) -> list[Operation]:
    tile, value = op.tile_type, op.values[number]
    wg_map = tile.traits.wg_map
    columns = 0 if _is_transposed(tile) and isinstance(place, BlockPlace) else 1
    offsets = _moved(place.offsets, columns, number * tile.get_shape()[1], InsertPoint.before(op))
    if isinstance(place, MatrixPlace):
        properties = optional("layout", wg_map, instructions.local(tile))
        return [LoadMatrixOp(place.mem_desc, offsets, tile.vector_type, properties)]
    padding = _padding(op.padding, tile.element_type)
    if not _is_transposed(tile):
        instruction = instructions.load(value, tile.traits.inner_blocks)
        load = LoadNdOp(place.desc, offsets, hints(op) | optional("layout", wg_map, instruction))
        load.attributes |= padding
        return [load]
    instruction = instructions.transposed(tile.vector_type)
    given = {} if wg_map is None else {"layout": stored_layout(wg_map, instruction)}
    load = LoadNdOp(place.desc, offsets, hints(op) | given)
    load.attributes |= padding
    swap = TransposeOp(load.result, _SWAP)
    swap.attributes |= optional(RESULT_LAYOUT, wg_map, instruction[::-1])
    return [load, swap]


def _moved(offsets: Sequence[Index], axis: int, step: int, where: InsertPoint) -> tuple[Index, ...]:
    """Return the offsets of a block of array_length: blocks are adjacent along the tile's columns."""
    moved = list(offsets)
    moved[axis] = add(moved[axis], step, where)
    return tuple(moved)


def _is_transposed(tile: TileType) -> bool:
    return tile.traits.order == COLUMN_MAJOR


def _padding(padding: Attribute | None, element: Attribute) -> dict[str, Attribute]:
    """Return padding of the element type; none for 0, the hardware's default."""
    if not isinstance(padding, FloatAttr | IntegerAttr) or padding.value.data == 0:
        return {}
    number = padding.value.data
    if isinstance(element, AnyFloat):
        return {"padding": FloatAttr(float(number), element)}
    assert isinstance(element, IntegerType)
    return {"padding": IntegerAttr(int(number), element)}
