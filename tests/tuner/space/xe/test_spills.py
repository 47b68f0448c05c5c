"""Tiles that are known to spill, and tiles that are not: Intel's compiler reported the same of each."""

from dataclasses import replace
from functools import partial

import pytest

from codegen import (
    Activation,
    DType,
    Extent,
    Gate,
    GemmProblem,
    Prefetch,
    PrefetchLevels,
    SlmOperands,
    XeConfig,
)
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


SHARED_BY_SLM = (
    # Sub-groups, and bytes that a thread spills of 4096x4096x4096 (4095x4095x4095) f16 in K steps of 32, 32x32 of a
    # sub-group, A and B copied to shared local memory: by ocloc 26.27 for dg2.
    ("NN", (4, 8), 0, 0),
    ("NT", (4, 8), 448, 1376),
    ("NT", (4, 4), 672, 2336),
    ("NT", (8, 8), 0, 0),
    ("TN", (4, 4), 672, 2816),
    ("TN", (4, 8), 0, 0),
    ("TT", (4, 8), 416, 1792),
    ("TT", (8, 8), 0, 0),
)


def copied(size: int, layout: str, subgroups: tuple[int, int]) -> tuple[GemmProblem, XeConfig]:
    problem = GemmProblem(size, size, size, transpose_a=layout[0] == "T", transpose_b=layout[1] == "T")
    config = default_config(problem, find("a770"))
    matmul = replace(config.matmul, block=Extent(32 * subgroups[0], 32 * subgroups[1], 32))
    strategy = replace(config.strategy, sg_layout=subgroups, slm=SlmOperands.BOTH, slm_stages=2)
    return problem, replace(config, matmul=matmul, strategy=strategy)


@pytest.mark.parametrize(("layout", "subgroups", "vectors", "elements"), SHARED_BY_SLM, ids=str)
def test_copies_of_operands_along_k_take_two_words_an_element(
    layout: str, subgroups: tuple[int, int], vectors: int, elements: int
) -> None:
    for size, spilled in ((4096, vectors), (4095, elements)):
        problem, config = copied(size, layout, subgroups)
        assert keeps_registers(check_problem(problem, find("a770")), config) == (not spilled)


def test_rows_that_are_shorter_than_a_register_take_one_each() -> None:
    """64x32 of a sub-group in K steps of 8: ocloc 26.27 spills 3,072 bytes for b70, and 4,032 for max1350."""
    problem = GemmProblem(4096, 14336, 768, dtype_a=DType.F32, dtype_b=DType.F32, transpose_a=True)
    config = default_config(problem, find("b70"))
    tall = replace(config, matmul=replace(config.matmul, block=Extent(64, 128, 8)))
    for layout, keeps in (((1, 4), False), ((2, 2), True)):
        tiled = replace(tall, strategy=replace(tall.strategy, sg_layout=layout))
        assert keeps_registers(check_problem(problem, find("b70")), tiled) == keeps


def test_products_in_turn_take_a_of_a_whole_step() -> None:
    """32x16 of a sub-group: ocloc 26.27 spills 1,344 bytes for a310 in K steps of 32, none in those of 16."""
    problem = BF16(992, 224, 624, dtype_c=DType.F16, gate=Gate(Activation.GELU_TANH))
    config = default_config(problem, find("a770"))
    strategy = replace(config.strategy, sg_layout=(8, 2), slm=SlmOperands.BOTH, slm_stages=2)
    for depth, keeps in ((32, False), (16, True)):
        matmul = replace(config.matmul, block=Extent(256, 32, depth))
        tiled = replace(config, matmul=matmul, strategy=strategy)
        assert keeps_registers(check_problem(problem, find("a770")), tiled) == keeps


def test_rounds_of_several_steps_load_those_that_are_staged_at_once() -> None:
    """ocloc 26.27 spills 23,488 bytes with two steps in a round, none with one."""
    problem = GemmProblem(1096, 3528, 2192, dtype_c=DType.U8, lda=2199, experts=5)
    config = default_config(problem, find("b580"))
    matmul = replace(config.matmul, block=Extent(64, 512, 32), innermost=Extent(8, 32, 32))
    strategy = replace(config.strategy, sg_layout=(2, 8), slm=A, slm_stages=2, prefetch=Prefetch(PrefetchLevels.L1, 2))
    for steps, keeps in ((2, False), (1, True)):
        tiled = replace(config, matmul=matmul, strategy=replace(strategy, k_unroll=steps))
        assert keeps_registers(check_problem(problem, find("b580")), tiled) == keeps


@pytest.mark.parametrize(("k", "keeps"), [(84, True), (83, False)])
def test_rows_that_are_not_of_whole_words_are_loaded_by_elements(k: int, keeps: bool) -> None:
    """32x32 of a sub-group in K steps of 16: ocloc 26.27 spills 1,376 bytes for dg2 where K is odd, none else."""
    problem = BF16(96, 144, k, dtype_b=DType.E4M3, lda=128)
    config = default_config(problem, find("a770"))
    matmul = replace(config.matmul, block=Extent(32, 32, 16))
    strategy = replace(config.strategy, sg_layout=(1, 1), slm=SlmOperands.NONE, slm_stages=0)
    tiled = replace(config, matmul=matmul, strategy=strategy)
    assert keeps_registers(check_problem(problem, find("a770")), tiled) == keeps
