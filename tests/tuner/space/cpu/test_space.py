"""The space and the default of CPUs: legal, each configuration once, the default within."""

import random
from dataclasses import replace

import numpy as np
import pytest

from codegen import GemmProblem, Refused
from codegen.config.cpu import Isa, Packing
from codegen.cpu.rules import check_cpu, check_cpu_problem, refusal_on_cpu
from codegen.problem.gemm import DType
from hal import DeviceSpec
from tests.few import few
from tests.tuner.space.cpu.cpus import OLD, PLAIN, RAPIDS, ZEN, cpu
from tuner.space.cpu.heuristic import (
    alternative_cpu_configs,
    default_cpu_config,
    explain_cpu_default,
)
from tuner.space.cpu.packing import rows_share_sets
from tuner.space.cpu.points import (
    config_of,
    point_of,
    ranges_of,
    says_nothing,
)
from tuner.space.cpu.space import cpu_space

F32, TF32, BF16, F16, S8, U8 = DType.F32, DType.TF32, DType.BF16, DType.F16, DType.S8, DType.U8


def gemm(m: int, n: int, k: int, dtype: DType, **more: object) -> GemmProblem:
    return GemmProblem(m, n, k, dtype_a=dtype, dtype_b=dtype, **more)  # pyright: ignore[reportArgumentType]


_LENGTHS = ((64, 10), (5000, 13), (5000, 15))  # the most, and bits of powers of two, of M, N and K
CASES = [
    (gemm(5, 300, 999, S8), RAPIDS),
    (gemm(320, 192, 768, BF16), RAPIDS),
    (gemm(19, 3, 7, U8, batch=6), ZEN),
    (gemm(320, 192, 768, BF16), ZEN),
    (gemm(1, 1, 1, F32), OLD),
    (gemm(37, 1001, 257, F16, transpose_a=True), OLD),
    (gemm(37, 1001, 257, F32), PLAIN),
    (gemm(1, 4096, 1024, BF16, transpose_b=True), ZEN),
]


