"""Finds the descriptor of every tile: one for each matrix and kind of tile, made once and outside of loops."""

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import PassFailedException

from codegen.dialects.index_list import Index
from codegen.dialects.maps import format_ints
from codegen.dialects.tile_attr import GLOBAL_MEMORY, ROW_MAJOR
from codegen.dialects.xegpu import CreateNdTdescOp, TensorDescType
from codegen.dialects.xetile import InitTileOp, TileType

_Key = tuple[SSAValue, TileType, tuple[Index, ...], tuple[Index, ...]]


def create_descriptors(module: ModuleOp) -> dict[InitTileOp, SSAValue]:
    """Insert the descriptors that the tiles of a module need.

    Raises:
        PassFailedException: a kind of tile that is not lowered.
    """
    descriptors: dict[InitTileOp, SSAValue] = {}
    _visit(module.body.block, {}, descriptors)
    return descriptors


def _visit(block: Block, made: dict[_Key, SSAValue], descriptors: dict[InitTileOp, SSAValue]) -> None:
    """`made` holds what was made before in this block and in those around it: that dominates what follows."""
    for op in tuple(block.ops):
        if isinstance(op, InitTileOp):
            _, sizes, strides = op.placement
            key = (op.source, op.tile.type, sizes, strides)
            if key not in made:
                _verify_lowered(op)
                made[key] = _create(op, sizes, strides)
            descriptors[op] = made[key]
        for region in op.regions:
            for inner in region.blocks:
                _visit(inner, dict(made), descriptors)


def _create(op: InitTileOp, sizes: tuple[Index, ...], strides: tuple[Index, ...]) -> SSAValue:
    create = CreateNdTdescOp(op.source, TensorDescType(op.tile.type.vector_type), sizes, strides)
    create.result.name_hint = op.tile.name_hint
    Rewriter.insert_op(create, InsertPoint.before(op))
    return create.result


def _verify_lowered(op: InitTileOp) -> None:
    traits = op.tile.type.traits
    for what, refused, got in (
        ("a row-major tile (order [1, 0])", traits.order != ROW_MAJOR, format_ints(traits.order)),
        ("a tile in global memory (memory_space 0)", traits.memory_space != GLOBAL_MEMORY, traits.memory_space),
        ("a tile that is not scattered", traits.scattered, "one that is"),
        ("a tile without array_length", traits.array_length != 1, traits.array_length),
        ("a tile without inner_blocks", traits.inner_blocks is not None, format_ints(traits.inner_blocks or ())),
        ("a work-group tile with a wg_map", traits.wg_map is None, op.tile.type),
        ("a matrix of two dimensions", len(op.offsets) != 2, op.source.type),
    ):
        if refused:
            raise PassFailedException(f"lower-xetile: expected {what}, got {got}")
