"""The ranking by predicted times: alternately the best and the most different, none twice, deterministic."""

import numpy as np
import pytest
from numpy.typing import NDArray

from tuner.search.samplers.build import build_ranking
from tuner.search.samplers.ranked import NEAR
from tuner.search.samplers.search import Search
from tuner.space.space import (
    Axis,
    Space,
)

Point = tuple[int, ...]


def _space() -> Space[Point]:
    """The 63 points of 9 x 7."""
    points = [(x, y) for x in range(9) for y in range(7)]
    axes = (Axis("x", tuple(range(9))), Axis("y", tuple(range(7))))
    return Space(axes, np.array(points, dtype=np.int16), lambda c: c, lambda v: tuple(int(i) for i in v))


def _times(space: Space[Point]) -> NDArray[np.float64]:
    """The best is at (2, 3), and what is more than 5 steps away is not near it."""
    return 10.0 + space.distances((2, 3)).astype(np.float64)


def _steps(one: Point, other: Point) -> int:
    return sum(abs(a - b) for a, b in zip(one, other, strict=True))


def _next(search: Search[Point]) -> Point:
    proposal = search.ask()
    assert proposal is not None
    return proposal.config


def _all(search: Search[Point]) -> list[Point]:
    proposed: list[Point] = []
    while (proposal := search.ask()) is not None:
        proposed.append(proposal.config)
    return proposed


def test_every_configuration_comes_once_and_always_in_the_same_order() -> None:
    space = _space()
    first, again = (_all(build_ranking(space, _times(space), 0)) for _ in range(2))
    assert first == again
    assert len(first) == len(set(first)) == len(space)


def test_the_best_and_the_most_different_of_the_best_take_turns() -> None:
    space = _space()
    times = dict(zip(map(space.config, range(len(space))), _times(space), strict=True))
    search = build_ranking(space, _times(space), 0)
    search.skip((4, 4))  # as a default is
    seen: list[Point] = [(4, 4)]
    different = 0
    for turn in range(20):
        point = _next(search)
        left = [p for p in times if p not in seen]
        if turn % 2 == 0:
            assert times[point] == min(times[p] for p in left)
        else:
            near = [p for p in left if times[p] <= NEAR * 10]
            farthest = max(min(_steps(p, s) for s in seen) for p in near)
            assert point in near
            assert min(_steps(point, s) for s in seen) == farthest
            different += 1
        seen.append(point)
    assert different == 10


def test_of_what_the_model_cannot_tell_apart_one_comes_before_what_is_almost_as_fast() -> None:
    space = _space()
    rng = np.random.default_rng(2)
    # 30 configurations at 10 us but for the order of sums, one each at 10.05 and 10.15 us, all others far slower.
    times = np.full(len(space), 30.0)
    rows = rng.permutation(len(space))
    times[rows[:30]] = 10.0 * (1 + 1e-15 * rng.integers(0, 3, 30))
    times[rows[30]], times[rows[31]] = 10.05, 10.15
    us = dict(zip(map(space.config, range(len(space))), times.round(9), strict=True))
    search = build_ranking(space, times, 0)
    proposed: list[Point] = []
    for _ in range(7):
        point = _next(search)
        proposed.append(point)
    best = [proposed[0], *proposed[1::2]]
    assert [us[point] for point in best] == [10.0, 10.05, 10.15, 10.0]
    again, before = best[3], proposed[:5]
    tied = [point for point in us if us[point] == 10.0 and point not in before]
    assert min(_steps(again, p) for p in before) == max(min(_steps(t, p) for p in before) for t in tied)


def test_told_again_it_goes_on_as_it_would_have() -> None:
    space = _space()
    first, again = (build_ranking(space, _times(space), 0) for _ in range(2))
    for number in range(7):
        point = _next(first)
        again.tell(point, None if number % 3 == 0 else 5.0)
        first.tell(point, 5.0)
    assert _all(first) == _all(again)


def test_what_is_skipped_or_not_in_the_space_is_not_proposed() -> None:
    space = _space()
    search = build_ranking(space, _times(space), 0)
    for row in range(0, len(space), 2):
        search.skip(space.config(row))
    search.tell((100, 100), 1.0)
    assert set(_all(search)) == {space.config(row) for row in range(1, len(space), 2)}


@pytest.mark.parametrize("slower", [1.0, 2.0])
def test_a_space_of_two_is_exhausted(slower: float) -> None:
    points = np.array([[0], [1]], dtype=np.int16)
    space: Space[Point] = Space((Axis("x", (4, 6)),), points, lambda c: c, lambda v: tuple(int(i) for i in v))
    assert _all(build_ranking(space, np.array([slower * 3, 3.0]), 0)) in ([(6,), (4,)], [(4,), (6,)])
