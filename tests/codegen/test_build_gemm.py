"""The XeTile that is written for a problem and a configuration."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects import scf
from xdsl.dialects.arith import MuliOp, TruncFOp
from xdsl.dialects.builtin import ModuleOp

from codegen import (
    DType,
    Extent,
    GemmProblem,
    KernelConfig,
    LoopOrder,
    MatmulConfig,
    Prefetch,
    PrefetchLevels,
    XeStrategy,
)
from codegen.build.gemm import build_gemm, grid
from codegen.build.prefetch import cooperative_map
from codegen.dialects import gpu, parse, text
from codegen.dialects.xetile import InitTileOp, PrefetchTileOp, TileMmaOp
from hal.xe import find

B580 = find("b580")
PROBLEM = GemmProblem(200, 136, 72)


def config(
    problem: GemmProblem,
    block: tuple[int, int, int] = (64, 96, 32),
    sg_layout: tuple[int, int] = (2, 3),
    distance: int = 2,
    order: LoopOrder = LoopOrder.M_OUTER,
) -> KernelConfig:
    """A configuration that the rules accept."""
    m, n = -(-problem.m // block[0]), -(-problem.n // block[1])
    matmul = MatmulConfig(Extent(m, n, 1), Extent(*block), Extent(32, 32, 32), order)
    levels = PrefetchLevels.L1 if distance else PrefetchLevels.NONE
    return KernelConfig(matmul, XeStrategy(sg_layout, Prefetch(levels, distance)))


def function(module: ModuleOp) -> gpu.FuncOp:
    """The kernel of a module."""
    (kernel,) = (op for op in module.walk() if isinstance(op, gpu.FuncOp))
    return kernel


def test_the_kernel_takes_the_matrices_as_they_are_stored() -> None:
    problem = GemmProblem(200, 136, 72, lda=80, ldc=144, dtype_a=DType.BF16, dtype_b=DType.BF16)
    kernel = function(build_gemm(problem, config(problem), B580))
    assert kernel.sym_name.data == "gemm"
    assert [str(t) for t in kernel.function_type.inputs] == [
        "memref<200x72xbf16, strided<[80, 1]>>",
        "memref<72x136xbf16>",
        "memref<200x136xf32, strided<[144, 1]>>",
    ]
    assert kernel.known_block_size is not None
    assert kernel.known_block_size.get_values() == (2 * 3 * 16, 1, 1)


def test_the_text_is_a_module_of_the_dialects() -> None:
    module = build_gemm(PROBLEM, config(PROBLEM), B580)
    again = parse(text(module))
    again.verify()
    assert text(again) == text(module)
    assert again.is_structurally_equivalent(module)


@pytest.mark.parametrize(
    ("order", "expected", "row_from"), [(LoopOrder.M_OUTER, (2, 4, 1), "y"), (LoopOrder.N_OUTER, (4, 2, 1), "x")]
)
def test_neighbours_in_x_walk_along_the_inner_p_loop(
    order: LoopOrder, expected: tuple[int, int, int], row_from: str
) -> None:
    chosen = config(PROBLEM, order=order)
    assert grid(PROBLEM, chosen) == expected
    module = build_gemm(PROBLEM, chosen, B580)
    (row,) = (op for op in module.walk() if isinstance(op, MuliOp) and op.result.name_hint == "row")
    assert isinstance(row.lhs.owner, gpu.BlockIdOp)
    assert row.lhs.owner.dimension.data.value == row_from
    a_tile = next(op for op in module.walk() if isinstance(op, InitTileOp) and op.source.name_hint == "A")
    assert a_tile.offsets == (row.result, 0)


@pytest.mark.parametrize(("distance", "first", "each"), [(0, 0, 0), (1, 2, 2), (3, 6, 2), (8, 6, 2)])
def test_prefetch_runs_ahead_by_its_distance_and_not_past_k(distance: int, first: int, each: int) -> None:
    module = build_gemm(PROBLEM, config(PROBLEM, distance=distance), B580)  # K 72 is 3 steps of 32
    prefetches = [op for op in module.walk() if isinstance(op, PrefetchTileOp)]
    in_loop = [op for op in prefetches if isinstance(op.parent_op(), scf.ForOp)]
    assert (len(prefetches) - len(in_loop), len(in_loop)) == (first, each)


def test_tiles_move_along_k() -> None:
    printed = text(build_gemm(PROBLEM, config(PROBLEM, distance=2), B580))
    moves = re.findall(r"update_tile_offset %([ab]_[a-z]+)\w*, (\[.*?\])", printed)
    assert sorted(moves) == [
        *[("a_ahead", "[0, 32]")] * 3,  # two before the loop, one in it
        ("a_tile", "[0, 32]"),
        *[("b_ahead", "[32, 0]")] * 3,
        ("b_tile", "[32, 0]"),
    ]


def test_the_accumulator_is_f32_and_stored_as_the_output() -> None:
    problem = GemmProblem(200, 136, 72, dtype_c=DType.F16)
    module = build_gemm(problem, config(problem), B580)
    (mma,) = (op for op in module.walk() if isinstance(op, TileMmaOp))
    assert str(mma.d.type) == "vector<64x96xf32>"
    (truncation,) = (op for op in module.walk() if isinstance(op, TruncFOp))
    assert str(truncation.result.type) == "vector<64x96xf16>"
    f32 = build_gemm(PROBLEM, config(PROBLEM), B580)
    assert not any(isinstance(op, TruncFOp) for op in f32.walk())


def test_maps_give_each_sub_group_its_rows_and_columns() -> None:
    module = build_gemm(PROBLEM, config(PROBLEM), B580)
    (mma,) = (op for op in module.walk() if isinstance(op, TileMmaOp))
    maps = (mma.wg_map_a, mma.wg_map_b, mma.wg_map_c)
    assert [(m.sg_layout, m.sg_data) for m in maps if m is not None] == [
        ((2, 3), (32, 32)),
        ((2, 3), (32, 32)),
        ((2, 3), (32, 32)),
    ]
    wide = build_gemm(PROBLEM, config(PROBLEM, block=(32, 192, 48)), B580)
    (mma,) = (op for op in wide.walk() if isinstance(op, TileMmaOp))
    maps = (mma.wg_map_a, mma.wg_map_b, mma.wg_map_c)
    assert [m.sg_data for m in maps if m is not None] == [(16, 48), (48, 64), (16, 64)]


@given(
    rows=st.integers(1, 64).map(lambda i: 8 * i),
    columns=st.integers(1, 32).map(lambda i: 16 * i),
    subgroups=st.integers(1, 64),
)
def test_a_cooperative_map_deals_out_everything_in_whole_messages(rows: int, columns: int, subgroups: int) -> None:
    shared = cooperative_map(rows, columns, subgroups, 32)
    assert shared.sg_layout[0] * shared.sg_layout[1] <= subgroups
    assert shared.sg_layout[0] * shared.sg_data[0] == rows
    assert shared.sg_layout[1] * shared.sg_data[1] == columns
    assert shared.sg_data[0] % 8 == 0
    assert shared.sg_data[1] % math.gcd(32, columns) == 0


def test_a_cooperative_map_uses_as_many_sub_groups_as_it_can() -> None:
    assert cooperative_map(256, 32, 32, 32).sg_layout == (32, 1)
    assert cooperative_map(32, 256, 32, 32).sg_layout == (4, 8)
    assert cooperative_map(64, 128, 12, 32).sg_layout == (8, 1)
