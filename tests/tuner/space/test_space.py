"""A space: rows and points, each once."""

import numpy as np
import pytest

from tuner.search.repair import nearest_unseen, rows_near
from tuner.space.space import (
    Axis,
    Space,
    Value,
)


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


def test_axes_whose_points_cannot_be_numbered_are_refused() -> None:
    axes = tuple(Axis(f"x{i}", tuple(range(16))) for i in range(16))
    with pytest.raises(ValueError, match="64 bits"):
        Space(axes, np.zeros((1, 16), dtype=np.int16), lambda c: c, lambda v: v)


def test_repair_takes_the_nearest_that_was_not_seen() -> None:
    space, rng = _grid(), np.random.default_rng(0)
    assert nearest_unseen(space, (2, 0), np.array([False, False, False]), rng) == 1
    assert nearest_unseen(space, (2, 0), np.array([False, True, True]), rng) == 0
    assert nearest_unseen(space, (0, 1), np.array([True, False, False]), rng) == 2
    assert nearest_unseen(space, (0, 0), np.array([True, True, True]), rng) is None
    drawn = {nearest_unseen(space, (0, 1), np.array([False, False, False]), rng) for _ in range(30)}
    assert drawn == {0, 2}  # both are one step away


def test_what_is_good_elsewhere_has_the_nearest_row_here() -> None:
    axes = (Axis("x", (1, 2, 4)), Axis("how", ("a", "b")))
    space: Space[tuple[Value, ...]] = Space(
        axes, np.array([[0, 0], [2, 0], [1, 1]], dtype=np.int16), lambda c: c, lambda v: v
    )
    assert space.near((1024, "b")) == (2, 1)
    assert space.near((1, "c")) is None
    # (1024, b) is (4, b), whose nearest is either of the others; (1, a) is itself; (2, c) is nothing here.
    assert rows_near(space, [(1, "a"), (1024, "b"), (2, "c"), (1, "a"), (1, "a")])[0] == 0
    assert sorted(rows_near(space, [(1, "a"), (1024, "b"), (2, "c"), (1, "a"), (1, "a")])) == [0, 1, 2]
