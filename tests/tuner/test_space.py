"""The space: exactly what the rules allow, each once."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from codegen import DType, GemmProblem, KernelConfig, Refused
from codegen.rules import check, violations
from codegen.target import target_of
from hal import DeviceSpec, find
from tests.tuner.fakes import SMALL, emulated
from tuner.heuristic import default_config
from tuner.search.repair import nearest_unseen
from tuner.space import Axis, Space
from tuner.xe_space import ORDERS, config_of, ranges_of, xe_space


def test_the_space_is_what_the_rules_allow() -> None:
    spec = emulated()
    space = xe_space(SMALL, spec)
    ranges = ranges_of(SMALL, spec, target_of(spec))
    legal = {
        config for values in product(*ranges, ORDERS) if not violations(SMALL, config := config_of(SMALL, values), spec)
    }
    assert {space.config(row) for row in range(len(space))} == legal
    assert len(space) == len(legal) > 100


@pytest.mark.parametrize("device", ["b580", "max1100", "lunar-lake", "ptl"])
def test_rows_of_a_large_space_are_legal_and_found_again(device: str) -> None:
    problem, spec = GemmProblem(512, 384, 96, dtype_a=DType.BF16, dtype_b=DType.BF16), find(device)
    space = xe_space(problem, spec)
    assert 1_000 < len(space) < 200_000
    for row in np.random.default_rng(1).integers(len(space), size=200):
        config = space.config(int(row))
        check(problem, config, spec)
        assert space.index(config) == row
        assert config.strategy.prefetch.distance < -(-problem.k // config.matmul.block.k)


@pytest.mark.parametrize("spec", [find("b580"), emulated()], ids=lambda spec: spec.id)
def test_the_default_is_in_the_space(spec: DeviceSpec) -> None:
    for problem in (SMALL, GemmProblem(1, 4096, 512), GemmProblem(1000, 1016, 520)):
        assert xe_space(problem, spec).index(default_config(problem, spec)) is not None


def test_an_emulated_device_offers_no_choice_that_it_ignores() -> None:
    space = xe_space(SMALL, emulated())
    values = {axis.name: axis.values for axis in space.axes}
    assert values["prefetch"] == (0,)
    assert values["grf"] == (256,)
    gpu = {axis.name: axis.values for axis in xe_space(SMALL, find("b580")).axes}
    assert gpu["grf"] == (128, 256)
    assert len(gpu["prefetch"]) > 1


def test_tiles_end_where_the_problem_does() -> None:
    values = {axis.name: axis.values for axis in xe_space(GemmProblem(24, 72, 56), find("b580")).axes}
    assert values["block_m"] == (8, 16, 32)
    assert values["block_n"] == (16, 32, 64, 128)
    assert values["block_k"] == (16, 32, 64)


def test_the_version_names_the_space() -> None:
    b580 = xe_space(SMALL, find("b580")).version
    assert b580 == xe_space(SMALL, find("b580")).version
    assert b580 != xe_space(GemmProblem(24, 40, 64), emulated()).version


def test_a_refused_problem_has_no_space() -> None:
    with pytest.raises(Refused, match="block2d-pitch"):
        xe_space(GemmProblem(24, 40, 57), find("b580"))


def _grid() -> Space[tuple[int, ...]]:
    axes = (Axis("x", (1, 2, 4)), Axis("y", (10, 20)))
    points = np.array([[0, 0], [2, 0], [1, 1]], dtype=np.int16)
    return Space(axes, points, lambda c: c, lambda v: tuple(int(i) for i in v))


def test_a_configuration_outside_has_no_row() -> None:
    space = _grid()
    assert [space.index(c) for c in ((1, 10), (4, 10), (2, 20), (2, 10), (3, 10))] == [0, 1, 2, None, None]


def test_a_space_holds_no_point_twice() -> None:
    with pytest.raises(ValueError, match="once"):
        Space((Axis("x", (1, 2)),), np.array([[1], [1]], dtype=np.int16), lambda c: c, lambda v: v)


def test_repair_takes_the_nearest_that_was_not_seen() -> None:
    space, rng = _grid(), np.random.default_rng(0)
    assert nearest_unseen(space, (2, 0), np.array([False, False, False]), rng) == 1
    assert nearest_unseen(space, (2, 0), np.array([False, True, True]), rng) == 0
    assert nearest_unseen(space, (0, 1), np.array([True, False, False]), rng) == 2
    assert nearest_unseen(space, (0, 0), np.array([True, True, True]), rng) is None
    drawn = {nearest_unseen(space, (0, 1), np.array([False, False, False]), rng) for _ in range(30)}
    assert drawn == {0, 2}  # both are one step away


def test_configurations_that_differ_off_the_axes_are_not_confused() -> None:
    space = xe_space(SMALL, emulated())
    config: KernelConfig = space.config(0)
    other = replace(config, strategy=replace(config.strategy, raster_group=2))
    assert space.index(other) is None
