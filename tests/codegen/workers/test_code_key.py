"""One dynamic kernel for many sizes: equal code has one key, and comes from the cache with each size's launch."""

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from codegen import (
    Axis,
    DType,
    EpilogueKind,
    EpilogueStep,
    Extent,
    GemmProblem,
    MatmulConfig,
    Refused,
    SplitK,
    XeConfig,
    XeStrategy,
    compile_gemm,
)
from codegen.pipeline import code_key, compile_key
from codegen.target import target_of
from codegen.workers.cache import CompileCache
from codegen.workers.code_key import (
    code_basis,
    with_groups,
)
from codegen.xe.build.gemm import build_gemm
from codegen.xe.dialects import text
from codegen.xe.rules import (
    check_problem,
    refusal,
    tiles_of,
)
from hal import DeviceSpec, find
from tests.codegen.xe.build.configs import draw_config
from tests.codegen.xe.build.problems import draw_problem, other_sizes

B580 = find("b580")
TARGET = target_of(B580)
TUNED = GemmProblem(64, 96, 128, dtype_a=DType.BF16, dtype_b=DType.BF16, dynamic=True)
OTHERS = (
    GemmProblem(128, 192, 256, dtype_a=DType.BF16, dtype_b=DType.BF16, dynamic=True),
    GemmProblem(40, 200, 136, dtype_a=DType.BF16, dtype_b=DType.BF16, ldc=208, dynamic=True),
)
CONFIG = XeConfig(MatmulConfig(Extent(2, 2, 1), Extent(32, 64, 32), Extent(16, 32, 32)), XeStrategy((2, 2)))


def tile_each(problem: GemmProblem, config: XeConfig = CONFIG) -> XeConfig:
    return with_groups(config, tiles_of(problem, config))


def key_of(problem: GemmProblem, config: XeConfig | None = None) -> str:
    return code_key(problem, config or tile_each(problem), TARGET)


def test_sizes_pitches_and_grids_of_a_dynamic_problem_leave_its_code_as_it_is() -> None:
    assert {key_of(problem) for problem in (TUNED, *OTHERS)} == {key_of(TUNED)}
    assert key_of(replace(TUNED, deterministic=True, alignment=128)) == key_of(TUNED)
    keys = {compile_key(problem, tile_each(problem), TARGET) for problem in (TUNED, *OTHERS)}
    assert len(keys) == 3  # a kernel with its launch is another one


def test_code_of_a_static_problem_is_for_it_alone() -> None:
    static = [replace(problem, dynamic=False) for problem in (TUNED, *OTHERS)]
    assert len({key_of(problem) for problem in static}) == 3
    assert key_of(static[0]) == compile_key(static[0], CONFIG, TARGET)


@pytest.mark.parametrize(
    "problem",
    [
        replace(TUNED, dtype_a=DType.F16, dtype_b=DType.F16),
        replace(TUNED, dtype_c=DType.BF16),
        GemmProblem(64, 96, 128, dtype_a=DType.BF16, dtype_b=DType.BF16, dynamic=True, transpose_b=True),
        replace(TUNED, batch=2),
        replace(TUNED, epilogue=(EpilogueStep(EpilogueKind.BIAS, axis=Axis.COLUMN),)),
        GemmProblem(64, 100, 128, dtype_a=DType.BF16, dtype_b=DType.BF16, dynamic=True),  # B by lanes
        replace(TUNED, alignment=32),
    ],
    ids=str,
)
def test_another_kind_of_problem_has_other_code(problem: GemmProblem) -> None:
    assert key_of(problem) != key_of(TUNED)


def test_work_groups_that_loop_are_as_many_as_the_code_says() -> None:
    two = with_groups(CONFIG, (2, 1))
    assert key_of(TUNED, two) == key_of(OTHERS[0], two) != key_of(TUNED)
    assert key_of(OTHERS[0], CONFIG) != key_of(TUNED, CONFIG)  # 2x2 are a tile each there, and loop here
    assert key_of(OTHERS[0], with_groups(CONFIG, (1, 2))) != key_of(TUNED, two)


