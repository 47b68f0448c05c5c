"""Converts `linalg.matmul` and `linalg.batch_matmul` to tiled XeTile kernels and their launches."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType, ModuleOp, SymbolRefAttr, UnitAttr
from xdsl.ir import Block, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from codegen.xe.dialects import gpu
from codegen.xe.dialects.index_list import Index
from codegen.xe.dialects.maps import (
    WgMap,
    format_ints,
)
from codegen.xe.dialects.upstream.linalg import ProductOp
from codegen.xe.dialects.xetile import (
    InitTileOp,
    LoadTileOp,
    StoreTileOp,
    TileMmaOp,
    TileTraits,
    TileType,
    UpdateTileOffsetOp,
)
from codegen.xe.locations import OperationFailed
from codegen.xe.subgroup import subgroup_size

_INDEX = IndexType()


@dataclass(frozen=True)
class TileLinalgPass(ModulePass):
    """Converts products to kernels: `block` is M, N and the K step of a work-group, `sg_layout` its sub-groups."""

    name = "tile-linalg"
    block: tuple[int, int, int] = (256, 256, 32)
    sg_layout: tuple[int, int] = (8, 4)

    def __post_init__(self) -> None:
        m, n, _ = self.block
        if min(*self.block, *self.sg_layout) < 1 or m % self.sg_layout[0] or n % self.sg_layout[1]:
            raise ValueError(
                f"tile-linalg: expected a block that divides over sg_layout, got {format_ints(self.block)} "
                f"over {format_ints(self.sg_layout)}"
            )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        tile_linalg(op, self)


def tile_linalg(module: ModuleOp, flags: TileLinalgPass) -> None:
    """Apply the pass.

    Raises:
        PassFailedException: a product of dynamic shape.
    """
    products = [op for op in module.walk() if isinstance(op, ProductOp)]
    for number, op in enumerate(products):
        if not all(isinstance(v.type, MemRefType) and v.type.has_static_shape() for v in op.operands):
            raise OperationFailed.at(op, f"tile-linalg: expected memrefs of static shape, got {op}")
        name = f"matmul_{number}" if len(products) > 1 else "matmul"
        kernel = _kernel(name, op, flags)
        module.body.block.add_op(gpu.ModuleOp(name, [kernel]))
        _launch(op, name, flags)
        Rewriter.erase_op(op)
    if products:
        module.attributes["gpu.container_module"] = UnitAttr()


def _kernel(name: str, op: ProductOp, flags: TileLinalgPass) -> gpu.FuncOp:
    """Create c += a @ b for the block of C given by the work-group ids, with z as the batch."""
    block = Block(arg_types=[v.type for v in op.operands])
    body = Builder(InsertPoint.at_end(block))
    for argument, hint in zip(block.args, "ABC", strict=True):
        argument.name_hint = hint
    (m, n, k), depth = flags.block, op.shapes[0][-1]
    batch = [body.insert(gpu.BlockIdOp(gpu.Dimension.Z)).result] if op.batch_rank() else []
    row = _scaled(body, gpu.Dimension.Y, m)
    column = _scaled(body, gpu.Dimension.X, n)
    sg_m, sg_n = m // flags.sg_layout[0], n // flags.sg_layout[1]
    maps = tuple(WgMap.of(flags.sg_layout, data) for data in ((sg_m, k), (k, sg_n), (sg_m, sg_n)))
    a, b, c = (
        body.insert(InitTileOp(matrix, [*batch, *offsets], _tile(matrix, shape, wg_map))).tile
        for matrix, offsets, shape, wg_map in zip(
            block.args, ((row, 0), (0, column), (row, column)), ((m, k), (k, n), (m, n)), maps, strict=True
        )
    )
    before = body.insert(LoadTileOp(c)).value
    total = _k_loop(body, before, (a, b), (depth, k), maps)
    body.insert(StoreTileOp(total, c))
    body.insert(gpu.ReturnOp())
    items = (prod(flags.sg_layout) * subgroup_size(), 1, 1)
    return gpu.FuncOp(name, Region(block), known_block_size=items)


def _k_loop(
    body: Builder, before: SSAValue, tiles: Sequence[SSAValue], depth_and_step: tuple[int, int], maps: Sequence[WgMap]
) -> SSAValue:
    depth, step = depth_and_step
    block = Block(arg_types=[_INDEX, before.type, *(tile.type for tile in tiles)])
    loop = Builder(InsertPoint.at_end(block))
    _, accumulator, a_tile, b_tile = block.args
    a, b = loop.insert(LoadTileOp(a_tile)).value, loop.insert(LoadTileOp(b_tile)).value
    map_a, map_b, map_c = maps
    total = loop.insert(TileMmaOp(a, b, accumulator, (map_a, map_b, map_c))).d
    moves: tuple[tuple[Index, Index], ...] = ((0, step), (step, 0))
    moved = [
        loop.insert(UpdateTileOffsetOp(tile, move)).result for tile, move in zip(block.args[2:], moves, strict=True)
    ]
    loop.insert(scf.YieldOp(total, *moved))
    start, end, by = (_constant(body, value) for value in (0, depth, step))
    return body.insert(scf.ForOp(start, end, by, [before, *tiles], block)).results[0]


def _launch(op: ProductOp, name: str, flags: TileLinalgPass) -> None:
    (*batch, rows, columns) = op.shapes[2]
    m, n, _ = flags.block
    grid = (-(-columns // n), -(-rows // m), *batch, 1)[:3]
    block = (prod(flags.sg_layout) * subgroup_size(), 1, 1)
    builder = Builder(InsertPoint.before(op))
    sizes = [_constant(builder, value) for value in (*grid, *block)]
    kernel = SymbolRefAttr(name, [name])
    builder.insert(gpu.LaunchFuncOp(kernel, sizes[:3], sizes[3:], tuple(op.operands)))


def _tile(matrix: SSAValue, shape: tuple[int, int], wg_map: WgMap) -> TileType:
    assert isinstance(matrix.type, MemRefType)
    return TileType(shape, matrix.type.element_type, TileTraits(wg_map=wg_map))


def _scaled(body: Builder, dimension: gpu.Dimension, extent: int) -> SSAValue:
    group = body.insert(gpu.BlockIdOp(dimension)).result
    return body.insert(arith.MuliOp(group, _constant(body, extent))).result


def _constant(body: Builder, value: int) -> SSAValue:
    return body.insert(arith.ConstantOp(IntegerAttr(value, _INDEX))).result
