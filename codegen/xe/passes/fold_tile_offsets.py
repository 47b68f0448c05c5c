"""Folds `update_tile_offset` into the offsets of `init_tile`; loops and branches carry offsets in place of tiles."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass

from codegen.xe.dialects.xetile import (
    InitTileOp,
    TileType,
    UpdateTileOffsetOp,
)
from codegen.xe.passes.fold_offsets import (
    Place,
    Placed,
    fold_offsets,
)


@dataclass(frozen=True)
class FoldTileOffsetsPass(ModulePass):
    """Folds tile offsets, after which every tile comes from an `init_tile`."""

    name = "fold-tile-offsets"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        fold_tile_offsets(op)


def fold_tile_offsets(module: ModuleOp) -> None:
    """Apply the pass.

    Raises:
        PassFailedException: a tile comes from an unsupported operation, or a loop or branch changes its
            matrix.
    """
    fold_offsets(module.body.block, PlacedTile())


class PlacedTile(Placed):
    """Tiles, created by init_tile, moved by update_tile_offset. The place of a scattered tile is its index vector."""

    flag = "fold-tile-offsets"
    noun = "tile"
    makers = "init_tile, update_tile_offset"

    def holds(self, type_: Attribute) -> bool:
        return isinstance(type_, TileType)

    def place(self, op: Operation) -> Place | None:
        if not isinstance(op, InitTileOp):
            return None
        return op.offsets if op.indices is None else (op.indices,)

    def move(self, op: Operation, rank: int) -> tuple[SSAValue, Place] | None:
        if not isinstance(op, UpdateTileOffsetOp):
            return None
        if op.indices is not None:
            return op.tile, (op.indices,)
        return op.tile, (0,) * (rank - len(op.offsets)) + op.offsets

    def matches(self, one: Operation, other: Operation) -> bool:
        if not isinstance(one, InitTileOp) or not isinstance(other, InitTileOp):
            return False
        return (one.source, one.placement[1:]) == (other.source, other.placement[1:])

    def at(self, op: Operation, place: Place) -> Operation:
        assert isinstance(op, InitTileOp)
        if op.indices is None:
            _, sizes, strides = op.placement
            return InitTileOp(op.source, place, op.tile.type, sizes=sizes, strides=strides)
        (indices,) = place
        assert isinstance(indices, SSAValue)
        return InitTileOp(op.source, (), op.tile.type, indices=indices)
