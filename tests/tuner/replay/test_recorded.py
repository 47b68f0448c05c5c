"""A recorded space: its axes in order, its times in microseconds, and what is refused."""

import math

import numpy as np
import pytest

from tuner.replay.recorded import RecordedSpace, recorded_space
from tuner.space.space import Axis

NAMES = ("tile", "staging", "share")
POINTS = ((64, "both", 0.5), (8, "none", 0.25), (16, "a", 0.5))


def _recorded(*times_us: float | None) -> RecordedSpace:
    return recorded_space("three", NAMES, POINTS, times_us)


def test_numbers_ascend_and_words_keep_their_order() -> None:
    assert _recorded(3.0, 1.0, 2.0).axes == (
        Axis("tile", (8, 16, 64)),
        Axis("staging", ("both", "none", "a")),
        Axis("share", (0.25, 0.5)),
    )


def test_a_time_that_is_none_or_nan_stays_none() -> None:
    recorded = _recorded(3.0, None, math.nan)
    assert [recorded.time_us(row) for row in range(3)] == [3.0, None, None]
    assert recorded.best_us == 3.0


def test_its_space_holds_every_configuration_in_its_row() -> None:
    space = _recorded(3.0, None, 2.0).space()
    assert [space.config(row) for row in range(3)] == list(POINTS)
    assert [space.index(point) for point in POINTS] == [0, 1, 2]
    assert space.index((8, "both", 0.25)) is None


def test_what_is_no_recorded_space_is_refused() -> None:
    with pytest.raises(ValueError, match="none of 3 configurations has a time"):
        _recorded(None, None, None)
    with pytest.raises(ValueError, match=r"times are positive.*got -1\.0 us"):
        _recorded(1.0, -1.0, 2.0)
    with pytest.raises(ValueError, match="a time for each of 3 configurations, got 2"):
        _recorded(1.0, 2.0)
    with pytest.raises(ValueError, match=r"a value of each of tile, staging, share; got \(8,\)"):
        recorded_space("short", NAMES, [(8,)], [1.0])
    with pytest.raises(ValueError, match="each with a name of its own, got x, x"):
        recorded_space("doubled", ("x", "x"), [(1, 2)], [1.0])
    with pytest.raises(ValueError, match="each with a name of its own, got none"):
        recorded_space("bare", (), [()], [1.0])
    many = range(2**15 + 1)
    with pytest.raises(ValueError, match="expected at most 32768 values of a parameter, x has more"):
        recorded_space("many", ("x",), [(value,) for value in many], [1.0 for _ in many])
    with pytest.raises(ValueError, match="recorded twice"):
        recorded_space("twice", ("x",), [(1,), (1,)], [1.0, 2.0])
    with pytest.raises(ValueError, match=r"expected points \[2 times, 1 axes\], got \[1, 1\]"):
        RecordedSpace("odd", (Axis("x", (1,)),), np.zeros((1, 1), dtype=np.int16), np.ones(2))
