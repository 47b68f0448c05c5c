"""The proposer: legal, never twice, the same again after a replay, and better than chance."""

import statistics
from pathlib import Path

import numpy as np
import pytest

from benchmarks.search import random_curve, recorded_space, tpe_curve
from codegen import KernelConfig
from tests.tuner.fakes import SMALL, emulated
from tuner.search.optuna import STARTUP, OptunaProposer
from tuner.space import Axis, Space
from tuner.xe_space import xe_space

RECORDED = Path(__file__).parents[3] / "shared/data/gemm_space_titan_rtx.csv.gz"

Point = tuple[int, ...]


def _space() -> Space[Point]:
    """36 points of 8 x 8, those of an even sum and a few more."""
    points = [(x, y) for x in range(8) for y in range(8) if (x + y) % 2 == 0 or x == 7]
    axes = (Axis("x", tuple(range(8))), Axis("y", tuple(range(8))))
    return Space(axes, np.array(points, dtype=np.int16), lambda c: c, lambda v: tuple(int(i) for i in v))


def _time(point: Point) -> float:
    return 1 + (point[0] - 5) ** 2 + (point[1] - 3) ** 2


def test_every_configuration_comes_once_and_then_none() -> None:
    space, seen = _space(), list[Point]()
    proposer = OptunaProposer(space, 3)
    while (point := proposer.propose()) is not None:
        seen.append(point)
        proposer.tell(point, _time(point) if point[0] else None)
    assert len(seen) == len(set(seen)) == len(space)


def test_told_again_it_proposes_the_same() -> None:
    first, history = OptunaProposer(_space(), 5), list[tuple[Point, float | None]]()
    for number in range(STARTUP + 6):
        point = first.propose()
        assert point is not None
        history.append((point, None if number % 4 == 3 else _time(point)))
        first.tell(*history[-1])
    again = OptunaProposer(_space(), 5)
    for point, time_us in history:
        again.tell(point, time_us)
    for _ in range(4):
        point = first.propose()
        assert point is not None
        assert point == again.propose()
        assert point not in dict(history)
        first.tell(point, 2.0)
        again.tell(point, 2.0)


def test_seeds_differ() -> None:
    assert [OptunaProposer(_space(), seed).propose() for seed in range(8)].count((0, 0)) < 8


def test_proposals_ahead_differ_and_skipped_ones_do_not_come() -> None:
    space = _space()
    proposer = OptunaProposer(space, 1)
    for row in range(0, len(space), 2):
        proposer.skip(space.config(row))
    ahead = [proposer.propose() for _ in range(len(space) // 2)]
    assert set(ahead) == {space.config(row) for row in range(1, len(space), 2)}
    assert proposer.propose() is None


def test_what_is_not_in_the_space_is_not_told() -> None:
    proposer, untold = OptunaProposer(_space(), 2), OptunaProposer(_space(), 2)
    proposer.tell((0, 1), 5.0)
    assert proposer.propose() == untold.propose()


def test_proposals_for_a_device_are_of_its_space() -> None:
    space = xe_space(SMALL, emulated())
    proposer: OptunaProposer[KernelConfig] = OptunaProposer(space, 1)
    for _ in range(STARTUP + 5):
        config = proposer.propose()
        assert config is not None
        assert space.index(config) is not None
        proposer.tell(config, 10.0 + config.matmul.block.m)


def test_a_space_of_one_is_exhausted_at_once() -> None:
    space = Space((Axis("x", (4,)),), np.zeros((1, 1), dtype=np.int16), lambda c: c, lambda v: v)
    proposer = OptunaProposer(space, 0)
    assert proposer.propose() == (4,)
    assert proposer.propose() is None


@pytest.mark.skipif(not RECORDED.exists(), reason="no recorded space")
def test_on_a_recorded_space_it_beats_chance() -> None:
    space, times = recorded_space(RECORDED)
    optimum = min(times.values())
    found = statistics.mean(optimum / tpe_curve(space, times, seed, 100)[-1] for seed in range(2))
    chance = statistics.mean(optimum / random_curve(space, times, seed, 100)[-1] for seed in range(50))
    assert found > chance + 0.03
