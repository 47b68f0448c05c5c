"""Roofline predictions: each limit applies, and a missing fact is reported."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.model.roofline import INTERVAL, predict
from codegen import DType, GemmProblem, SplitK, XeConfig
from codegen.xe.rules import check_problem
from hal import find
from tests.tuner.gemm_problems import BETA, BIAS, PROBLEMS
from tuner.errors import CannotPredict
from tuner.model.core_clocks import core_clocks, gpu_rates
from tuner.model.traffic import memory_bytes, split_bytes
from tuner.space.xe.axes import Point
from tuner.space.xe.heuristic import default_config
from tuner.space.xe.points import config_of
from tuner.space.xe.space import xe_space

BIG = GemmProblem(4096, 8192, 2048)
B580 = find("b580")


def _config(problem: GemmProblem, m: int, n: int, rows: int, columns: int, distance: int = 3) -> XeConfig:
    load_m, load_n = min(32, m // rows), min(32, n // columns)
    return config_of(problem, Point(m, n, 32, rows, columns, load_m, 32, load_n, 256, distance))


def test_no_time_beats_the_peak() -> None:
    prediction = predict(BIG, default_config(BIG, B580), B580)
    peak_us = BIG.flops / 116.74e6  # Tflop/s of a B580
    assert peak_us < prediction.time_us < 2.2 * peak_us
    assert prediction.low_us * INTERVAL == pytest.approx(prediction.time_us)
    assert prediction.high_us == pytest.approx(prediction.time_us * INTERVAL)


def test_small_tiles_and_no_prefetch_cost_time() -> None:
    good = predict(BIG, _config(BIG, 256, 256, 8, 4), B580).time_us
    assert predict(BIG, _config(BIG, 8, 16, 1, 1), B580).time_us > 3 * good
    assert predict(BIG, _config(BIG, 256, 256, 8, 4, distance=0), B580).time_us > 1.3 * good


def test_one_tile_more_than_cores_is_another_wave() -> None:
    fits, spills_over = (GemmProblem(256 * tiles, 256, 4096) for tiles in (20, 21))
    first, second = (predict(p, _config(p, 256, 256, 8, 4), B580).time_us for p in (fits, spills_over))
    assert second > 1.8 * first


def test_a_thin_problem_is_bound_by_memory() -> None:
    thin = GemmProblem(8, 16384, 8192)
    bytes_of_b = 16384 * 8192 * 2
    time_us = predict(thin, default_config(thin, B580), B580).time_us
    assert bytes_of_b / 456e9 * 1e6 <= time_us


def test_a_missing_fact_is_named() -> None:
    sources = {name: source for name, source in B580.provenance.items() if name != "clock_mhz"}
    clockless = replace(B580, clock_mhz=None, provenance=sources)
    with pytest.raises(CannotPredict, match="clock_mhz of Intel Arc B580"):
        predict(BIG, default_config(BIG, clockless), clockless)


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_default_of_every_kind_of_problem_has_a_time(name: str) -> None:
    problem = PROBLEMS[name]
    assert 5 < predict(problem, default_config(problem, B580), B580).time_us < 1e7


@pytest.mark.parametrize(
    "name", ["one row", *(pytest.param(n, marks=pytest.mark.slow) for n in ("s8 batch with steps", "sums of columns"))]
)
@pytest.mark.slow
def test_every_configuration_of_a_space_has_a_time(name: str) -> None:
    problem = PROBLEMS[name]
    space = xe_space(problem, B580)
    for row in np.random.default_rng(2).integers(len(space), size=300):
        assert 5 < predict(problem, space.config(int(row)), B580).time_us < 1e7


def test_bytes_of_the_bus_follow_types_batches_and_steps() -> None:
    def moved(**more: object) -> int:
        problem = GemmProblem(200, 136, 72, **more)  # pyright: ignore[reportArgumentType]
        return memory_bytes(problem, default_config(problem, B580), B580)

    a, b, c = 200 * 72, 72 * 136, 200 * 136
    assert moved() == 2 * (a + b) + 4 * c
    assert moved(dtype_c=DType.F16) == 2 * (a + b) + 2 * c
    assert moved(dtype_a=DType.S8, dtype_b=DType.S8) == a + b + 4 * c
    assert moved(batch=3) == 3 * (2 * (a + b) + 4 * c)
    assert moved(batch=3, batch_stride_b=0) == 2 * (3 * a + b) + 3 * 4 * c
    assert moved(epilogue=(BETA,)) == 2 * (a + b) + 2 * 4 * c
    assert moved(epilogue=(BIAS,)) == 2 * (a + b) + 4 * c + 4 * 136


def test_splits_cost_their_sums_and_a_kernel() -> None:
    split = default_config(PROBLEMS["long K"], B580)
    atomic = replace(split, strategy=replace(split.strategy, split_k=SplitK.ATOMIC))
    sums = 4 * 64 * 32
    assert split_bytes(PROBLEMS["long K"], split) == 2 * split.matmul.threads.k * sums
    assert split_bytes(PROBLEMS["long K"], atomic) == (2 * split.matmul.threads.k + 1) * sums
    whole = replace(
        split,
        matmul=replace(split.matmul, threads=replace(split.matmul.threads, k=1)),
        strategy=replace(split.strategy, split_k=SplitK.NONE),
    )
    slow, fast = (predict(PROBLEMS["long K"], config, B580).time_us for config in (whole, split))
    assert fast < slow


def test_smaller_elements_are_faster_and_f32_is_slowest() -> None:
    def time_us(dtype: DType) -> float:
        problem = GemmProblem(2048, 1536, 4096, dtype_a=dtype, dtype_b=dtype)
        return predict(problem, default_config(problem, B580), B580).time_us

    assert time_us(DType.S8) < time_us(DType.F16) < time_us(DType.TF32) < time_us(DType.F32)


def test_what_lanes_access_keeps_l1_longer() -> None:
    def l1(k: int) -> float:
        problem = GemmProblem(2048, 1536, k)
        return core_clocks(problem, config, gpu_rates(check_problem(problem, B580))).l1

    config = default_config(GemmProblem(2048, 1536, 4096), B580)
    assert l1(4095) > 4 * l1(4096)


def test_work_groups_that_compute_tiles_in_turn_take_as_long_as_their_tiles() -> None:
    default = default_config(BIG, B580)
    one_row = replace(default, matmul=replace(default.matmul, threads=replace(default.matmul.threads, m=1, n=1)))
    assert predict(BIG, one_row, B580).time_us > 9 * predict(BIG, default, B580).time_us
