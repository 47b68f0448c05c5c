"""Allocation of trials to shapes."""

import math

import pytest

from tuner.shapes.allocation import WINDOW, Grant, Progress, expected_gain, next_grant


def _progress(weight: float, *windows: float, wall_s: float = 1.0) -> Progress:
    """A default of 100 us, then windows at whose end the best is so much."""
    times = [100.0]
    for best in windows:
        times += [best, *[best * 1.5] * (WINDOW - 1)]
    return Progress(weight, tuple(times), wall_s * len(times))


def test_each_shape_gets_its_default_first() -> None:
    shapes = [Progress(1.0), Progress(9.0), Progress(1.0)]
    assert next_grant(shapes, 3) == Grant(0, 1, alike=3)
    assert next_grant(shapes, 3000) == Grant(0, 1, alike=3)
    assert next_grant([_progress(1.0, 90.0), Progress(9.0), Progress(1.0)], 30) == Grant(1, 1, alike=2)
    assert next_grant([_progress(1.0), Progress(9.0, closed=True), Progress(1.0)], 30) == Grant(2, 1, alike=1)


def test_then_each_gets_a_first_window_and_half_of_the_trials_wait() -> None:
    shapes = [_progress(1.0, 90.0), _progress(9.0), Progress(1.0, (None,), 2.0)]
    assert next_grant(shapes, 30) == Grant(1, 7, alike=2)
    assert next_grant(shapes, 3000) == Grant(1, WINDOW, alike=2)
    assert next_grant(shapes, 1) == Grant(1, 1, alike=2)


def test_a_shape_without_a_time_comes_before_those_that_gain() -> None:
    assert next_grant([_progress(5.0, 50.0), Progress(1.0, (None, None), 2.0)], 100) == Grant(1, WINDOW - 1)


@pytest.mark.parametrize(
    "better",
    [
        _progress(3.0, 80.0, 70.0),  # occurs more often
        _progress(1.0, 95.0, 70.0),  # gained more of late
        _progress(1.0, 80.0, 70.0, wall_s=0.1),  # costs less
    ],
)
def test_trials_go_where_they_shorten_the_total_most(better: Progress) -> None:
    plain = _progress(1.0, 80.0, 70.0)
    for shapes in ([plain, better], [better, plain]):
        grant = next_grant(shapes, 100)
        assert grant is not None
        assert (shapes[grant.index], grant.trials) == (better, WINDOW)


def test_a_shape_whose_gain_has_dried_up_gets_no_more() -> None:
    dry = _progress(100.0, 50.0, 50.0, 49.9, 49.9)
    gaining = _progress(1.0, 90.0)
    assert dry.is_dry
    assert not _progress(1.0, 50.0, 50.0, 49.0, 49.0).is_dry
    grant = next_grant([dry, gaining], 100)
    assert grant is not None
    assert grant.index == 1
    assert next_grant([dry, dry], 100) is None
    assert next_grant([gaining], 0) is None
    assert next_grant([Progress(1.0, closed=True)], 9) is None


def test_what_others_gained_in_a_window_is_expected_of_the_next_to_come_to_it() -> None:
    known = _progress(1.0, 80.0, 40.0)
    new = _progress(1.0, 80.0)
    alone = expected_gain([new], 0)
    assert expected_gain([new, known], 0) > alone > 0
    assert known.gains == pytest.approx((math.log(100 / 80), math.log(80 / 40)))
    assert known.best_us == 40.0


def test_portions_end_with_windows_and_grow() -> None:
    ragged = Progress(1.0, (100.0, 90.0, 80.0), 3.0)
    assert next_grant([ragged], 100) == Grant(0, WINDOW - 2, expected_gain([ragged], 0))
    assert next_grant([ragged], 4) == Grant(0, 4, expected_gain([ragged], 0))
    long = _progress(1.0, *(100.0 * 0.9**i for i in range(1, 9)))
    grant = next_grant([long], 100)
    assert grant is not None
    assert grant.trials == 3 * WINDOW


def test_the_whole_budget_goes_where_the_gain_is() -> None:
    """Two shapes: one has nothing to gain, the other becomes faster for long."""
    shapes = [Progress(1.0), Progress(1.0)]
    given, left = [0, 0], 200
    while (grant := next_grant(shapes, left)) is not None:
        times = list(shapes[grant.index].times_us)
        for number in range(len(times), len(times) + grant.trials):
            times.append(100.0 if grant.index == 0 else 100.0 * 0.98 ** (number // 2))
        shapes[grant.index] = Progress(1.0, tuple(times), float(len(times)))
        given[grant.index] += grant.trials
        left -= grant.trials
    assert given[0] == 1 + 3 * WINDOW
    assert given[1] == 200 - given[0]
