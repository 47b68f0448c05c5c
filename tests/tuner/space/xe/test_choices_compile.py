"""Configurations that the tuner chooses compile: defaults of every kind of problem, and samples of their spaces."""

import numpy as np
import pytest

from codegen.pipeline import compile_gemm
from hal import find
from tests.few import few
from tests.tuner.gemm_problems import PROBLEMS
from tuner.space.xe.heuristic import default_config
from tuner.space.xe.space import xe_space

B580 = find("b580")


@pytest.mark.parametrize("name", few([name for name in PROBLEMS if name != "large"], 6))
def test_the_default_compiles(name: str) -> None:
    problem = PROBLEMS[name]
    assert compile_gemm(problem, default_config(problem, B580), B580).launch.binary


@pytest.mark.parametrize(
    "name", few(["small", "ragged", "nt", "tn", "s8", "tf32", "f32", "odd", "batch", "sums of rows", "dynamic"], 11)
)
def test_some_rows_of_the_space_compile(name: str) -> None:
    problem = PROBLEMS[name]
    space = xe_space(problem, B580)
    for row in np.random.default_rng(7).integers(len(space), size=3):
        assert compile_gemm(problem, space.config(int(row)), B580).launch.binary
