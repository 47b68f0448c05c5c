"""The space of a device: what the rules allow, each once, the same every time, and every strategy somewhere."""

from collections import defaultdict
from dataclasses import fields, replace
from functools import cache
from itertools import product

import numpy as np
import pytest

from codegen import GemmProblem, PrefetchLevels, SlmOperands, SplitK, XeConfig, XeStrategy
from codegen.config.xe import XE_ORDERS
from codegen.xe.rules import (
    check,
    check_problem,
    violations,
)
from hal import Fact, find
from hal.facts.spec import spec_from_facts
from tests.tuner.fakes import SMALL, emulated
from tests.tuner.gemm_problems import PROBLEMS
from tuner.space.space import Space, Value
from tuner.space.xe.axes import (
    Point,
    ranges_of,
)
from tuner.space.xe.heuristic import default_config, explain_default
from tuner.space.xe.points import (
    config_of,
    point_of,
)
from tuner.space.xe.space import build_space, xe_space

B580 = find("b580")
LARGE = GemmProblem(2048, 1536, 1024)
TINY = GemmProblem(8, 32, 40)
SPACES = [
    *("one element", "small"),
    *(
        pytest.param(name, marks=pytest.mark.slow)
        for name in ("one row", "tt", "odd A alone", "tn", "s8 batch with steps", "tf32", "f32", "odd", "long K")
    ),
]


@cache
def space_of(problem: GemmProblem, device: str = "b580") -> Space[XeConfig]:
    return xe_space(problem, find(device))


@cache
def configs_of(problem: GemmProblem) -> list[XeConfig]:
    """Configurations of a space with every value of every axis, and some of any values."""
    space = space_of(problem)
    rows = {int(row) for column in space.points.T for row in np.unique(column, return_index=True)[1]}
    return [*(space.config(row) for row in rows), *_some(space, 4000)]


def _axes(space: Space[XeConfig]) -> dict[str, tuple[Value, ...]]:
    return {name: axis.values for name, axis in zip(Point._fields, space.axes, strict=True)}


def _some(space: Space[XeConfig], count: int, seed: int = 1) -> list[XeConfig]:
    return [space.config(int(row)) for row in np.random.default_rng(seed).integers(len(space), size=count)]


def test_all_legal_tiles_with_plain_strategies_are_in_the_space() -> None:
    space, ranges = space_of(SMALL), ranges_of(check_problem(SMALL, B580))
    plain = list(product(*ranges[:10]))
    drawn = (Point(*plain[i]) for i in np.random.default_rng(3).integers(len(plain), size=2000))
    legal = {config for point in drawn if not violations(SMALL, config := config_of(SMALL, point), B580)}
    assert len(legal) > 10
    assert all(space.index(config) is not None for config in legal)


@pytest.mark.parametrize("name", SPACES)
@pytest.mark.slow
def test_rows_are_legal_and_found_again_and_the_default_is_one(name: str) -> None:
    problem = PROBLEMS[name]
    space = space_of(problem)
    assert len(space) < 100_000
    for config in _some(space, 200):
        check(problem, config, B580)
        row = space.index(config)
        assert row is not None
        assert space.config(row) == config
    assert space.index(default_config(problem, B580)) is not None


@pytest.mark.parametrize(
    ("device", "problem"),
    [
        ("max1100", TINY),
        pytest.param("max1100", LARGE, marks=pytest.mark.slow),
        pytest.param("ptl", LARGE, marks=pytest.mark.slow),
    ],
    ids=str,
)
@pytest.mark.slow
def test_rows_for_other_devices_are_legal(device: str, problem: GemmProblem) -> None:
    for config in _some(space_of(problem, device), 200):
        check(problem, config, find(device))


def test_small_spaces_are_legal_whole() -> None:
    space = xe_space(TINY, emulated())
    for row in range(len(space)):
        check(TINY, space.config(row), emulated())


@pytest.mark.slow
def test_every_strategy_is_in_the_space() -> None:
    found: dict[str, set[object]] = defaultdict(set)
    splits: set[tuple[SplitK, int]] = set()
    for config in configs_of(LARGE):
        s, prefetch, threads = config.strategy, config.strategy.prefetch, config.matmul.threads
        for field in fields(XeStrategy):
            found[field.name].add(getattr(s, field.name))
        found["order"].add(config.matmul.loop_order)
        found["levels"].add(prefetch.levels)
        found["hints"].add(prefetch.hints)
        found["layouts"].add((prefetch.layout_a is None, prefetch.layout_b is None))
        splits.add((s.split_k, threads.k))
    assert found["order"] == set(XE_ORDERS)
    assert found["levels"] == set(PrefetchLevels)
    assert found["slm"] == set(SlmOperands)
    assert found["split_k"] == set(SplitK)
    assert found["slm_stages"] == {0, 2, 3, 4}
    assert found["grf_mode"] == {128, 256}
    assert found["hints"] == found["pipelined_registers"] == {False, True}
    assert found["layouts"] == set(product((False, True), repeat=2))
    assert found["barrier_every"] == {0, 1, 2, 4, 8}
    assert found["k_unroll"] == {1, 2, 4, 8}
    assert found["k_subgroups"] >= {1, 2, 4, 8, 16}
    assert found["raster_group"] >= {1, 2, 4, 8}
    assert {many for _, many in splits} == {1, 2, 4, 8, 16}


