"""Clocks of a step along K for all of C: multiplications, and what operands cost beside them."""

import math

import pytest

from codegen import DType, GemmProblem
from codegen.config.cpu import Isa, Packing
from codegen.cpu.rules import check_cpu_problem
from hal import DeviceSpec
from tests.tuner.space.cpu.cpus import OLD, PLAIN, RAPIDS, ZEN
from tuner.space.cpu.clocks import TileShape, sweep_clocks
from tuner.space.cpu.packing import multiply_with, rows_of_few_pages
from tuner.space.cpu.points import WHOLE, CpuPoint
from tuner.space.cpu.tiles import clocks_of_step, narrower

NONE, BLOCK, WHOLE_B = Packing.NONE, Packing.BLOCK, Packing.WHOLE


def plain(pack_a: Packing, pack_b: Packing, isa: Isa = Isa.AVX512) -> CpuPoint:
    return CpuPoint(
        isa.value, 1, 16, 1, WHOLE, WHOLE, WHOLE, 1, 1, 1,
        pack_a.value, pack_b.value, "pmpnpk", "omonok", "iminik", 0, 0, 1,
    )  # fmt: skip


def gemm(m: int, n: int, k: int, dtype: DType, *, transpose_b: bool = False) -> GemmProblem:
    return GemmProblem(m, n, k, dtype_a=dtype, dtype_b=dtype, transpose_b=transpose_b)


_CALLS = 60 / 512  # of a tile, for each step


@pytest.mark.parametrize(
    ("pack_b", "tile", "transpose_b", "clocks"),
    [
        (WHOLE_B, (14, 32), True, 30 * (14 + _CALLS)),
        # The fourth vector of a panel takes half a clock, the two of the last one do not.
        (WHOLE_B, (4, 64), True, 35 * (8 + 0.5 + 4 + 0.6 + 2 * _CALLS)),
        # Nothing is copied of panels that are packed before, but they come from the same cache.
        (Packing.BEFOREHAND, (4, 64), False, 35 * (8 + 0.5 + 4 + 0.6 + 2 * _CALLS)),
        # Rows of B have two lines in each of three panels.
        (WHOLE_B, (14, 32), False, 30 * (14 + _CALLS) + 6),
        # The first tile of rows packs two vectors in 8 clocks, which 13 hide; 14 do, but registers are too few by one.
        (BLOCK, (13, 32), False, 3 * (10 * 13 + 10 + 11 * _CALLS) + 6),
        (BLOCK, (14, 32), False, 30 * (14 + _CALLS) + 6 + 3 * 2),
        # It packs six in 24 where products take 12.
        (BLOCK, (4, 96), False, 35 * (12 + 3 * 0.5 + _CALLS) + 6 + 12 + 4),
    ],
)
def test_panels_add_clocks_to_multiplications(
    pack_b: Packing, tile: tuple[int, int], transpose_b: bool, clocks: float
) -> None:
    on = check_cpu_problem(gemm(140, 96, 512, DType.F32, transpose_b=transpose_b), PLAIN)
    assert clocks_of_step(on, plain(NONE, pack_b), TileShape(*tile)) == pytest.approx(clocks)


@pytest.mark.parametrize(("columns", "pieces", "depth"), [(32, 16, 256), (64, 8, 128), (80, 8, 64)])
def test_panels_that_stay_in_l1_cost_clocks_for_each_piece_of_a_row_and_each_call(
    columns: int, pieces: int, depth: int
) -> None:
    on = check_cpu_problem(gemm(140, 512, 2048, DType.F32), PLAIN)
    steps = sweep_clocks(Isa.AVX512, multiply_with(on, Isa.AVX512), 140, 512, TileShape(5, columns))
    packing = max(0.0, 4 * columns / 16 - 2.5 * columns / 16) * 512 / columns
    found = clocks_of_step(on, plain(NONE, BLOCK), TileShape(5, columns))
    calls = 28 * math.ceil(512 / columns) * 60 / depth
    if columns < 80:  # whose last panel is narrower
        assert found == pytest.approx(steps + packing + calls + 30 * pieces)
    else:
        assert found > steps + calls + 30 * pieces


