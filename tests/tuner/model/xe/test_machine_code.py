"""Times with the clocks of a configuration's machine code."""

from dataclasses import replace

import numpy as np
import pytest

from codegen import GemmProblem
from codegen.xe.machine import parse_listing
from codegen.xe.machine.pipeline import PipelineReport, analyse, rates_of
from hal import find
from tuner.model.xe import predict
from tuner.model.xe.machine_code import StepClocks, step_clocks
from tuner.space.xe.heuristic import default_config

B580 = find("b580")
PROBLEM = GemmProblem(4096, 3072, 2048)
CONFIG = default_config(PROBLEM, B580)
LISTING = "\n".join(
    ["L0:", *(f"dpas.8x8 (16|M0)  r{100 + 8 * n}:f  r{100 + 8 * n}:f  r34:hf  r67.0:hf" for n in range(8)), "jmpi  L0"]
)


def _report(dpas: int, by_threads: dict[int, float]) -> PipelineReport:
    report = analyse(parse_listing("k", LISTING), 4, rates_of("bmg", 64))
    assert report is not None
    return replace(report, dpas=dpas, by_threads=by_threads)


def test_clocks_of_a_step_are_those_of_its_dpas() -> None:
    step = CONFIG.sg_m // 8 * CONFIG.sg_n // 16 * CONFIG.matmul.block.k // 16
    known = step_clocks(PROBLEM, CONFIG, B580, _report(4 * step, {1: 4000.0, 4: 9600.0}))
    assert known.by_threads == {1: 1000, 4: 2400}


def test_clocks_between_numbers_of_threads_are_interpolated_and_beyond_them_repeated() -> None:
    known = StepClocks({1: 500.0, 2: 600.0, 4: 1000.0})
    assert known.at(np.array([0, 1, 2, 3, 4, 8])).tolist() == [0, 500, 600, 800, 1000, 2000]


def test_with_the_clocks_of_its_multiplies_the_time_is_that_of_the_formulas() -> None:
    multiply = CONFIG.sg_m * CONFIG.sg_n * CONFIG.matmul.block.k / 128
    plain = predict(PROBLEM, CONFIG, B580)
    same = predict(PROBLEM, CONFIG, B580, StepClocks({1: multiply, 4: 4 * multiply}))
    assert same.time_us == pytest.approx(plain.time_us, rel=0.03)


def test_slower_code_is_predicted_slower() -> None:
    multiply = CONFIG.sg_m * CONFIG.sg_n * CONFIG.matmul.block.k / 128
    times = [predict(PROBLEM, CONFIG, B580, StepClocks({4: factor * 4 * multiply})).time_us for factor in (1, 2, 4)]
    assert times[1] > 1.7 * times[0]
    assert times[2] == pytest.approx(2 * times[1], rel=0.1)