@pytest.mark.parametrize(("problem", "spec"), few(CASES, 2), ids=lambda value: getattr(value, "id", str(value)))
@pytest.mark.slow
def test_every_configuration_of_the_space_is_legal_and_there_once(problem: GemmProblem, spec: DeviceSpec) -> None:
    space = cpu_space(problem, spec)
    some = range(0, len(space), max(1, len(space) // 300))
    configs = [space.config(row) for row in some]
    for row, config in zip(some, configs, strict=True):
        check_cpu(problem, config, spec)
        assert space.index(config) == row
    assert len({space.config(row) for row in range(len(space))}) == len(space)


@pytest.mark.parametrize(("problem", "spec"), CASES, ids=lambda value: getattr(value, "id", str(value)))
def test_the_default_is_legal(problem: GemmProblem, spec: DeviceSpec) -> None:
    check_cpu(problem, default_cpu_config(problem, spec), spec)


@pytest.mark.parametrize("seed", range(2))
def test_drawn_problems_have_a_legal_default_on_any_number_of_cores(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(100):
        m, n, k = (draw.choice((draw.randrange(1, most), 1 << draw.randrange(bits))) for most, bits in _LENGTHS)
        problem = gemm(m, n, k, draw.choice((F32, BF16, F16, S8, U8)), transpose_b=draw.random() < 0.5)
        spec = replace(draw.choice((OLD, PLAIN, ZEN, RAPIDS)), cores=draw.choice((1, 2, 3, 6, 16, 32)))
        for beforehand in (False, True):
            config = default_cpu_config(problem, spec, beforehand=beforehand)
            assert refusal_on_cpu(check_cpu_problem(problem, spec), config) is None


@pytest.mark.parametrize(("problem", "spec"), few(CASES, 2), ids=lambda value: getattr(value, "id", str(value)))
def test_the_default_is_in_the_space(problem: GemmProblem, spec: DeviceSpec) -> None:
    space = cpu_space(problem, spec)
    assert space.index(default_cpu_config(problem, spec)) is not None
    if problem.m * problem.n > 1000:
        assert len(space) > 300
    assert all(np.ptp(column) for column in space.points.T)  # an axis of one value is none


def test_blocks_of_experts_with_many_rows_are_in_the_space() -> None:
    problem = gemm(2788, 96, 64, BF16, transpose_a=True, experts=3)
    on = check_cpu_problem(problem, OLD)
    point = point_of(on, default_cpu_config(problem, OLD))
    assert point.block_m in ranges_of(on, 1).block_m
    assert 0 < point.block_m * point.tile_m < 2788 / 3


def test_it_is_made_the_same_each_time() -> None:
    problem, spec = CASES[2]
    assert cpu_space.__wrapped__(problem, spec).version == cpu_space(problem, spec).version


def test_a_point_is_the_configuration_it_gives() -> None:
    problem, spec = CASES[0]
    on = check_cpu_problem(problem, spec)
    point = point_of(on, default_cpu_config(problem, spec))
    assert config_of(on, point_of(on, config_of(on, point))) == config_of(on, point)


def test_orders_of_loops_that_run_once_are_not_offered() -> None:
    problem, spec = gemm(64, 96, 128, F32), PLAIN
    on = check_cpu_problem(problem, spec)
    one_block = point_of(on, default_cpu_config(problem, spec))._replace(block_m=0, block_n=0, block_k=0)
    orders = [a + b + c for a, b, c in (("om", "on", "ok"), ("ok", "on", "om"), ("on", "om", "ok"))]
    assert [says_nothing(on, one_block._replace(blocks=order)) for order in orders] == [False, True, True]


@pytest.mark.parametrize(
    ("dtype", "spec", "isa"),
    [
        (BF16, RAPIDS, Isa.AMX),
        (S8, RAPIDS, Isa.AMX),
        (F32, RAPIDS, Isa.AVX512),
        (BF16, ZEN, Isa.AVX512),
        (F32, OLD, Isa.AVX2),
        (
            BF16,
            cpu(RAPIDS.isa, amx_permitted=False),
            Isa.AVX512,
        ),
    ],
)
def test_the_default_has_the_fastest_instructions_that_multiply_the_type(
    dtype: DType, spec: DeviceSpec, isa: Isa
) -> None:
    assert default_cpu_config(gemm(320, 256, 512, dtype), spec).strategy.isa is isa


@pytest.mark.parametrize(
    ("dtype", "cores", "m", "isa", "others"),
    [
        (F32, 1, 640, Isa.AVX512, [Isa.AMX]),
        (F32, 4, 640, Isa.AVX512, [Isa.AMX]),
        (TF32, 1, 640, Isa.AMX, [Isa.AVX512]),
        (F16, 1, 640, Isa.AMX, [Isa.AVX512]),
        (F16, 4, 640, Isa.AMX, [Isa.AVX512]),
        (F16, 4, 128, Isa.AVX512, [Isa.AMX]),
        (F16, 8, 640, Isa.AVX512, [Isa.AMX]),
        (F16, 1, 16, Isa.AVX512, []),  # so few rows do not pay for parts of B
        (BF16, 4, 640, Isa.AMX, []),
    ],
)
def test_two_parts_of_elements_are_multiplied_by_few_cores_and_others_are_tried(
    dtype: DType, cores: int, m: int, isa: Isa, others: list[Isa]
) -> None:
    problem, spec = gemm(m, 512, 768, dtype), cpu(RAPIDS.isa, cores)
    assert default_cpu_config(problem, spec).strategy.isa is isa
    alternatives = alternative_cpu_configs(problem, spec)
    assert [config.strategy.isa for config in alternatives] == others
    space = cpu_space(problem, spec)
    assert all(space.index(config) is not None for config in alternatives)
    vectors = cpu(ZEN.isa, cores)
    assert alternative_cpu_configs(problem, vectors) == ()
    assert alternative_cpu_configs(problem, cpu(RAPIDS.isa, cores, amx_permitted=False)) == ()
    if isa is Isa.AVX512:
        assert default_cpu_config(problem, spec) == default_cpu_config(problem, vectors)


def test_columns_of_f16_are_widened_once_for_more_than_ten_rows() -> None:
    packings = [
        [default_cpu_config(gemm(m, 1024, 1000, dtype, transpose_b=True), ZEN).strategy.pack_b for m in (10, 12)]
        for dtype in (F16, F32)
    ]
    assert packings == [[Packing.NONE, Packing.BLOCK], [Packing.NONE, Packing.NONE]]


def test_b_packed_before_pays_for_parts_by_fewer_rows() -> None:
    problem, one = gemm(56, 1024, 1000, F16), cpu(RAPIDS.isa, 1)
    isas = [default_cpu_config(problem, one, beforehand=packed).strategy.isa for packed in (False, True)]
    assert isas == [Isa.AVX512, Isa.AMX]


def test_a_block_of_parts_leaves_room_in_l2() -> None:
    spec = cpu(RAPIDS.isa, 1)
    for k, depth in ((1100, 1120), (1500, 512)):
        block = default_cpu_config(gemm(1500, 1024, k, F32), spec, isa=Isa.AMX).matmul.block
        assert (block.k, 128 <= block.m < 1500) == (depth, True)
        assert 6 * block.m * block.k <= 2**20


@pytest.mark.parametrize(
    ("problem", "per_clk", "isa"),
    [
        (gemm(24, 1024, 1000, BF16), 16, Isa.AVX512_F32),
        (gemm(24, 1024, 1000, BF16), 64, Isa.AVX512),
        (gemm(24, 1024, 1000, BF16), None, Isa.AVX512),
        (gemm(4, 1024, 1000, BF16), 16, Isa.AVX512_F32),
        (gemm(4, 1024, 1000, BF16, batch=2, batch_stride_b=0), 16, Isa.AVX512),  # B is packed
        (gemm(5, 1024, 1000, BF16), 16, Isa.AVX512_F32),
        (gemm(8, 1024, 1000, BF16, transpose_b=True), 16, Isa.AVX512),
        (gemm(24, 1024, 1000, F16), 16, Isa.AVX512),
    ],
)
def test_bf16_is_multiplied_as_f32_where_that_is_faster(problem: GemmProblem, per_clk: int | None, isa: Isa) -> None:
    without, tiles = (cpu(spec.isa, bf16_fma_per_clk_per_core=per_clk) for spec in (ZEN, RAPIDS))
    assert default_cpu_config(problem, without).strategy.isa is isa
    in_place = problem.m <= 4 and problem.batch == 1
    assert (default_cpu_config(problem, tiles) == default_cpu_config(problem, RAPIDS)) is not in_place


def test_rows_of_bf16_that_few_rows_multiply_as_f32_are_read_in_place() -> None:
    slow = cpu(ZEN.isa, bf16_fma_per_clk_per_core=16)
    packings = [default_cpu_config(gemm(m, 1024, 1000, BF16), slow).strategy.pack_b for m in (1, 4, 5)]
    assert packings == [Packing.NONE, Packing.NONE, Packing.BLOCK]


def test_bf16_packed_beforehand_is_multiplied_as_f32_by_more_rows() -> None:
    slow = cpu(ZEN.isa, bf16_fma_per_clk_per_core=16)
    isas = [default_cpu_config(gemm(m, 640, 1000, BF16), slow, beforehand=True).strategy.isa for m in (16, 17)]
    assert isas == [Isa.AVX512, Isa.AVX512_F32]


@pytest.mark.parametrize(("transpose_b", "rows"), [(False, (12, 16)), (True, (20, 32))])
def test_experts_of_few_rows_multiply_bf16_in_pairs(transpose_b: bool, rows: tuple[int, int]) -> None:
    slow = cpu(ZEN.isa, bf16_fma_per_clk_per_core=16)
    problems = (GemmProblem(m, 640, 1000, dtype_a=BF16, dtype_b=BF16, transpose_b=transpose_b, experts=4) for m in rows)
    isas = [default_cpu_config(problem, slow).strategy.isa for problem in problems]
    assert isas == [Isa.AVX512, Isa.AVX512_F32]


@pytest.mark.parametrize(
    ("sizes", "spec", "rows", "depth"),
    [
        ((16, 2048, 14336), PLAIN, 16, 384),  # two blocks of one tile would read B twice
        ((128, 2048, 4096), PLAIN, 128, 512),  # as would blocks of 52 rows
        ((32, 2048, 8192), OLD, 32, 1024),
        ((512, 2048, 2816), PLAIN, 84, 2816),
        ((12, 2048, 6000), PLAIN, 12, 6000),  # one tile of rows
    ],
)
def test_panels_packed_beforehand_pass_few_rows_once_and_many_over_all_of_k(
    sizes: tuple[int, int, int], spec: DeviceSpec, rows: int, depth: int
) -> None:
    config = default_cpu_config(gemm(*sizes, F32), replace(spec, cores=1), beforehand=True)
    block = config.matmul.block
    assert (min(block.m, sizes[0]), block.k) == (rows, depth)


@pytest.mark.parametrize("dtype", [F32, BF16, S8])
def test_panels_packed_beforehand_are_prefetched_for_up_to_two_tiles_of_several_rows(dtype: DType) -> None:
    configs = [default_cpu_config(gemm(m, 900, 2200, dtype), ZEN, beforehand=True) for m in (1, 2, 8, 12, 20, 64)]
    assert [config.strategy.prefetch_distance for config in configs] == [0, 8, 8, 8, 0, 0]


@pytest.mark.parametrize("dtype", [BF16, S8])
def test_panels_packed_beforehand_are_prefetched_for_one_tile_of_registers(dtype: DType) -> None:
    configs = [default_cpu_config(gemm(m, 900, 2200, dtype), RAPIDS, beforehand=True) for m in (7, 16, 20, 32, 33, 64)]
    assert {config.strategy.isa for config in configs} == {Isa.AMX}
    assert [config.strategy.prefetch_distance for config in configs] == [2, 2, 2, 2, 0, 0]


@pytest.mark.parametrize(("m", "dtype"), [(7, BF16), (16, S8)])
def test_no_step_of_panels_that_pass_one_tile_of_registers_lies_on_two_pages(m: int, dtype: DType) -> None:
    tiles = [
        default_cpu_config(gemm(m, 900, 2200, dtype), RAPIDS, beforehand=beforehand).matmul.innermost
        for beforehand in (False, True)
    ]
    assert [tile.n for tile in tiles] == [48, 32]


def test_rows_of_bytes_in_place_are_prefetched() -> None:
    found = {
        (m, dtype): default_cpu_config(gemm(m, 900, 2200, dtype), ZEN).strategy for m in (1, 3) for dtype in (F32, S8)
    }
    assert all(strategy.pack_b is Packing.NONE for strategy in found.values())
    ahead = {case: strategy.prefetch_distance for case, strategy in found.items()}
    assert ahead == {(1, F32): 0, (1, S8): 1, (3, F32): 0, (3, S8): 2}


@pytest.mark.parametrize(
    ("sizes", "dtype", "spec", "rows"),
    [
        ((512, 4128, 1056), BF16, RAPIDS, 256),  # not 384 and 128
        ((1024, 4128, 768), BF16, RAPIDS, 512),
        ((1024, 4096, 768), BF16, RAPIDS, 256),  # 512 rows of C would fill the sets that they share
        ((1024, 1040, 2048), S8, RAPIDS, 512),
        ((1024, 1024, 2048), S8, RAPIDS, 256),
        ((1024, 2080, 512), F32, PLAIN, 416),
        ((1024, 2048, 512), F32, PLAIN, 108),
        ((1024, 4096, 512), F32, PLAIN, 104),  # fewer would read B too often
    ],
)
def test_blocks_over_all_of_k_are_about_equal_and_few_rows_of_c_share_sets_of_l2(
    sizes: tuple[int, int, int], dtype: DType, spec: DeviceSpec, rows: int
) -> None:
    config = default_cpu_config(gemm(*sizes, dtype), replace(spec, cores=1), beforehand=True)
    assert (config.matmul.block.m, config.matmul.block.k >= sizes[2]) == (rows, True)


def test_blocks_of_several_threads_have_more_rows_although_those_of_c_share_sets_of_l2() -> None:
    configs = [
        default_cpu_config(gemm(2048, 2048, 1024, F32), replace(PLAIN, cores=cores), beforehand=True)
        for cores in (1, 4)
    ]
    assert [config.matmul.block.m for config in configs] == [108, 216]


def test_the_default_fills_the_cores_with_large_problems_and_leaves_them_for_tiny_ones() -> None:
    assert default_cpu_config(gemm(1000, 640, 512, F32), PLAIN).thread_count == 4
    assert default_cpu_config(gemm(8, 48, 16, F32), PLAIN).thread_count == 1


def test_few_rows_read_weights_in_place_and_many_pack_them() -> None:
    assert default_cpu_config(gemm(1, 4096, 1024, BF16), ZEN).strategy.pack_b is Packing.NONE
    assert default_cpu_config(gemm(1024, 4096, 768, BF16), ZEN).strategy.pack_b is Packing.WHOLE


@pytest.mark.parametrize("dtype", [F32, BF16, S8])
@pytest.mark.parametrize("k", [1024, 14336])
def test_some_rows_use_each_panel_of_weights_where_it_was_copied_to(dtype: DType, k: int) -> None:
    problem = gemm(96, 4096, k, dtype, transpose_b=True)
    config = default_cpu_config(problem, ZEN)
    c = config.matmul
    assert config.strategy.pack_b is Packing.BLOCK
    assert config.strategy.pack_a is not Packing.BLOCK  # it would be copied again for each panel
    assert (c.threads.m, config.thread_count) == (1, 4)  # threads over M would each copy all of B
    assert c.block.n == c.innermost.n
    assert c.block.m >= problem.m
    assert c.innermost.n * c.block.k * dtype.nbytes <= 2**21 // 2


def test_rows_of_f16_are_widened_once() -> None:
    for m, n in ((32, 1000), (500, 384)):
        packings = [default_cpu_config(gemm(m, n, 1001, dtype), ZEN).strategy.pack_a for dtype in (F16, BF16)]
        assert packings[0] is not Packing.NONE
        assert packings[1] is Packing.NONE


def test_signed_bytes_of_a_are_shifted_once() -> None:
    signed = gemm(100, 3000, 700, S8)
    packings = [default_cpu_config(p, ZEN).strategy.pack_a for p in (signed, replace(signed, dtype_a=U8))]
    assert packings[0] is not Packing.NONE
    assert packings[1] is Packing.NONE


def test_rows_of_f32_are_packed_by_the_first_of_several_tiles_and_few_pages_at_a_time() -> None:
    one = replace(PLAIN, cores=1)
    few, more, aligned = (
        default_cpu_config(gemm(*sizes, F32), one) for sizes in ((16, 3000, 1000), (48, 3000, 1000), (48, 2048, 2048))
    )
    assert (few.strategy.pack_b, more.strategy.pack_b) == (Packing.NONE, Packing.BLOCK)
    assert (more.matmul.block.k, aligned.matmul.block.k) == (64, 64)
    assert default_cpu_config(gemm(96, 2000, 1500, F32), one).matmul.block.k >= 1500


@pytest.mark.parametrize(
    ("sizes", "lda", "depth", "packing"),
    [
        ((48, 2048, 256), None, 64, Packing.WHOLE),
        ((48, 2048, 252), None, 64, Packing.NONE),
        ((48, 2048, 252), 256, 64, Packing.WHOLE),
        ((48, 2048, 64), 512, 64, Packing.NONE),  # one block of K: a panel passes once
        ((200, 2048, 256), None, 128, Packing.NONE),
    ],
)
def test_rows_of_a_that_share_sets_of_l1_are_packed_where_shallow_panels_pass_them(
    sizes: tuple[int, int, int], lda: int | None, depth: int, packing: Packing
) -> None:
    found = default_cpu_config(gemm(*sizes, F32, lda=lda), replace(PLAIN, cores=1))
    assert (found.matmul.block.k, found.strategy.pack_a) == (depth, packing)


@pytest.mark.parametrize(
    ("m", "n", "k", "cores", "depth"),
    [(300, 1000, 1000, 1, 1000), (300, 1000, 1800, 1, 384), (200, 1000, 2000, 1, 384), (150, 600, 4000, 2, 1536)],
    ids=["fits", "A exceeds", "A and panels exceed", "half of K fits"],
)
def test_k_is_cut_by_l1_where_a_and_two_panels_of_b_exceed_l2(m: int, n: int, k: int, cores: int, depth: int) -> None:
    columns = cores > 1  # of which cores share K
    found = default_cpu_config(gemm(m, n, k, F32, transpose_b=columns), replace(PLAIN, cores=cores)).matmul
    assert (found.block.k, found.threads.k) == (depth, cores)
    assert depth != 384 or 4 * depth * (found.innermost.m + found.innermost.n) <= 2 * 49152


def test_pieces_of_shallow_panels_for_tile_registers_have_rows_of_512_bytes_if_two_do() -> None:
    sizes = ((24, 8192, S8, 512), (24, 8192, BF16, 256), (32, 4096, S8, 512), (24, 6400, S8, 800), (24, 1024, S8, 128))
    for m, n, dtype, columns in sizes:
        config = default_cpu_config(gemm(m, n, 1024, dtype), RAPIDS)
        assert n // (config.matmul.threads.n * config.strategy.pieces) == columns
    assert default_cpu_config(gemm(24, 2048, 1024, F32), RAPIDS).strategy.pieces == 8


def test_one_expert_of_few_rows_has_tiles_of_no_more() -> None:
    for m in (17, 31):
        assert default_cpu_config(gemm(m, 32, 134, S8, transpose_b=True, experts=1), RAPIDS).matmul.innermost.m == 16


def test_tiles_of_short_vectors_have_sums_enough_to_wait_for_none_and_not_a_load_for_each() -> None:
    for m in (37, 128, 512):
        tile = default_cpu_config(gemm(m, 4096, 500, F32), OLD).matmul.innermost
        assert (tile.m, tile.n) == (6, 16)


def test_tiles_are_tall_where_columns_would_divide_into_wide_ones() -> None:
    one = replace(ZEN, cores=1)
    tiles = [
        default_cpu_config(gemm(50, 400, 700, dtype, transpose_b=True), one).matmul.innermost for dtype in (F16, S8)
    ]
    assert [(tile.m, tile.n) for tile in tiles] == [(13, 32), (13, 32)]


def test_first_tiles_leave_registers_to_load_b_early() -> None:
    one = replace(PLAIN, cores=1)
    tiles = [default_cpu_config(gemm(m, 1000, 700, F32), one).matmul.innermost for m in (160, 256)]
    assert [(tile.m, tile.n) for tile in tiles] == [(8, 48), (8, 48)]


@pytest.mark.parametrize(
    ("m", "n", "k", "dtype", "tile", "depth"),
    [
        (200, 1024, 700, F32, (6, 64), 128),
        (128, 4096, 1536, S8, (4, 96), 384),
        (128, 4096, 256, S8, (13, 32), 256),  # L2 keeps them
        (48, 1024, 700, F32, (14, 32), 64),  # of so few rows lines are read twice
        (200, 1000, 700, F32, (8, 48), 700),
    ],
)
def test_panels_of_rows_that_share_sets_of_l2_are_wide_and_stay_in_l1(
    m: int, n: int, k: int, dtype: DType, tile: tuple[int, int], depth: int
) -> None:
    config = default_cpu_config(gemm(m, n, k, dtype), replace(ZEN, cores=1)).matmul
    assert (config.innermost.m, config.innermost.n) == tile
    assert config.block.k == depth


@pytest.mark.parametrize(
    ("m", "n", "k", "dtype", "columns"),
    [
        (200, 400, 100, S8, 416),
        (300, 1500, 100, S8, 512),  # in runs of at least 1,536 bytes
        (200, 400, 400, S8, 32),  # multiplications take longer than C
        (150, 400, 100, S8, 32),  # hardware prefetches from so few pages of C
        (60, 2400, 40, F32, 32),  # and from so few rows
        (300, 1500, 50, F32, 512),
        (300, 1500, 100, F32, 32),
        (300, 1500, 100, F16, 32),  # C has half the bytes
    ],
)
def test_panels_pass_each_tiles_rows_together_where_memory_bounds_c(
    m: int, n: int, k: int, dtype: DType, columns: int
) -> None:
    explained = explain_cpu_default(gemm(m, n, k, dtype), replace(ZEN, cores=1))
    c = explained.config.matmul
    assert c.block.n == columns
    assert c.innermost.n == 32
    assert ("memory takes longer for C" in explained.steps[2].why) is (columns > 32)
    assert "iminik" in c.loop_order.value


def test_runs_of_c_are_of_a_threads_own_columns_and_their_panels_about_half_of_l2() -> None:
    problem = gemm(300, 1500, 50, F32)
    two = default_cpu_config(problem, replace(ZEN, cores=2)).matmul
    assert (two.threads.n, two.block.n) == (2, 480)
    assert default_cpu_config(problem, replace(ZEN, cores=1, l2_bytes=65536)).matmul.block.n == 192


def test_panels_packed_before_pass_each_tiles_rows_where_memory_bounds_c() -> None:
    one = replace(ZEN, cores=1)
    orders = [default_cpu_config(gemm(300, 1500, k, F32), one, beforehand=True).matmul.loop_order for k in (50, 200)]
    assert ["inimik" in order.value for order in orders] == [False, True]


@pytest.mark.parametrize(
    ("sizes", "dtype", "columns", "passes"),
    [
        ((1024, 2048, 256), BF16, 2048, True),
        ((1024, 2048, 512), BF16, 1024, True),  # half of L2 has room for so much of B
        ((1024, 2048, 640), BF16, 2048, False),  # multiplications take longer than C
        ((1024, 2048, 1024), S8, 1024, True),  # as many of twice the elements
        ((1024, 2048, 1280), S8, 2048, False),
        ((512, 4096, 64), S8, 3072, True),  # more than a run, as one core copies them
    ],
)
def test_panels_pass_the_rows_of_tile_registers_where_memory_bounds_c(
    sizes: tuple[int, int, int], dtype: DType, columns: int, passes: bool
) -> None:
    c = default_cpu_config(gemm(*sizes, dtype), replace(RAPIDS, cores=1)).matmul
    assert (c.block.n, "iminik" in c.loop_order.value) == (columns, passes)


def test_a_large_b_packed_beforehand_is_read_panel_by_panel() -> None:
    one = replace(RAPIDS, cores=1)
    orders = [default_cpu_config(gemm(256, 768, k, BF16), one, beforehand=True).matmul.loop_order for k in (256, 264)]
    assert ["iminik" in order.value for order in orders] == [True, False]


def test_tiles_are_wide_where_memory_bounds_c_and_rows_share_its_lines_and_pages() -> None:
    one = replace(ZEN, cores=1)
    tiles = [default_cpu_config(gemm(333, n, 20, F32), one).matmul.innermost.n for n in (256, 257, 600)]
    assert tiles == [32, 96, 32]


def test_blocks_of_k_of_f32_rows_are_outermost_but_where_they_stay_in_l1() -> None:
    one = replace(PLAIN, cores=1)
    sizes = ((300, 1000, 1800), (96, 1000, 1800), (96, 1000, 1600), (300, 1024, 1800))
    found = [default_cpu_config(gemm(*each, F32), one).matmul for each in sizes]
    assert [config.block.k for config in found] == [384, 256, 1600, 128]
    assert [config.loop_order.value[6:12] for config in found] == ["omokon", "omokon", "omokon", "omonok"]


def test_all_of_a_and_two_panels_of_rows_of_b_leave_some_of_the_second_cache() -> None:
    one = replace(PLAIN, cores=1)
    depths = [default_cpu_config(gemm(340, 704, 1200, F32, transpose_b=t), one).matmul.block.k for t in (True, False)]
    assert depths[0] >= 1200 > depths[1]


@pytest.mark.parametrize(
    ("m", "k", "dtype", "cores", "packing"),
    [
        (500, 1500, F32, 1, Packing.BLOCK),
        (600, 500, F32, 1, Packing.BLOCK),
        (600, 700, F32, 1, Packing.WHOLE),  # A exceeds L2 with what passes it
        (600, 700, S8, 1, Packing.BLOCK),
        (600, 500, F32, 4, Packing.WHOLE),
    ],
)
def test_panels_of_one_core_pass_many_rows_that_stay_in_l2(
    m: int, k: int, dtype: DType, cores: int, packing: Packing
) -> None:
    assert default_cpu_config(gemm(m, 1000, k, dtype), replace(ZEN, cores=cores)).strategy.pack_b is packing


@pytest.mark.parametrize(
    ("m", "k", "dtype", "spec", "packing"),
    [
        (16, 256, S8, ZEN, Packing.BLOCK),
        (16, 384, S8, ZEN, Packing.NONE),
        (8, 100, F32, OLD, Packing.BLOCK),
        (4, 100, F32, OLD, Packing.NONE),
        (4, 64, S8, RAPIDS, Packing.NONE),  # with tile registers this was not measured
    ],
)
def test_few_rows_read_columns_in_place_that_are_long_enough_for_their_dots(
    m: int, k: int, dtype: DType, spec: DeviceSpec, packing: Packing
) -> None:
    one = replace(spec, cores=1)
    assert default_cpu_config(gemm(m, 640, k, dtype, transpose_b=True), one).strategy.pack_b is packing


def test_one_core_takes_panels_of_few_columns() -> None:
    kinds = [default_cpu_config(gemm(93, 43, 2195, BF16), replace(ZEN, cores=n)).strategy.pack_b for n in (1, 2)]
    assert kinds == [Packing.BLOCK, Packing.WHOLE]
    assert default_cpu_config(gemm(93, 24, 2195, BF16), replace(RAPIDS, cores=1)).strategy.pack_b is Packing.WHOLE


def test_columns_that_cores_would_have_to_share_are_packed_by_all() -> None:
    assert default_cpu_config(gemm(96, 64, 1024, F32), PLAIN).strategy.pack_b is Packing.WHOLE


@pytest.mark.parametrize(
    ("m", "k", "transpose_b", "cores", "packing", "depth"),
    [
        (96, 4000, True, 4, Packing.BLOCK, 4000),
        (384, 4000, True, 4, Packing.BLOCK, 1024),
        (384, 4000, False, 4, Packing.BLOCK, 1024),
        (500, 4000, True, 4, Packing.BLOCK, 1024),
        (500, 4000, False, 1, Packing.BLOCK, 1024),
        (500, 4000, False, 4, Packing.WHOLE, None),
        (600, 4000, True, 4, Packing.WHOLE, None),
        (24, 10016, True, 1, Packing.BLOCK, 10016),
        (24, 12000, True, 1, Packing.BLOCK, 2048),  # two panels of one core are not in L2 beside A
    ],
)
def test_panels_of_b_for_tile_registers_pass_the_parts_of_a_that_l2_holds(
    m: int, k: int, *, transpose_b: bool, cores: int, packing: Packing, depth: int | None
) -> None:
    problem = gemm(m, 3000, k, BF16, transpose_b=transpose_b)
    config = default_cpu_config(problem, replace(RAPIDS, cores=cores))
    assert config.strategy.pack_b is packing
    if depth is not None:
        assert config.matmul.block.k == depth
        whole = depth == problem.k
        assert whole or config.matmul.loop_order.value[6:12].index("ok") < config.matmul.loop_order.value[6:12].index(
            "on"
        )


@pytest.mark.parametrize(
    ("m", "n", "k", "transpose_b", "cores", "packing"),
    [
        (151, 372, 946, True, 16, Packing.BLOCK),
        (580, 424, 1201, True, 4, Packing.WHOLE),
        (3000, 2000, 1201, True, 16, Packing.WHOLE),
        (512, 256, 540, False, 16, Packing.NONE),
        (513, 259, 540, False, 4, Packing.WHOLE),
        (140, 107, 80, False, 4, Packing.NONE),
        (513, 259, 540, False, 16, Packing.BLOCK),  # rows of B do not begin on lines
        (140, 107, 445, False, 4, Packing.BLOCK),
        (140, 107, 445, False, 2, Packing.BLOCK),
        (140, 112, 445, False, 4, Packing.NONE),
        (700, 600, 640, False, 16, Packing.WHOLE),
    ],
)
def test_threads_share_no_panels_that_each_can_do_without(
    m: int, n: int, k: int, *, transpose_b: bool, cores: int, packing: Packing
) -> None:
    explained = explain_cpu_default(gemm(m, n, k, F32, transpose_b=transpose_b), replace(RAPIDS, cores=cores))
    assert explained.config.strategy.pack_b is packing
    assert ("each thread for itself" in explained.steps[0].why) == (packing is Packing.BLOCK)


def test_few_rows_by_columns_of_weights_read_both_in_place_at_full_depth() -> None:
    by_columns, by_rows = (default_cpu_config(gemm(16, 4096, 1024, BF16, transpose_b=t), ZEN) for t in (True, False))
    assert by_columns.strategy.pack_b is Packing.NONE
    assert (by_columns.matmul.block.m >= 16, by_columns.matmul.block.k >= 1024) == (True, True)
    assert by_rows.strategy.pack_b is Packing.BLOCK


def test_panels_for_few_rows_copy_whole_lines_of_rows_of_weights() -> None:
    for dtype in (F32, BF16, S8):
        columns = default_cpu_config(gemm(24, 4096, 1024, dtype), ZEN).matmul.innermost.n
        assert columns * dtype.nbytes % 64 == 0


def test_blocks_fit_the_caches_that_the_device_states() -> None:
    problem = gemm(2048, 1024, 4096, F32)
    small, large = (
        default_cpu_config(problem, cpu(PLAIN.isa, l1_bytes=l1, l2_bytes=l2)).matmul
        for l1, l2 in ((32768, 262144), (98304, 4194304))
    )
    assert 4 * small.block.k * (small.innermost.m + small.innermost.n) <= 2 * 32768
    assert 4 * small.block.k * small.block.m + 4 * small.block.m * small.block.n <= 262144
    assert (large.block.n, large.block.k) == (1024, 4096)
    assert 4194304 // 4 < 4 * large.block.k * large.block.m <= 4194304 // 2


def test_blocks_over_all_of_k_have_enough_rows_to_read_b_again_for_each() -> None:
    for dtype, deepest, fewest in ((BF16, 4096, 128), (F32, 3072, 64)):
        found = [default_cpu_config(gemm(1024, 768, k, dtype), RAPIDS).matmul for k in (deepest, 2 * deepest)]
        assert found[0].block.k == deepest
        assert fewest // 2 < found[0].block.m <= 2 * fewest
        assert found[1].block.k < deepest


def test_one_core_copies_a_for_tile_registers_if_many_columns_use_it() -> None:
    one = replace(RAPIDS, cores=1)
    packings = [default_cpu_config(gemm(640, n, 1440, BF16), one).strategy.pack_a for n in (1024, 2048)]
    assert packings == [Packing.NONE, Packing.BLOCK]


def test_one_core_copies_several_panels_for_tile_registers_that_fit_an_eighth_of_l2() -> None:
    one = replace(RAPIDS, cores=1)
    for k, nbytes in ((640, 2), (1280, 1), (2048, 2)):
        found = default_cpu_config(gemm(100, 3000, k, {1: S8, 2: BF16}[nbytes], transpose_b=True), one).matmul
        assert found.block.k == k
        assert 2**17 < found.block.n * k * nbytes <= 2**18
    several = default_cpu_config(gemm(100, 3000, 640, BF16, transpose_b=True), RAPIDS).matmul
    assert several.block.n == several.innermost.n


def test_tiles_of_one_core_are_wide_if_a_panel_of_b_stays_in_l1() -> None:
    one = replace(RAPIDS, cores=1)
    tiles = [default_cpu_config(gemm(320, 960, k, BF16), one).matmul.innermost for k in (384, 1024)]
    assert [(tile.m, tile.n) for tile in tiles] == [(16, 48), (32, 32)]


def test_threads_share_k_where_each_would_read_a_little_of_every_page_of_b() -> None:
    many = replace(RAPIDS, cores=16)
    rows, columns = (gemm(16, 4096, 4100, F32, transpose_b=by_columns) for by_columns in (False, True))
    cases = ((rows, many), (columns, many), (rows, replace(RAPIDS, cores=2)))
    assert [default_cpu_config(*case).matmul.threads.k > 1 for case in cases] == [True, False, False]


def test_rows_of_b_that_share_few_sets_of_l1_are_prefetched() -> None:
    """Columns of 4 bytes: 256 are 1 KiB apart and share 4 sets with all others, 272 share none."""
    many, few = (default_cpu_config(gemm(250, n, 240, F32), PLAIN).strategy for n in (256, 272))
    assert many.prefetch_distance > few.prefetch_distance == 0
    assert many.prefetch_tiles_n == few.prefetch_tiles_n == 0


def test_few_rows_of_tile_registers_take_panels_from_few_pages() -> None:
    problem = gemm(37, 4099, 1023, BF16)
    assert default_cpu_config(problem, RAPIDS).matmul.block.k == 64
    assert default_cpu_config(problem, ZEN).matmul.block.k >= 1023


def test_b_packed_beforehand_has_a_default_of_its_own() -> None:
    """The default for few rows of B [K, N] cuts K for the pages of B, which packed panels do not lie on."""
    for dtype in (F32, BF16):
        problem = gemm(24, 4096, 1024, dtype)
        usual, packed = (default_cpu_config(problem, RAPIDS, beforehand=one) for one in (False, True))
        assert packed.strategy.pack_b is Packing.BEFOREHAND
        assert usual.matmul.block.k < packed.matmul.block.k == 1024
        assert refusal_on_cpu(check_cpu_problem(problem, RAPIDS), packed) is None


def test_every_step_of_the_default_says_why() -> None:
    explained = explain_cpu_default(gemm(720, 192, 768, BF16), RAPIDS)
    assert [step.name for step in explained.steps] == ["innermost", "threads", "block", "loop order"]
    assert "amx" in explained.steps[0].why
    assert "panels of B pass" in explained.steps[2].why
    assert str(explained.config.matmul.threads) in explained.steps[1].choice


@pytest.mark.parametrize(
    ("transposed", "kib", "order", "sums"),
    [
        (False, 1638, "omokon", "K outermost: the next panel is beside this one"),
        (True, 2048, "omonok", "sums of a block wait in L2"),
    ],
)
def test_the_default_states_what_panels_exceed_and_why_k_is_where_it_is(
    *, transposed: bool, kib: int, order: str, sums: str
) -> None:
    explained = explain_cpu_default(gemm(160, 1000, 2400, F32, transpose_b=transposed), replace(PLAIN, cores=1))
    assert f"all of A and two panels exceed the {kib} KiB of L2 that they may fill" in explained.steps[2].why
    assert order in explained.config.matmul.loop_order.value
    assert sums in explained.steps[3].why


def test_rows_share_sets_by_the_cpus_own_cache_lines() -> None:
    problem = gemm(160, 999, 15000, F32)
    shares = [rows_share_sets(check_cpu_problem(problem, cpu(PLAIN.isa, line_bytes=line))) for line in (None, 64, 128)]
    assert shares == [False, False, True]


def test_rows_share_sets_by_the_ways_that_the_cpu_states() -> None:
    problem = gemm(160, 65536, 8, F32)  # whose pitch is a way of 8 and two of 16
    shares = [rows_share_sets(check_cpu_problem(problem, cpu(PLAIN.isa, l2_ways=ways))) for ways in (None, 16, 8)]
    assert shares == [False, False, True]


@pytest.mark.parametrize("cores", [1, 3, 4, 16])
@pytest.mark.parametrize("beforehand", [False, True])
def test_experts_have_a_legal_default_on_any_number_of_cores(cores: int, beforehand: bool) -> None:
    for rows, n, k, experts in ((177, 14, 99, 2), (18, 177, 13, 1), (100, 5248, 7168, 4)):
        problem = gemm(rows, n, k, F32, transpose_a=rows != 100, transpose_b=rows == 100, experts=experts)
        for spec in (RAPIDS, ZEN, PLAIN):
            config = default_cpu_config(problem, replace(spec, cores=cores), beforehand=beforehand)
            assert refusal_on_cpu(check_cpu_problem(problem, replace(spec, cores=cores)), config) is None


def test_cpus_without_the_instructions_are_refused_by_name() -> None:
    for spec, said in ((cpu(("sse4_2",)), "at least AVX2"), (cpu(None), "at least AVX2")):
        with pytest.raises(Refused, match=said):
            default_cpu_config(gemm(32, 48, 64, F32), spec)


def test_what_a_cpu_lacks_is_said_with_what_to_use() -> None:
    problem = gemm(320, 192, 768, BF16)
    config = default_cpu_config(problem, RAPIDS)
    refused = refusal_on_cpu(check_cpu_problem(problem, ZEN), config)
    assert refused is not None
    assert refused.rule == "isa"
    assert "lacks amx_tile; use isa avx512, avx512-f32, avx2" in refused.message


def test_bytes_of_more_than_four_rows_are_brought_together_once() -> None:
    packings = [default_cpu_config(gemm(m, 4096, 1024, S8), ZEN).strategy.pack_b for m in (4, 7)]
    assert packings == [Packing.NONE, Packing.BLOCK]
