"""Descriptors of tiles: one for each matrix and kind of tile, created once and outside of loops."""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from codegen.xe.dialects.creation import insert_before, walk
from codegen.xe.dialects.index_list import Index
from codegen.xe.dialects.interned import vector
from codegen.xe.dialects.kernel_attributes import LANE_ACCESS
from codegen.xe.dialects.xegpu import (
    CreateNdTdescOp,
    CreateTdescOp,
    MemorySpace,
    ScatterTdesc,
    ScatterTdescAttr,
    TensorDescType,
)
from codegen.xe.dialects.xegpu.types import tensor_desc
from codegen.xe.dialects.xetile import (
    AtomicRmwOp,
    InitTileOp,
    TileType,
)
from codegen.xe.dialects.xetile.tile_attr import SHARED_LOCAL_MEMORY
from codegen.xe.locations import Rewriting
from codegen.xe.passes.xetile_to_xegpu.base import (
    as_elements,
    as_matrix,
    base_of,
    is_plain,
)
from codegen.xe.passes.xetile_to_xegpu.layouts import (
    Instructions,
    layout,
)
from codegen.xe.passes.xetile_to_xegpu.slm import (
    create_mem_descs,
    matrix_offsets,
)


@dataclass(frozen=True, slots=True)
class BlockPlace:
    """A block of a matrix in device memory, at offsets in the matrix as it is stored."""

    desc: SSAValue
    offsets: tuple[Index, ...]


@dataclass(frozen=True, slots=True)
class MatrixPlace:
    """A block of a matrix in shared local memory."""

    mem_desc: SSAValue
    offsets: tuple[Index, ...]


@dataclass(frozen=True, slots=True)
class ScatteredPlace:
    """Elements with individual offsets."""

    desc: SSAValue


Place = BlockPlace | MatrixPlace | ScatteredPlace
_Key = tuple[SSAValue, TileType, tuple[Index, ...], tuple[Index, ...], tuple[Index, ...], bool]


def find_places(module: ModuleOp, instructions: Instructions) -> dict[InitTileOp, Place]:
    """Insert the descriptors that the tiles of a module need. Tiles with only atomic updates need none here.

    Raises:
        PassFailedException: a base that is not lowered.
    """
    inits = [op for op in walk(module) if type(op) is InitTileOp and _is_accessed(op)]
    local = [op for op in inits if _is_local(op)]
    places: dict[InitTileOp, Place] = {}
    for op in local:
        with Rewriting(op):
            offsets = matrix_offsets(op, InsertPoint.before(op))
        places[op] = MatrixPlace(op.tile, offsets)  # the tile's for now: describing the buffer changes its type
    for op, mem_desc in create_mem_descs(local).items():
        place = places[op]
        assert isinstance(place, MatrixPlace)
        places[op] = MatrixPlace(mem_desc, place.offsets)
    _visit(module.body.block, {}, places, instructions)
    return places


def scattered_type(tile: TileType, instructions: Instructions) -> TensorDescType:
    """Return the scattered descriptor type with one element per element of a tile."""
    traits = tile.traits
    space = MemorySpace.SLM if traits.memory_space == SHARED_LOCAL_MEMORY else MemorySpace.GLOBAL
    return TensorDescType(
        tile.vector_type,
        ScatterTdescAttr(ScatterTdesc(memory_space=space)),
        None if traits.wg_map is None else layout(traits.wg_map, instructions.scattered),
    )


def _visit(
    block: Block, made: dict[_Key, SSAValue], places: dict[InitTileOp, Place], instructions: Instructions
) -> None:
    """Insert descriptors in a block; `made` holds those of this block and enclosing ones, which dominate it."""
    for op in tuple(block.ops):
        if type(op) is InitTileOp and op not in places and _is_accessed(op):
            with Rewriting(op):
                places[op] = _scattered(op, instructions) if op.indices is not None else _block(op, made)
        for region in op.regions:
            for inner in region.blocks:
                _visit(inner, dict(made), places, instructions)


def _block(op: InitTileOp, made: dict[_Key, SSAValue]) -> BlockPlace:
    _, sizes, strides = op.placement
    key = (op.source, op.tile.type, op.offsets[:-2], sizes, strides, LANE_ACCESS in op.attributes)
    desc = made.get(key)
    if is_plain(op):
        if desc is None:
            desc = made[key] = _describe(op, op.source, op.tile.type.get_shape(), sizes, strides)
        return BlockPlace(desc, op.offsets)
    where = InsertPoint.before(op)
    base = base_of(op, where)
    if desc is None:
        shape = op.tile.type.get_shape()
        source = as_matrix(base, where)
        said = ((), ()) if _says_its_shape(source.type) else (base.sizes, base.strides)
        desc = made[key] = _describe(op, source, shape[::-1] if base.transposed else shape, *said)
    return BlockPlace(desc, base.offsets)


def _says_its_shape(type_: Attribute) -> bool:
    return isinstance(type_, MemRefType) and type_.has_static_shape()


def _describe(
    op: InitTileOp, source: SSAValue, shape: Sequence[int], sizes: Sequence[Index], strides: Sequence[Index]
) -> SSAValue:
    block = vector(op.tile.type.element_type, *shape)
    by_lanes = {LANE_ACCESS: op.attributes[LANE_ACCESS]} if LANE_ACCESS in op.attributes else {}
    create = CreateNdTdescOp(source, tensor_desc(block), sizes, strides, attributes=by_lanes)
    create.result.name_hint = op.tile.name_hint
    insert_before(create, op)
    return create.result


def _scattered(op: InitTileOp, instructions: Instructions) -> ScatteredPlace:
    assert op.indices is not None
    source = as_elements(op, None, InsertPoint.before(op))
    create = CreateTdescOp(source, op.indices, scattered_type(op.tile.type, instructions))
    create.result.name_hint = op.tile.name_hint
    Rewriter.insert_op(create, InsertPoint.before(op))
    return ScatteredPlace(create.result)


def _is_accessed(op: InitTileOp) -> bool:
    """True if a tile has non-atomic uses; atomic ones describe its elements one by one."""
    scattered = op.indices is not None
    return any(scattered or not isinstance(use.operation, AtomicRmwOp) for use in op.tile.uses)


def _is_local(op: InitTileOp) -> bool:
    return op.tile.type.traits.memory_space == SHARED_LOCAL_MEMORY and op.indices is None
