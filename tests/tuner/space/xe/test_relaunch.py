"""A dynamic kernel on other shapes of a set: the same binary, or a reason why it cannot be."""

from dataclasses import replace

import pytest

from codegen import (
    DType,
    Extent,
    GemmProblem,
    MatmulConfig,
    Prefetch,
    PrefetchLevels,
    Refused,
    SlmOperands,
    SplitK,
    XeConfig,
    XeStrategy,
)
from codegen.pipeline import code_key, compile_gemm
from codegen.target import target_of
from codegen.workers.code_key import with_groups
from codegen.xe.rules import (
    check,
    check_problem,
    refusal,
)
from hal import find
from tests.tuner.fakes import cpu_spec
from tuner.backend import tuning_of
from tuner.space.cpu.heuristic import default_cpu_config
from tuner.space.xe.relaunch import code_of, relaunched
from tuner.verify.verify import verify_by_simulation

B580 = find("b580")


def _problem(m: int, n: int, k: int, batch: int = 1, ldc: int | None = None) -> GemmProblem:
    return GemmProblem(m, n, k, batch=batch, dtype_a=DType.BF16, dtype_b=DType.BF16, ldc=ldc, dynamic=True)


SOURCE = _problem(128, 192, 256)
RAGGED = _problem(40, 200, 136)
SMALL = _problem(24, 32, 48, ldc=40)
ONE_STEP = _problem(24, 40, 32)
CONFIG = XeConfig(
    MatmulConfig(Extent(4, 3, 1), Extent(32, 64, 32), Extent(16, 32, 32)),
    XeStrategy((2, 2), Prefetch(PrefetchLevels.L1, 3), raster_group=2, k_unroll=4),
)
LOOPS = replace(with_groups(CONFIG, (2, 2)), strategy=replace(CONFIG.strategy, raster_group=1))


def _on(problem: GemmProblem, config: XeConfig = CONFIG) -> XeConfig:
    code = code_of(config, SOURCE, B580)
    assert code is not None
    return relaunched(config, code, problem, B580)


@pytest.mark.parametrize("problem", [RAGGED, SMALL], ids=str)
@pytest.mark.slow
def test_one_binary_is_right_on_each_shape_whatever_has_no_effect_there(problem: GemmProblem) -> None:
    config = _on(problem)
    assert config.strategy == CONFIG.strategy  # of `SMALL` one row of tiles and two K steps, for groups and rounds
    check(problem, config, B580)
    assert code_key(problem, config, target_of(B580)) == code_key(SOURCE, CONFIG, target_of(B580))
    tuning = tuning_of(config)
    assert tuning.choices(config, problem, B580) == tuning.choices(CONFIG, SOURCE, B580)
    made = compile_gemm(problem, config, B580)
    assert made.content_hash == compile_gemm(SOURCE, CONFIG, B580).content_hash
    assert made.launch.steps[0].groups == (config.matmul.threads.m * config.matmul.threads.n, 1, 1)
    proof = verify_by_simulation(made)
    assert proof.checked == proof.total


@pytest.mark.parametrize(
    ("strategy", "splits"),
    [
        (XeStrategy((2, 2), slm=SlmOperands.BOTH, slm_stages=4), 1),
        (XeStrategy((2, 2), pipelined_registers=True, barrier_every=2), 1),
        (XeStrategy((2, 2), split_k=SplitK.PARTIAL_SUMS, k_unroll=2), 3),
        (XeStrategy((2, 2), split_k=SplitK.ATOMIC), 3),
    ],
    ids=["more buffers than steps", "no next step", "splits without a step", "atomic ones"],
)
def test_code_for_more_steps_than_there_are_is_right(strategy: XeStrategy, splits: int) -> None:
    matmul = replace(CONFIG.matmul, threads=Extent(4, 3, splits), innermost=Extent(8, 16, 16))
    config = _on(ONE_STEP, XeConfig(matmul, strategy))
    on = check_problem(ONE_STEP, B580)
    assert refusal(on, config) is not None  # it is not searched there
    proof = verify_by_simulation(compile_gemm(ONE_STEP, config, B580))
    assert proof.checked == proof.total


def test_work_groups_that_loop_stay_as_many() -> None:
    config = _on(RAGGED, LOOPS)
    assert config.matmul.threads == Extent(2, 2, 1)
    with pytest.raises(Refused, match=r"2x2 work-groups loop over tiles; 64x128x96 .* has a tile for each") as caught:
        _on(_problem(64, 128, 96), LOOPS)
    assert caught.value.rule == "one-binary"


@pytest.mark.parametrize(
    ("problem", "why"),
    [
        (_problem(40, 204, 136), "by_lanes is B, not none"),
        (_problem(40, 200, 136, batch=2), "batched is True, not False"),
        (GemmProblem(40, 200, 136, dynamic=True), "dtype_a is f16, not bf16"),
        (replace(RAGGED, dynamic=False), "make it dynamic"),
    ],
    ids=str,
)
def test_what_needs_another_binary_is_refused_with_the_difference(problem: GemmProblem, why: str) -> None:
    with pytest.raises(Refused, match=why) as caught:
        _on(problem)
    assert caught.value.rule == "one-binary"


def test_kernels_for_one_size_have_no_code_for_others() -> None:
    static = replace(SOURCE, dynamic=False)
    assert code_of(CONFIG, static, B580) is None
    cpu = cpu_spec()
    small = GemmProblem(24, 96, 40, dtype_a=DType.F32, dtype_b=DType.F32)
    config = default_cpu_config(small, cpu)
    assert tuning_of(config).relaunch(config, small, small, cpu) is None
