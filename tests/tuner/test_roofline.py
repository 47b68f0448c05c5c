"""The roofline: its limits show where they should, and a missing fact is named."""

import pytest

from codegen import GemmProblem, KernelConfig
from hal import find
from tuner.errors import CannotPredict
from tuner.heuristic import default_config
from tuner.model.roofline import INTERVAL, predict
from tuner.xe.axes import Point
from tuner.xe.points import config_of

BIG = GemmProblem(4096, 8192, 2048)
B580 = find("b580")


def _config(problem: GemmProblem, m: int, n: int, rows: int, columns: int, distance: int = 3) -> KernelConfig:
    load_m, load_n = min(32, m // rows), min(32, n // columns)
    return config_of(problem, Point(m, n, 32, rows, columns, load_m, 32, load_n, 256, distance))


def test_no_time_beats_the_peak() -> None:
    prediction = predict(BIG, default_config(BIG, B580), B580)
    peak_us = BIG.flops / 116.74e6  # Tflop/s of a B580
    assert peak_us < prediction.time_us < 2 * peak_us
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
    with pytest.raises(CannotPredict, match="clock_mhz of Intel Lunar Lake"):
        predict(BIG, default_config(BIG, find("lunar-lake")), find("lunar-lake"))
