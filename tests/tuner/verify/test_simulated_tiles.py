"""Choice of the tiles to verify in the simulator: bounded work, edges included, for any assignment of tiles."""

from dataclasses import replace

import pytest

from codegen import Axis, EpilogueKind, EpilogueStep, Extent, GemmProblem, XeConfig
from codegen.xe.workgroup_tiles import workgroup_tiles
from hal import find
from tuner.space.xe.heuristic import default_config
from tuner.verify.simulated_tiles import (
    SAMPLE,
    tiles_to_simulate,
)

LARGE = GemmProblem(4000, 3960, 4096)
TILES = 16, 16  # of 256 x 256, ragged at both edges


def _config(threads: tuple[int, int]) -> XeConfig:
    config = default_config(LARGE, find("b580"))
    matmul = replace(config.matmul, block=Extent(256, 256, 32), threads=Extent(*threads, 1))
    return replace(config, matmul=matmul)


@pytest.mark.parametrize(
    ("threads", "groups"),
    [(TILES, 9), ((8, 16), 9), ((8, 8), 4), ((4, 8), 2), ((4, 4), 1), ((16, 1), 1), ((1, 1), 1)],
)
def test_persistent_work_groups_are_sampled_by_what_they_compute(threads: tuple[int, int], groups: int) -> None:
    config = _config(threads)
    grid = workgroup_tiles(LARGE, config)
    sample = tiles_to_simulate(LARGE, config, seed=3)
    assert sample is not None
    assert (0, 15, 15) in sample
    assert len({(row % threads[0], column % threads[1]) for _, row, column in sample}) == groups
    turns = grid.count // (threads[0] * threads[1])
    assert len(grid.computed_with(sample)) == turns * groups <= max(2 * SAMPLE, turns)


def test_a_work_group_each_its_corners_are_computed() -> None:
    sample = tiles_to_simulate(LARGE, _config(TILES), seed=3)
    assert sample is not None
    assert sample >= {(0, row, column) for row in (0, 15) for column in (0, 15)}


def test_each_seed_draws_tiles_of_its_own() -> None:
    samples = {tiles_to_simulate(LARGE, _config(TILES), seed) for seed in range(8)}
    assert [sample for sample in samples if sample is not None and len(sample) == SAMPLE] == list(samples)
    assert len(samples) == 8


def test_padding_of_tiles_counts_as_work() -> None:
    problem = GemmProblem(1, 128256, 4096, transpose_b=True)
    sample = tiles_to_simulate(problem, _config((1, 501)), 3)
    assert sample is not None
    assert len(sample) == SAMPLE
    assert {(0, 0, 0), (0, 0, 500)} <= sample


def test_small_problems_are_computed_whole_and_sums_by_whole_lines() -> None:
    assert tiles_to_simulate(replace(LARGE, m=40, n=264, k=2048), _config(TILES), 3) is None
    sums = replace(LARGE, epilogue=(EpilogueStep(EpilogueKind.REDUCE, axis=Axis.ROW),))
    assert tiles_to_simulate(sums, _config((4, 4)), 3) == {(0, 15, column) for column in range(16)}