def test_partial_sums_of_short_rows_are_accessed_otherwise() -> None:
    split = replace(
        CONFIG,
        matmul=replace(CONFIG.matmul, threads=Extent(2, 2, 2)),
        strategy=replace(CONFIG.strategy, split_k=SplitK.PARTIAL_SUMS),
    )
    narrow, wide = (
        GemmProblem(64, n, 128, dtype_a=DType.BF16, dtype_b=DType.BF16, dtype_c=DType.BF16, dynamic=True)
        for n in (12, 20)
    )
    assert key_of(narrow) == key_of(wide)
    assert key_of(narrow, tile_each(narrow, split)) != key_of(wide, tile_each(wide, split))


@pytest.mark.parametrize("seed", range(8))
def test_equal_bases_are_of_equal_code_and_others_of_other_code(seed: int) -> None:
    problem, config, spec = drawn(seed)
    rng, target = Random(seed), target_of(spec)
    basis, code = code_basis(problem, config, target), text(build_gemm(problem, config, spec))
    for other in (other_sizes(rng, problem) for _ in range(3)):
        for there in (config, tile_each(other, config)):
            same = code_basis(other, there, target) == basis
            assert (text(build_gemm(other, there, spec)) == code) == same, f"{other}: {there}"


def drawn(seed: int) -> tuple[GemmProblem, XeConfig, DeviceSpec]:
    """A dynamic problem and a legal configuration of a seed."""
    rng, spec = Random(seed), find(("b580", "pvc")[seed % 2])
    while True:
        problem = replace(draw_problem(rng, 100), dynamic=True)
        try:
            on = check_problem(problem, spec)
        except Refused:
            continue
        for config in (draw_config(rng, on, small=True) for _ in range(12)):
            if refusal(on, config) is None:
                return problem, config, spec


def test_one_compilation_gives_the_kernel_of_each_size(tmp_path: Path) -> None:
    cache, made = CompileCache(tmp_path), compile_gemm(TUNED, CONFIG, B580)
    cache.put(made, B580)
    for problem in OTHERS:
        config = tile_each(problem)
        assert cache.holds(problem, config, B580)
        found = cache.get(problem, config, B580)
        compiled = compile_gemm(problem, config, B580)
        assert found is not None
        assert [stage.data for stage in found.stages] == [stage.data for stage in compiled.stages]
        assert replace(found, stages=()) == replace(compiled, stages=())  # but for how long they took
        assert found.launch.steps[0].groups != made.launch.steps[0].groups


def test_what_has_no_effect_at_a_size_is_not_searched_there_but_may_be_launched(tmp_path: Path) -> None:
    cache, tall = CompileCache(tmp_path), GemmProblem(256, 96, 128, dynamic=True)
    grouped = tile_each(tall, replace(CONFIG, strategy=replace(CONFIG.strategy, raster_group=4)))
    cache.put(compile_gemm(tall, grouped, B580), B580)
    low = GemmProblem(64, 96, 128, dynamic=True)
    there = tile_each(low, grouped)
    refused = refusal(check_problem(low, B580), there)
    assert refused is not None
    assert refused.rule == "raster-group"
    assert cache.get(low, there, B580) is not None
    with pytest.raises(Refused, match="raster_group must be below the 2 rows"):
        compile_gemm(replace(low, dynamic=False), there, B580)


def test_what_a_rule_refuses_at_a_size_is_not_taken_from_another(tmp_path: Path) -> None:
    cache = CompileCache(tmp_path)
    cache.put(compile_gemm(TUNED, CONFIG, B580), B580)
    huge = GemmProblem(2**20, 2**16, 128, dtype_a=DType.BF16, dtype_b=DType.BF16, dynamic=True)
    assert key_of(huge) == key_of(TUNED)
    assert cache.get(huge, tile_each(huge), B580) is None
    with pytest.raises(Refused, match=r"the operands need 256.* GiB"):
        compile_gemm(huge, tile_each(huge), B580)
