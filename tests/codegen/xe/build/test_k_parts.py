"""Sub-groups that multiply parts of K: the XeTile that is built, and its numbers where sizes divide nothing."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from xdsl.dialects import scf
from xdsl.dialects.memref import AllocaOp
from xdsl.utils.hints import isa

from codegen import (
    Axis,
    DType,
    EpilogueKind,
    EpilogueStep,
    Extent,
    GemmProblem,
    MatmulConfig,
    Prefetch,
    PrefetchLevels,
    SplitK,
    XeConfig,
    XeStrategy,
    compile_gemm,
)
from codegen.xe.build.gemm import build_gemm
from codegen.xe.dialects import gpu, text
from codegen.xe.dialects.xetile import InitTileOp, LoadTileOp, PrefetchTileOp, StoreTileOp, TileType
from codegen.xe.dialects.xetile.tile_attr import SHARED_LOCAL_MEMORY
from codegen.xe.rules import ceil_div, check
from hal import find
from tests.codegen.xe.build.draws import Draw
from tests.codegen.xe.build.judge import judge, verify_launched_for

SPEC = find("b580")
BIAS = EpilogueStep(EpilogueKind.BIAS, axis=Axis.COLUMN, dtype=DType.F16)
ROWS, COLUMNS = (EpilogueStep(EpilogueKind.REDUCE, axis=axis) for axis in (Axis.ROW, Axis.COLUMN))


def of(dtype: DType, m: int, n: int, k: int, **more: Any) -> GemmProblem:
    return GemmProblem(m, n, k, dtype_a=dtype, dtype_b=dtype, **more)


def config(problem: GemmProblem, block: tuple[int, int, int], parts: int, splits: int = 1, **strategy: Any) -> XeConfig:
    """Return a configuration with a work-group for each tile."""
    threads = Extent(ceil_div(problem.m, block[0]), ceil_div(problem.n, block[1]), splits)
    load = Extent(8, 16, 32 // problem.dtype_a.nbytes)
    return XeConfig(MatmulConfig(threads, Extent(*block), load), XeStrategy((1, 1), k_subgroups=parts, **strategy))


def in_slm(op: InitTileOp) -> bool:
    return isa(op.tile.type, TileType) and op.tile.type.traits.memory_space == SHARED_LOCAL_MEMORY


def test_sub_groups_have_their_own_tiles_and_share_the_sum() -> None:
    problem = GemmProblem(3, 144, 512, transpose_b=True)
    kernel = text(module := build_gemm(problem, config(problem, (8, 48, 32), 4), SPEC))
    assert "wg_map" not in kernel
    assert kernel.count("gpu.subgroup_id") == 1
    (function,) = (op for op in module.walk() if isinstance(op, gpu.FuncOp))
    assert function.known_block_size is not None
    assert function.known_block_size.get_values() == (4 * 16, 1, 1)
    (sums,) = (op for op in module.walk() if isinstance(op, AllocaOp))
    assert str(sums.memref.type) == "memref<32x48xf32, 3 : i32>"
    (loop,) = (op for op in module.walk() if isinstance(op, scf.ForOp))
    assert loop.step.name_hint == "c128"
    # One sub-group stores all three columns of DPAS: 48 is no multiple of four of them.
    assert sum(isinstance(op, gpu.BarrierOp) for op in module.walk()) == 1
    counts = Counter(type(op) for op in module.walk())
    assert (counts[StoreTileOp], counts[LoadTileOp], counts[scf.IfOp]) == (2, 2 + 4, 1)


@pytest.mark.parametrize(
    ("steps", "shape", "conditional"), [((), "8x16", False), ((COLUMNS,), "8x16", False), ((ROWS,), "8x64", True)]
)
def test_sub_groups_share_the_columns_to_store_unless_rows_are_summed(
    steps: tuple[EpilogueStep, ...], shape: str, conditional: bool
) -> None:
    problem = GemmProblem(5, 128, 512, epilogue=steps)
    module = build_gemm(problem, config(problem, (8, 64, 32), 4), SPEC)
    kernel = next(op for op in module.walk() if isinstance(op, gpu.FuncOp))
    read = [op.tile.type.get_shape() for op in kernel.walk() if isinstance(op, InitTileOp) and in_slm(op)][1:]
    assert [f"{rows}x{columns}" for rows, columns in read] == [shape] * 4
    assert any(isinstance(op, scf.IfOp) for op in kernel.walk()) == conditional


def test_a_sub_group_prefetches_its_part_of_a_round() -> None:
    problem = GemmProblem(5, 128, 1024, transpose_b=True)
    chosen = config(problem, (8, 64, 32), 4, prefetch=Prefetch(PrefetchLevels.L1, 2), k_unroll=2)
    check(problem, chosen, SPEC)
    module = build_gemm(problem, chosen, SPEC)
    shapes = {op.tile_type.get_shape() for op in module.walk() if isinstance(op, PrefetchTileOp)}
    assert shapes == {(8, 64), (64, 64)}


def test_sums_are_read_before_the_next_tile_replaces_them() -> None:
    problem = GemmProblem(5, 128, 512)
    chosen = config(problem, (8, 64, 32), 4)
    looping = replace(chosen, matmul=replace(chosen.matmul, threads=Extent(1, 1, 1)))
    module = build_gemm(problem, looping, SPEC)
    assert sum(isinstance(op, gpu.BarrierOp) for op in module.walk()) == 2


ONE_ROW = of(DType.BF16, 1, 70, 200, transpose_b=True)
SUMS = GemmProblem(3, 70, 136, batch=2, epilogue=(BIAS, ROWS, COLUMNS))
BYTES = of(DType.S8, 16, 72, 208, transpose_b=True)
ODD = of(DType.TF32, 3, 35, 77)
SPLITS = of(DType.BF16, 16, 72, 328, dtype_c=DType.BF16, epilogue=(BIAS,))
BARRIERS = GemmProblem(1, 40, 264)
HOSTILE: dict[str, tuple[GemmProblem, XeConfig]] = {
    "one-row": (ONE_ROW, config(ONE_ROW, (8, 32, 32), 4)),
    "bias-and-sums": (SUMS, config(SUMS, (8, 32, 16), 3)),
    "bytes": (BYTES, config(BYTES, (16, 32, 32), 7)),
    "odd-rows": (ODD, config(ODD, (8, 16, 8), 5, pipelined_registers=True)),
    "splits": (SPLITS, config(SPLITS, (16, 64, 16), 8, 2, split_k=SplitK.PARTIAL_SUMS)),
    "barriers": (BARRIERS, config(BARRIERS, (8, 48, 16), 2, barrier_every=2, k_unroll=3)),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_sizes_that_nothing_divides_are_right(name: str) -> None:
    problem, chosen = HOSTILE[name]
    check(problem, chosen, SPEC)
    assert not judge(Draw(0, "b580", problem, chosen, Counter()), by_validator=False).fault


def test_a_dynamic_kernel_is_right_with_fewer_steps_than_sub_groups() -> None:
    tuned = GemmProblem(8, 56, 256, dynamic=True)
    artifact = compile_gemm(tuned, config(tuned, (8, 32, 16), 8), SPEC)
    verify_launched_for(artifact, GemmProblem(3, 40, 48, dynamic=True), SPEC)
