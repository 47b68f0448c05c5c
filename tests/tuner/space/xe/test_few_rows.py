"""Defaults of few rows occupy every engine, and prefetch nothing."""

import pytest

from codegen import DType, GemmProblem
from hal import find
from tuner.space.xe.heuristic import default_config


@pytest.mark.parametrize("transpose_b", [False, True], ids=["NN", "NT"])
@pytest.mark.parametrize("rows", [1, 16])
@pytest.mark.parametrize("device", ["max1100", "b580", "b70"])
def test_a_default_of_few_rows_has_two_subgroups_for_each_engine(device: str, rows: int, transpose_b: bool) -> None:
    spec = find(device)
    assert spec.xe_cores
    assert spec.eus_per_core
    problem = GemmProblem(rows, 4096, 4608, dtype_a=DType.BF16, dtype_b=DType.BF16, transpose_b=transpose_b)
    config = default_config(problem, spec)
    threads, (across_m, across_n) = config.matmul.threads, config.strategy.sg_layout
    subgroups = threads.m * threads.n * threads.k * across_m * across_n * config.strategy.k_subgroups
    assert subgroups >= 2 * spec.xe_cores * spec.eus_per_core
    assert config.strategy.prefetch.distance == 0
