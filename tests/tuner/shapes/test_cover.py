"""Greedy cover of a set of shapes."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest

from tuner.shapes.cover import Cover, Times, greedy_cover


def _fewest(times: Times, within: float) -> int:
    """The size of the least cover, by trying all."""
    allowed = [{k for k, t in row.items() if t <= min(row.values()) * (1 + within)} for row in times]
    kernels = sorted({kernel for row in allowed for kernel in row})
    fits = (
        count
        for count in range(len(kernels) + 1)
        for chosen in combinations(kernels, count)
        if all(not kernels or kernels & set(chosen) for kernels in allowed)
    )
    return next(fits)


def _check(cover: Cover, times: Times, within: float) -> None:
    assert set(cover.serves) - {None} <= set(cover.kernels)
    for row, kernel in zip(times, cover.serves, strict=True):
        assert (kernel is None) == (not row)
        if kernel is not None:
            assert row[kernel] <= min(row.values()) * (1 + within)
            assert row[kernel] == min(row[other] for other in cover.kernels if other in row)


def test_one_kernel_that_is_good_everywhere_is_enough() -> None:
    times = [{0: 10.0, 2: 10.4}, {1: 20.0, 2: 20.9}, {2: 5.0}]
    assert greedy_cover(times, [1, 1, 1], 0.05) == Cover((2,), (2, 2, 2))
    tight = greedy_cover(times, [1, 1, 1], 0.01)
    assert tight == Cover((1, 0, 2), (0, 1, 2))
    assert tight.is_one_each
    assert not greedy_cover(times, [1, 1, 1], 0.05).is_one_each


def test_what_one_kernel_took_and_others_serve_is_dropped() -> None:
    # Kernel 0 is taken first and then not needed: 1 and 2 serve all.
    times = [{0: 10.0, 1: 10.0}, {0: 10.0, 2: 10.0}, {0: 10.0, 1: 10.0}, {0: 10.0, 2: 10.0}, {1: 10.0}, {2: 10.0}]
    cover = greedy_cover(times, [1] * 6, 0.05)
    assert cover.kernels == (1, 2)
    _check(cover, times, 0.05)


def test_shapes_without_a_time_stay_unserved_and_the_heavier_ones_come_first() -> None:
    times = [{0: 10.0}, {}, {1: 10.0}]
    assert greedy_cover(times, [1.0, 5.0, 3.0], 0.05) == Cover((1, 0), (0, None, 1))
    assert greedy_cover([], [], 0.05) == Cover((), ())


def test_times_within_the_resolution_leave_the_choice_to_the_numbers() -> None:
    times = [{0: 10.3, 1: 10.0}, {0: 9.0, 1: 12.0}]
    assert greedy_cover(times[:1], [1.0], 0.05) == Cover((1,), (1,))
    assert greedy_cover(times[:1], [1.0], 0.05, 1.07) == Cover((0,), (0,))
    assert greedy_cover(times[:1], [1.0], 0.02, 1.07) == Cover((1,), (1,))  # the bound is of the times themselves
    assert greedy_cover(times, [1.0, 1.0], 0.5, 1.07) == Cover((0,), (0, 0))


@pytest.mark.parametrize("within", [0.0, 0.05, 0.3])
def test_greedy_is_a_cover_and_close_to_the_least(within: float) -> None:
    rng = np.random.default_rng(7)
    sizes: list[tuple[int, int]] = []
    for _ in range(120):
        shapes, kernels = int(rng.integers(1, 9)), int(rng.integers(1, 9))
        times: Sequence[dict[int, float]] = [
            {k: float(rng.uniform(1, 1.6)) for k in range(kernels) if rng.random() < 0.8} for _ in range(shapes)
        ]
        weights = [float(w) for w in rng.uniform(0.1, 10, shapes)]
        cover = greedy_cover(times, weights, within)
        _check(cover, times, within)
        sizes.append((len(cover.kernels), _fewest(times, within)))
    assert all(greedy >= least for greedy, least in sizes)
    assert sum(greedy == least for greedy, least in sizes) >= 108  # nine in ten
    assert max(greedy - least for greedy, least in sizes) <= 1
