"""The Gaussian process: gradients are those of its posterior, and a number that is fast for itself is found."""

import math

import numpy as np
from numpy.typing import NDArray

from tuner.search.gaussian import Kernel, Posterior
from tuner.search.gp import GaussianProcess
from tuner.search.method import STARTUP
from tuner.search.tried import Tried
from tuner.space.space import Axis, Space

Point = tuple[int, ...]


def _space(*sizes: int) -> Space[Point]:
    grid = np.meshgrid(*(np.arange(size) for size in sizes), indexing="ij")
    points = np.stack(grid, axis=-1).reshape(-1, len(sizes)).astype(np.int16)
    axes = tuple(Axis(f"x{i}", tuple(range(size))) for i, size in enumerate(sizes))
    return Space(axes, points, lambda c: c, lambda v: tuple(int(i) for i in v))


def _log_posterior(kernel: Kernel, rows: NDArray[np.int64], values: NDArray[np.float64]) -> float:
    """Return the logarithm that `fit` maximizes, up to a constant, by determinant and solution."""
    fresh = Kernel(_space(7, 2, 5))
    covariance = kernel.between(rows, rows).astype(np.float64) + math.exp(kernel.noise) * np.eye(len(rows))
    variance = float(values @ np.linalg.solve(covariance, values)) / len(rows)
    likelihood = -0.5 * len(rows) * math.log(variance) - 0.5 * float(np.linalg.slogdet(covariance)[1])
    return (
        likelihood
        - float(((kernel.weights - fresh.weights) ** 2).sum()) / 2 / 1.5**2
        - (kernel.noise - fresh.noise) ** 2 / 2
    )


def test_a_fit_ends_where_the_posterior_is_greater_than_around_it() -> None:
    kernel, rng = Kernel(_space(7, 2, 5)), np.random.default_rng(3)
    rows = rng.permutation(70)[:40]
    points = _space(7, 2, 5).points[rows]
    values = np.sin(points[:, 0]) + 0.5 * points[:, 1] + 0.05 * rng.normal(size=40)
    values = (values - values.mean()) / values.std()
    before = _log_posterior(kernel, rows, values)
    for _ in range(8):
        kernel.fit(rows, values)
    found = _log_posterior(kernel, rows, values)
    assert found > before + 5
    fitted = kernel.weights
    for place in range(len(fitted)):
        for step in (-1.0, 1.0):
            kernel.weights = fitted + step * (np.arange(len(fitted)) == place)
            assert _log_posterior(kernel, rows, values) < found + 0.1


def test_a_row_alone_correlates_as_among_others() -> None:
    kernel, rows = Kernel(_space(7, 2, 5)), np.arange(70)
    kernel.weights += np.linspace(-1, 1, len(kernel.weights))
    whole = kernel.between(rows, rows)
    assert np.allclose(np.diag(whole), 1)
    for row in (0, 33, 69):
        assert np.allclose(kernel.between(np.array([row]), rows)[0], whole[row], atol=1e-6)


def test_a_value_that_is_fast_for_itself_is_expected_wherever_it_occurs() -> None:
    space = _space(9, 12)  # the value 4 of the first axis halves the time, its neighbours do not
    values = np.where(space.points[:, 0] == 4, -1.0, 0.3) + 0.02 * space.points[:, 1]
    tried = np.random.default_rng(2).permutation(len(space))[:45]
    kernel = Kernel(space)
    kernel.fit(tried, values[tried] - values[tried].mean())
    mean = Posterior(kernel, np.arange(len(space)), tried).expected(values[tried] - values[tried].mean()).mean
    untried = np.setdiff1d(np.arange(len(space)), tried)
    fast = space.points[untried, 0] == 4
    beside = np.isin(space.points[untried, 0], (3, 5))
    assert mean[untried[fast]].max() < mean[untried[beside]].min() - 0.3


def test_a_favoured_row_is_proposed_only_where_it_is_expected_to_be_good() -> None:
    space = _space(16, 12)

    def time_us(row: int) -> float:
        return 10 + math.dist(space.config(row), (11, 4)) ** 2

    good, poor = space.index((10, 4)), space.index((0, 11))
    assert good is not None
    assert poor is not None
    first = [row for row in np.random.default_rng(4).permutation(len(space)).tolist() if row not in (good, poor)][:12]

    def proposed(favoured: list[int], count: int) -> list[int]:
        tried, process = Tried(space, 1), GaussianProcess(space, favoured)
        for row in first:
            tried.begin(row)
            tried.end(row, math.log(time_us(row)))
        for _ in range(count):
            row = process.most_promising(tried)
            assert row is not None
            tried.begin(row)
            tried.end(row, math.log(time_us(row)))
        return tried.rows[len(first) :]

    assert good in proposed([poor, good], 2)
    assert poor not in proposed([poor, good], 12)


def test_no_row_is_favoured_after_one_without_a_gain() -> None:
    space = _space(16, 12)
    donors = [row for row in map(space.index, ((10, 4), (10, 5), (12, 4), (12, 5))) if row is not None]
    others = [row for row in np.random.default_rng(4).permutation(len(space)).tolist() if row not in donors][:12]

    def favoured_after(*donor_us: float) -> bool:
        """Return whether an expected improvement favours a donor after these times of some."""
        return favoured(donors[:1] + others + donors[1 : len(donor_us)], donor_us[0], *[20.0] * 12, *donor_us[1:])

    def favoured(rows: list[int], *times_us: float) -> bool:
        tried, process = Tried(space, 1), GaussianProcess(space, donors)
        for row, time_us in zip(rows, times_us, strict=True):
            tried.begin(row)
            tried.end(row, math.log(time_us))
        return process.favours(tried)

    assert favoured_after(10.0)
    assert not favoured_after(30.0)
    assert not favoured_after(10.0, 30.0)
    assert favoured_after(10.0, 9.0)
    assert favoured_after(30.0, 10.0)
    assert not favoured_after(30.0, 10.0, 12.0)
    startup = donors[:1] + others[: STARTUP - 1]
    assert not favoured(startup, 10.0, *[20.0] * (STARTUP - 2), 5.0)
    assert favoured([*startup, others[-1]], 10.0, *[20.0] * (STARTUP - 1), 5.0)
    assert not favoured(donors[:2], math.inf, math.inf), "where all fail, the first is no gain"
