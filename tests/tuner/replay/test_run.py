"""Searches of a recorded space are judged by what chance finds: counted by hand."""

import math

import numpy as np
import pytest

from tuner.errors import InvalidFile
from tuner.replay.recorded import RecordedSpace, recorded_space
from tuner.replay.run import Replay, best_so_far, chance, replay, score
from tuner.replay.warm import donor_rows
from tuner.search.method import DONOR, Method
from tuner.search.priors import Priors
from tuner.search.samplers.build import build_search
from tuner.search.samplers.portfolio import RANDOM


def _recorded(name: str = "grid", shift: int = 0, axes: tuple[str, ...] = ("x", "y")) -> RecordedSpace:
    points = [(x, y) for x in range(6) for y in range(5)]
    times = [None if x == y else 10.0 + (x - 4 - shift) ** 2 + (y - 1) ** 2 for x, y in points]
    return recorded_space(name, axes, points, times)


def test_chance_is_the_mean_over_all_ways_to_draw() -> None:
    recorded = recorded_space("four", ("x",), [(1,), (2,), (3,), (4,)], [4.0, 1.0, 2.0, None])
    found = chance(recorded, 5)
    # Least of one of 4, 1, 2 and a failure, which counts as 4; of each of the six pairs; of each of the four triples.
    assert found.best_us == pytest.approx([(4 + 1 + 2 + 4) / 4, (1 * 3 + 2 * 2 + 4) / 6, (1 * 3 + 2) / 4, 1, 1])
    assert found.fraction[:2] == pytest.approx([(0.25 + 1 + 0.5 + 0.25) / 4, (1 * 3 + 0.5 * 2 + 0.25) / 6])


def test_a_search_is_scored_between_chance_and_the_optimum() -> None:
    recorded = recorded_space("four", ("x",), [(1,), (2,), (3,), (4,)], [4.0, 1.0, 2.0, None])
    at_once, late = Replay(np.array([1]), ("a",)), Replay(np.array([3, 0, 1]), ("a", "a", "b"))
    assert best_so_far(recorded, late.rows, 4).tolist() == [4.0, 4.0, 1.0, 1.0]
    assert score(recorded, [at_once], 4).p_score == pytest.approx(1.0)
    found = score(recorded, [at_once, late], 4)
    assert found.fraction == pytest.approx([(1 + 0.25) / 2, (1 + 0.25) / 2, 1, 1])
    base = chance(recorded, 4).best_us
    # After all four, chance has the optimum for certain: no more is judged.
    assert found.p_score == pytest.approx(
        np.mean([(base[i] - found_us) / (base[i] - 1) for i, found_us in enumerate([2.5, 2.5, 1])])
    )
    assert found.by == {"a": 3, "b": 1}


def test_what_chance_has_practically_found_is_not_judged() -> None:
    """Else a millionth that chance is from the optimum outweighs all that was found before."""
    times = [10 + 1e-4 * i for i in range(16)] + [12.0, 13.0, 14.0, 15.0]
    recorded = recorded_space("line", ("x",), [(i,) for i in range(20)], times)
    late = Replay(np.arange(19, -1, -1), ("a",) * 20)
    assert -10 < score(recorded, [late], 20).p_score < 0


def test_every_evaluation_counts_and_none_comes_twice() -> None:
    recorded = _recorded()
    space = recorded.space()
    found = replay(recorded, space, build_search(Method.PORTFOLIO, space, 1), 100)
    assert sorted(found.rows.tolist()) == list(range(len(recorded)))
    assert math.isclose(best_so_far(recorded, found.rows, 30)[-1], recorded.best_us)


def test_a_warm_search_begins_with_the_best_of_the_other_space() -> None:
    recorded, other = _recorded(), _recorded("other", shift=-1, axes=("x", "y"))
    space = recorded.space()
    rows = donor_rows(recorded, other)
    assert space.config(rows[0]) == other.space().config(int(np.nanargmin(other.times_us)))
    found = replay(recorded, space, build_search(Method.PORTFOLIO, space, 1, Priors(rows)), 5)
    assert found.rows[0] == rows[0]
    assert found.by == (DONOR, *[RANDOM] * 4)


def test_a_recording_of_another_kernel_warms_nothing() -> None:
    with pytest.raises(InvalidFile, match="other has no axis y, which grid has"):
        donor_rows(_recorded(), _recorded("other", axes=("x", "z")))