def test_persistent_work_groups_and_their_orders_are_in_the_space() -> None:
    looped = {c.matmul.loop_order for c in configs_of(LARGE) if point_of(LARGE, c).turns_m > 1}
    assert looped == set(XE_ORDERS)


@pytest.mark.parametrize(
    ("name", "single"),
    [
        pytest.param("tn", ("load_m",), marks=pytest.mark.slow),
        pytest.param("tt", ("load_m", "load_n", "load_k"), marks=pytest.mark.slow),
        pytest.param("f32", ("load_m", "load_n", "load_k"), marks=pytest.mark.slow),
        ("one element", ("order", "raster_group", "turns_m", "turns_n", "split_k", "splits", "slm", "k_unroll")),
        pytest.param("one row", ("block_m", "order", "raster_group", "turns_m"), marks=pytest.mark.slow),
    ],
)
def test_an_axis_without_effect_has_one_value(name: str, single: tuple[str, ...]) -> None:
    axes = _axes(space_of(PROBLEMS[name]))
    assert {axis: len(axes[axis]) for axis in single} == dict.fromkeys(single, 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "axes"),
    [
        ("odd", ("load_m", "load_n", "load_k", "prefetch", "prefetch_l2", "prefetch_a", "prefetch_hints")),
        ("odd A alone", ("load_m", "prefetch_a")),
    ],
)
def test_operands_accessed_by_lanes_have_no_messages_to_choose(name: str, axes: tuple[str, ...]) -> None:
    """Only a copy in a workspace has a pitch that block messages accept."""
    space = space_of(PROBLEMS[name])
    column = dict(zip(Point._fields, space.points.T, strict=True))
    copied = np.array(_axes(space)["workspace"])[column["workspace"]] != "none"
    for axis in axes:
        assert len(np.unique(column[axis][~copied])) == 1, axis
        assert len(np.unique(column[axis][copied])) > 1, axis


def test_an_emulated_device_offers_no_choice_that_it_ignores() -> None:
    axes = _axes(xe_space(TINY, emulated()))
    assert axes["prefetch"] == axes["prefetch_l2"] == axes["prefetch_a"] == axes["prefetch_b"] == (0,)
    assert axes["prefetch_hints"] == (1,)
    assert axes["grf"] == (256,)
    gpu = _axes(space_of(SMALL))
    assert gpu["grf"] == (128, 256)
    assert len(gpu["prefetch"]) > 1


@pytest.mark.slow
def test_adding_in_memory_is_not_offered_where_bits_must_stay_the_same() -> None:
    assert "atomic" in _axes(space_of(TINY))["split_k"]
    assert "atomic" not in _axes(xe_space(replace(TINY, deterministic=True), B580))["split_k"]


def test_tiles_end_where_the_problem_does() -> None:
    axes = _axes(space_of(SMALL))
    assert axes["block_m"] == (8, 16, 32)
    assert axes["block_n"] == (16, 32, 64)
    assert axes["block_k"] == (16, 32, 64)


def test_the_version_names_the_space() -> None:
    assert xe_space(TINY, emulated()).version == build_space(TINY, emulated()).version
    assert space_of(TINY).version != xe_space(TINY, emulated()).version != xe_space(SMALL, emulated()).version


@pytest.mark.slow
def test_devices_of_equal_facts_share_a_space_and_a_default() -> None:
    facts = [*B580.facts(), Fact("driver", "26.27", "probed")]
    card = spec_from_facts("b580-1", B580.name, B580.kind, facts)
    assert xe_space(SMALL, card) is xe_space(SMALL, B580)
    smaller = replace(B580, max_slm_bytes=65536)
    assert xe_space(SMALL, smaller) is not xe_space(SMALL, B580)
    assert explain_default(SMALL, card) is explain_default(SMALL, B580)
    assert explain_default(SMALL, smaller) is not explain_default(SMALL, B580)


def test_configurations_that_no_point_says_have_no_row() -> None:
    space = space_of(LARGE)
    config = space.config(space.index(_some(space, 1)[0]) or 0)
    odd_layout = replace(config, strategy=replace(config.strategy, sg_layout=(3, 5)))
    odd_threads = replace(
        config, matmul=replace(config.matmul, threads=replace(config.matmul.threads, m=config.matmul.threads.m + 1))
    )
    assert space.index(odd_layout) is None
    assert space.index(odd_threads) is None
