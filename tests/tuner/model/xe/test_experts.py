"""Predictions of problems of experts: the B of experts with rows is read, and their tiles are counted each."""

from dataclasses import replace

import numpy as np

from codegen import DType, GemmProblem
from codegen.xe.rules import tiles_of
from hal import find
from tuner.model.roof import roof_us
from tuner.model.xe import predict
from tuner.model.xe.columns import columns_of, tiles_over_m
from tuner.space.xe.heuristic import default_config

B580 = find("b580")


def grouped(rows: int) -> GemmProblem:
    halves = dict.fromkeys(("dtype_a", "dtype_b", "dtype_c"), DType.BF16)
    return GemmProblem(rows, 1536, 2048, transpose_b=True, experts=128, **halves)


def test_a_launch_reads_the_b_of_experts_with_rows() -> None:
    few, many = grouped(8), grouped(1024)
    b, c = few.operands[1], few.operands[2]
    assert few.read_experts == 8
    assert few.accessed_bytes(b) == 8 * 1536 * 2048 * 2
    assert few.accessed_bytes(c) == 8 * 1536 * 2
    assert many.accessed_bytes(b) == many.read_experts * 1536 * 2048 * 2
    assert roof_us(few, B580) < roof_us(many, B580) / 10


def test_few_rows_take_the_time_of_the_weights_that_they_read() -> None:
    problem = grouped(8)
    config = default_config(problem, B580)
    assert config.strategy.k_subgroups > 1
    assert roof_us(problem, B580) <= predict(problem, config, B580).time_us < 1.5 * roof_us(problem, B580)


def test_more_rows_of_an_expert_take_higher_tiles() -> None:
    heights = [default_config(grouped(rows), B580).matmul.block.m for rows in (8, 1024, 16384)]
    assert heights == sorted(heights)
    assert heights[0] < heights[-1]


def test_rows_of_tiles_are_those_of_every_expert() -> None:
    problem = grouped(1024)
    config = default_config(problem, B580)
    assert tiles_over_m(problem, np.array([8.0, 64.0, 8.0])).tolist() == [
        sum(-(-rows // height) for rows in problem.rows_of_experts) for height in (8, 64, 8)
    ]
    fewer = replace(config, matmul=replace(config.matmul, threads=replace(config.matmul.threads, m=7)))
    assert tiles_of(problem, fewer) == tiles_of(problem, config)
    assert columns_of([fewer]).groups_m[0] == 7
