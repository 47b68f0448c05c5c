"""Writes the work-group-level XeTile GEMM: C[M, N] = A[M, K] @ B[K, N], accumulated in f32."""

from collections.abc import Sequence
from typing import TypeVar

from xdsl.builder import Builder
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerAttr, ModuleOp, UnitAttr
from xdsl.ir import Block, Region, SSAValue
from xdsl.rewriter import InsertPoint

from codegen.build.tiles import Tiles, matrix_types, tiles
from codegen.config import KernelConfig, LoopOrder
from codegen.dialects import gpu
from codegen.dialects.index_list import index
from codegen.dialects.xetile import (
    InitTileOp,
    LoadTileOp,
    PrefetchTileOp,
    StoreTileOp,
    TileMmaOp,
    TileType,
    UpdateTileOffsetOp,
)
from codegen.problem import GemmProblem
from codegen.rules import ceil_div
from codegen.target import SUBGROUP_SIZE, target_of
from hal import DeviceSpec

KERNEL_NAME = "gemm"

Value = TypeVar("Value", bound=SSAValue)


def grid(problem: GemmProblem, config: KernelConfig) -> tuple[int, int, int]:
    """Work-groups in x, y and z. Neighbours in x walk along N, or with N outermost along M."""
    block = config.matmul.block
    over_m, over_n = ceil_div(problem.m, block.m), ceil_div(problem.n, block.n)
    return (over_n, over_m, 1) if config.matmul.loop_order is LoopOrder.M_OUTER else (over_m, over_n, 1)


def build_gemm(problem: GemmProblem, config: KernelConfig, spec: DeviceSpec) -> ModuleOp:
    """The kernel of a combination that the rules accept, as `gpu.func @gemm(%A, %B, %C)`.

    Edges that blocks overhang are left to the hardware: loads beyond a matrix give zero, stores are dropped.

    Raises:
        Refused: codegen cannot target the device.
    """
    types = tiles(problem, config, target_of(spec).block2d_max_width_bytes)
    block = Block(arg_types=matrix_types(problem))
    a, b, c = (_named(argument, name) for argument, name in zip(block.args, "ABC", strict=True))
    body = Builder(InsertPoint.at_end(block))
    row, column = _origin(body, config)
    ahead = _prefetch_first(
        body, problem, config, [(a, (row, 0), types.prefetch_a), (b, (0, column), types.prefetch_b)]
    )
    operands = [_init(body, a, (row, 0), types.a, "a_tile"), _init(body, b, (0, column), types.b, "b_tile")]
    accumulator = _k_loop(body, problem.k, config.matmul.block.k, types, operands, ahead)
    _store(body, accumulator, _init(body, c, (row, column), types.c, "c_tile"))
    body.insert(gpu.ReturnOp())
    function = gpu.FuncOp(KERNEL_NAME, Region(block), known_block_size=(config.subgroups * SUBGROUP_SIZE, 1, 1))
    module = ModuleOp([gpu.ModuleOp(KERNEL_NAME, [function])], {"gpu.container_module": UnitAttr()})
    module.verify()
    return module


def _origin(body: Builder, config: KernelConfig) -> tuple[SSAValue, SSAValue]:
    """Row and column of C at which the work-group starts."""
    over_m, over_n = gpu.Dimension.Y, gpu.Dimension.X
    if config.matmul.loop_order is LoopOrder.N_OUTER:
        over_m, over_n = over_n, over_m
    block = config.matmul.block
    return _scaled_id(body, over_m, block.m, "row"), _scaled_id(body, over_n, block.n, "column")


def _scaled_id(body: Builder, dimension: gpu.Dimension, extent: int, name: str) -> SSAValue:
    group = body.insert(gpu.BlockIdOp(dimension)).result
    return _named(body.insert(arith.MuliOp(group, _constant(body, extent))).result, name)


def _prefetch_first(
    body: Builder,
    problem: GemmProblem,
    config: KernelConfig,
    starts: Sequence[tuple[SSAValue, tuple[SSAValue | int, ...], TileType]],
) -> list[SSAValue]:
    """Prefetch the first K steps; the tiles that the loop goes on with, none without prefetch."""
    k_step, distance = config.matmul.block.k, config.strategy.prefetch.distance
    if not distance:
        return []
    ahead: list[SSAValue] = [
        _init(body, *start, name) for start, name in zip(starts, ("a_ahead", "b_ahead"), strict=True)
    ]
    for step in range(distance):
        if step * k_step < problem.k:
            for tile in ahead:
                body.insert(PrefetchTileOp(tile))
        ahead = _advance(body, ahead, k_step)
    return ahead


def _k_loop(
    body: Builder, k: int, k_step: int, types: Tiles, operands: Sequence[SSAValue], ahead: Sequence[SSAValue]
) -> SSAValue:
    """The accumulator after all K steps; accumulator and tiles are the loop's iteration arguments."""
    zero = body.insert(arith.ConstantOp(DenseIntOrFPElementsAttr.from_list(types.accumulator, [0.0]))).result
    carried = [zero, *operands, *ahead]
    block = Block(arg_types=[index, *(value.type for value in carried)])
    for argument, name in zip(block.args, ("k", "acc", "a_tile", "b_tile", "a_ahead", "b_ahead"), strict=False):
        argument.name_hint = name
    loop = Builder(InsertPoint.at_end(block))
    _, accumulator, a_tile, b_tile, *ahead = block.args
    a = _named(loop.insert(LoadTileOp(a_tile)).value, "a")
    b = _named(loop.insert(LoadTileOp(b_tile)).value, "b")
    for tile in ahead:
        loop.insert(PrefetchTileOp(tile))
    total = _named(loop.insert(TileMmaOp(a, b, accumulator, types.wg_maps)).d, "acc")
    moved = [*_advance(loop, (a_tile, b_tile), k_step), *_advance(loop, ahead, k_step)]
    loop.insert(scf.YieldOp(total, *moved))
    start, end, step = (_constant(body, value) for value in (0, k, k_step))
    return _named(body.insert(scf.ForOp(start, end, step, carried, block)).results[0], "acc")


def _advance(body: Builder, tiles: Sequence[SSAValue], k_step: int) -> list[SSAValue]:
    """Move a tile of A and one of B by a K step; nothing for no tiles."""
    moves = ((0, k_step), (k_step, 0))
    return [
        _named(body.insert(UpdateTileOffsetOp(tile, move)).result, tile.name_hint)
        for tile, move in zip(tiles, moves, strict=False)
    ]


def _store(body: Builder, accumulator: SSAValue, tile: SSAValue[TileType]) -> None:
    """Store the accumulator in the output's type."""
    if accumulator.type != tile.type.vector_type:
        accumulator = body.insert(arith.TruncFOp(accumulator, tile.type.vector_type)).result
    body.insert(StoreTileOp(accumulator, tile))


def _init(
    body: Builder, matrix: SSAValue, offsets: tuple[SSAValue | int, ...], tile: TileType, name: str
) -> SSAValue[TileType]:
    return _named(body.insert(InitTileOp(matrix, offsets, tile)).tile, name)


def _constant(body: Builder, value: int) -> SSAValue:
    return _named(body.insert(arith.ConstantOp(IntegerAttr(value, index))).result, f"c{value}")


def _named(value: Value, name: str | None) -> Value:
    value.name_hint = name
    return value
