"""Tiles that are known to spill, and tiles that are not: Intel's compiler reported the same of each."""

from dataclasses import replace
from functools import partial

import pytest

from codegen import DType, Extent, GemmProblem, SlmOperands
from codegen.xe.rules import check_problem
from hal import find
from tuner.space.xe.heuristic import default_config
from tuner.space.xe.spills import keeps_registers

BF16 = partial(GemmProblem, dtype_a=DType.BF16, dtype_b=DType.BF16)
NONE, A = SlmOperands.NONE, SlmOperands.A
CASES = (
    # Elements of B take a word each until they are packed.
    ("a770", GemmProblem(16, 4095, 4095), (16, 64, 16), NONE, False),
    ("a770", GemmProblem(16, 4095, 4095), (16, 32, 16), NONE, True),
    # And addresses of loads in flight.
    ("a770", GemmProblem(64, 1001, 503), (64, 16, 32), A, False),
    ("a770", GemmProblem(64, 1001, 503), (64, 16, 16), A, True),
    # Rows of B in vectors are packed, too.
    ("a770", BF16(997, 100, 1001), (32, 32, 32), A, False),
    ("a770", BF16(997, 100, 1001), (32, 32, 16), A, True),
    # Rows whose length is an argument are not loaded in vectors.
    ("a770", GemmProblem(33, 1536, 512, dynamic=True), (64, 16, 32), A, False),
    # Without DPAS elements are widened, which it multiplies as they are.
    ("meteor-lake-h", BF16(8, 1003, 503, transpose_a=True, transpose_b=True), (8, 64, 16), NONE, False),
    ("meteor-lake-h", BF16(8, 1003, 503, transpose_a=True, transpose_b=True), (8, 32, 16), NONE, True),
)


@pytest.mark.parametrize(("device", "problem", "tile", "slm", "keeps"), CASES, ids=str)
def test_elements_that_lanes_load_take_words_and_addresses(
    device: str, problem: GemmProblem, tile: tuple[int, int, int], slm: SlmOperands, keeps: bool
) -> None:
    m, n, k = tile
    config = default_config(problem, find(device))
    groups = 16 if slm is A else 1
    matmul = replace(config.matmul, block=Extent(m, n * groups, k))
    strategy = replace(config.strategy, sg_layout=(1, groups), slm=slm, slm_stages=0 if slm is NONE else 2)
    tiled = replace(config, matmul=matmul, strategy=replace(strategy, k_subgroups=1))
    assert (tiled.sg_m, tiled.sg_n) == (m, n)
    assert keeps_registers(check_problem(problem, find(device)), tiled) == keeps
