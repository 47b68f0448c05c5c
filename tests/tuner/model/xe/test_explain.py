"""Explanation of a configuration: its bound and the numbers of its chart."""

from dataclasses import replace
from pathlib import Path

import pytest

from codegen import Extent, GemmProblem, MatmulConfig, Prefetch, PrefetchLevels, XeConfig, XeStrategy
from hal import find
from tuner.model.xe import MODEL_VERSION, PARTS, Constants, explain
from tuner.model.xe.constants import sources

B580 = find("b580")
SQUARE, THIN = GemmProblem(4096, 2048, 8192), GemmProblem(8, 16384, 8192)


def _config(groups: Extent, block: Extent, layout: tuple[int, int]) -> XeConfig:
    load = Extent(min(32, block.m // layout[0]), min(32, block.n // layout[1]), 32)
    return XeConfig(MatmulConfig(groups, block, load), XeStrategy(layout, Prefetch(PrefetchLevels.L1, 3)))


GOOD = _config(Extent(16, 8, 1), Extent(256, 256, 32), (8, 4))


def test_a_large_square_is_bound_by_its_multiplies() -> None:
    explained = explain(SQUARE, GOOD, B580)
    assert explained.bound_by == "multiply"
    assert tuple(part.name for part in explained.parts) == PARTS
    assert max(part.time_us for part in explained.parts) < explained.prediction.time_us
    assert explained.tflops < explained.peak_tflops == pytest.approx(116.7, rel=0.01)
    assert (explained.work_groups, explained.groups_per_core, explained.threads_per_engine) == (128, 1, 4)
    assert (explained.waves, explained.registers, explained.registers_spilled) == (7, 256, 0)
    assert explained.busy == pytest.approx(128 / 140)


def test_a_thin_problem_is_bound_by_memory() -> None:
    explained = explain(THIN, _config(Extent(1, 128, 1), Extent(8, 128, 32), (1, 4)), B580)
    assert explained.bound_by == "memory"
    memory = explained.ceilings[-1]
    assert memory.level == "memory"
    assert memory.flops_per_byte == pytest.approx(8, rel=0.02)
    assert explained.tflops < memory.tflops < explained.peak_tflops


def test_intensity_falls_from_level_to_level() -> None:
    l1, l2, memory = (ceiling.flops_per_byte for ceiling in explain(SQUARE, GOOD, B580).ceilings)
    # Of a sub-group's tile, and of a work-group's: 2 m n / (m + n) multiply-adds for each element.
    assert l1 == pytest.approx(2 * 32 * 64 / ((32 + 64) * 2))
    assert l2 == pytest.approx(2 * 256 * 256 / ((256 + 256) * 2))
    assert l1 < l2 < memory


def test_spills_are_said() -> None:
    large = replace(GOOD, matmul=replace(GOOD.matmul, threads=Extent(8, 8, 1), block=Extent(512, 256, 32)))
    explained = explain(SQUARE, large, B580)
    assert explained.bound_by == "spills"
    assert explained.registers_spilled == explained.registers_needed - 256 > 0


def test_every_constant_says_where_it_is_from() -> None:
    assert set(sources()) == set(Constants.__slots__)
    assert all(sources().values())


def test_the_documentation_is_of_this_version() -> None:
    assert f"`{MODEL_VERSION}`" in Path("docs/model.md").read_text(encoding="utf-8")