@pytest.mark.parametrize(
    ("n", "dtype", "adds"), [(1000, DType.F32, True), (1000, DType.S8, False), (50, DType.S8, True)]
)
def test_panels_of_few_pages_add_clocks_to_bytes_only_over_all_of_k(n: int, dtype: DType, *, adds: bool) -> None:
    on, tile = check_cpu_problem(gemm(28, n, 4096, dtype), ZEN), TileShape(4, 80)
    assert rows_of_few_pages(on, Isa.AVX512) is not None
    steps = sweep_clocks(Isa.AVX512, multiply_with(on, Isa.AVX512), 28, n, tile)
    assert (clocks_of_step(on, plain(NONE, BLOCK), tile) > steps) is adds


def test_lines_of_bytes_that_two_panels_share_are_copied_twice() -> None:
    on = check_cpu_problem(gemm(256, 130, 512, DType.S8), ZEN)
    aligned, ragged = (clocks_of_step(on, plain(WHOLE_B, WHOLE_B), TileShape(7, n)) for n in (64, 32))
    calls = 37 * 60 / 128 * (5 - 3)
    # Rows of 130 bytes begin at even ones, so that a piece of 64 touches 1.97 lines and one of 32 bytes 1.47.
    lines = 4 * (2 * (62 / 64 + 1) - 4 * (30 / 64 + 1))
    steps = 36 * (2 * 14 - 4 * 7) + (2 * 8 - 4 * (4 + 0.6)) + 37 * 2 * 2 * 0.5
    assert aligned - ragged == pytest.approx(steps + lines - calls)


@pytest.mark.parametrize(("n", "rows"), [(240, 0.0), (250, 4096 / 1000 - 2), (520, 0.0)])
def test_lines_that_two_tiles_write_take_clocks_where_rows_of_c_share_pages(n: int, rows: float) -> None:
    on = check_cpu_problem(gemm(400, n, 20, DType.F32), OLD)
    tile = TileShape(6, 16)
    steps = sweep_clocks(Isa.AVX2, multiply_with(on, Isa.AVX2), 400, n, tile)
    split = 12 * rows * 400 * math.ceil(n / 16) / 20
    assert clocks_of_step(on, plain(NONE, BLOCK, Isa.AVX2), tile) == pytest.approx(steps + split)


@pytest.mark.parametrize(("isa", "spec"), [(Isa.AVX2, OLD), (Isa.AMX, RAPIDS)])
def test_panels_of_other_instruction_sets_add_none(isa: Isa, spec: DeviceSpec) -> None:
    on = check_cpu_problem(gemm(28, 96, 512, DType.BF16), spec)
    tile = TileShape(16, 32) if isa is Isa.AMX else TileShape(6, 16)
    steps = sweep_clocks(isa, multiply_with(on, isa), 28, 96, tile)
    assert clocks_of_step(on, plain(NONE if isa is Isa.AMX else WHOLE_B, WHOLE_B, isa), tile) == steps


def test_narrower_tiles_are_chosen_by_the_same_clocks() -> None:
    on = check_cpu_problem(gemm(16, 64, 512, DType.F32), PLAIN)
    tiles = [TileShape(8, 32), TileShape(1, 16)]
    slower = clocks_of_step(on, plain(NONE, WHOLE_B), tiles[1]) / clocks_of_step(on, plain(NONE, WHOLE_B), tiles[0])
    assert 4 < slower < 16
    assert narrower(on, plain(NONE, WHOLE_B), tiles, 4) == tiles[0]
    assert narrower(on, plain(NONE, WHOLE_B), tiles, 5) == (tiles[1] if slower <= 5 else tiles[0])
    assert narrower(on, plain(NONE, WHOLE_B), tiles, 16) == tiles[1]
