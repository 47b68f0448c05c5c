"""Gaussian process over the rows of a space: the expected value of each, given observations.

Exact, in numpy: the space is finite, so the factor of the covariance is stored for every row that may be
proposed, and a further observation costs one matrix-vector product.

Source: Rasmussen and Williams, Gaussian Processes for Machine Learning (2006), chapters 2, 4.2 and 5.4.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tuner.space.space import Space

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

_OF_ITS_OWN = 0.5
"""Share of the noise that is an effect of the row itself, which an untried row may have, too."""
_STEPS, _RATE = 30, 0.15  # of gradient ascent at each fit, from the prior
_FITTED = 200  # maximum number of observations for fitting the weights: the best and the newest half
_PRIOR_WEIGHT, _PRIOR_CATEGORY, _WEIGHT_SPREAD = 0.0, -2.0, 1.5  # of the logarithms, normal; axes are scaled to 0..1
_PRIOR_NOISE, _NOISE_SPREAD = math.log(0.02), 1.0  # relative to the variance
_WEIGHTS = math.log(1e-3), math.log(10.0)
_NOISES = math.log(1e-3), 0.0


@dataclass(frozen=True, slots=True)
class Expected:
    """Mean and standard deviation of each row that may be proposed, in units of the observations."""

    rows: Rows
    mean: Floats
    deviation: Floats


class Kernel:
    """Matern 5/2 kernel of a weighted distance.

    Each axis is scaled to 0..1, and words are at distance one. An axis of more than two numbers has a second term: any
    two of its values are at distance one. A number that is fast for itself, such as a width that fits an alignment,
    then says nothing of the numbers beside it.
    """

    def __init__(self, space: Space[Any]) -> None:
        terms = [(i, table, prior) for i, axis in enumerate(space.axes) for table, prior in _terms(axis.values)]
        self._tables = [table for _, table, _ in terms]
        self._points = space.points[:, [i for i, _, _ in terms]].astype(np.int64)
        self._ranks, sizes = space.points, [len(axis.values) for axis in space.axes]
        self._terms_of = [[t for t, (of, _, _) in enumerate(terms) if of == axis] for axis in range(len(sizes))]
        starts = np.cumsum([0, *sizes])
        self._columns = space.points + starts[:-1]
        self._width = int(starts[-1])
        self._priors = np.array([prior for *_, prior in terms])
        self.weights = self._priors.copy()
        self.noise = _PRIOR_NOISE

    @property
    def weights(self) -> Floats:
        """Logarithms of the weights of the terms, [terms]."""
        return self._weights

    @weights.setter
    def weights(self, weights: Floats) -> None:
        self._weights, self._of_axes = weights, self._by_axis(weights)

    def between(self, rows: Rows, others: Rows) -> Floats:
        """Return the correlations, [rows, others], in 32 bits to save memory."""
        tables = [table[self._ranks[rows, i]] for i, table in enumerate(self._of_axes)]
        if len(rows) == 1:  # the sum over the axes, without a row of zeros and ones for each of the others
            squared = np.zeros(len(others))
            for i, table in enumerate(tables):
                squared += table[0][self._ranks[others, i]]
            return _correlation(squared[None].astype(np.float32))
        left = np.concatenate(tables, axis=1, dtype=np.float32)
        right = np.zeros((len(others), self._width), dtype=np.float32)
        np.put_along_axis(right, self._columns[others], 1.0, axis=1)
        return _correlation(left @ right.T)

    def fit(self, rows: Rows, values: Floats) -> None:
        """Maximize the likelihood of observations, starting at the present weights and noise. `values` are [rows]."""
        of_rows, above = self._points[rows], np.triu_indices(len(rows), 1)
        left, right = above
        squares = np.stack([t[of_rows[left, i], of_rows[right, i]] for i, t in enumerate(self._tables)])
        theta, first, second = np.array([*self.weights, self.noise]), 0.0, 0.0
        for step in range(1, _STEPS + 1):
            slope = _slope(theta, squares, above, values, self._priors)
            first, second = 0.8 * first + 0.2 * slope, 0.95 * second + 0.05 * slope**2
            theta += _RATE * (first / (1 - 0.8**step)) / (np.sqrt(second / (1 - 0.95**step)) + 1e-9)
            theta = np.append(np.clip(theta[:-1], *_WEIGHTS), np.clip(theta[-1], *_NOISES))
        self.weights, self.noise = theta[:-1], float(theta[-1])

    def _by_axis(self, weights: Floats) -> list[Floats]:
        """Return the weighted sum of the terms of each axis, so that a product over all rows has one factor for it."""
        weighted = [weight * table for weight, table in zip(np.exp(weights), self._tables, strict=True)]
        return [np.sum([weighted[term] for term in terms], axis=0) for terms in self._terms_of]


def _terms(values: Sequence[object]) -> list[tuple[Floats, float]]:
    """Return squared distances of the values of an axis, each with its prior weight: by order, and as categories."""
    ordered = _squares(values)
    if len(values) <= 2 or any(isinstance(value, str) for value in values):
        return [(ordered, _PRIOR_WEIGHT)]
    return [(ordered, _PRIOR_WEIGHT), (1.0 - np.eye(len(values)), _PRIOR_CATEGORY)]


def _squares(values: Sequence[object]) -> Floats:
    """Return the squared distances of the values of an axis, [values, values], scaled to a maximum of 1."""
    ranks = np.arange(len(values)) / max(1, len(values) - 1)
    apart = np.abs(ranks[:, None] - ranks)
    words = np.array([isinstance(value, str) for value in values])
    apart[(words[:, None] | words) & ~np.eye(len(values), dtype=np.bool_)] = 1.0
    return apart**2


def _correlation(squared: NDArray[Any]) -> NDArray[Any]:
    """Return the correlation by squared distance, which is overwritten."""
    root = np.maximum(squared, 0, out=squared)
    root *= 5
    np.sqrt(root, out=root)
    falling = np.exp(-root)
    correlation = root * root
    correlation /= 3
    correlation += root
    correlation += 1
    correlation *= falling
    return correlation


def _matern(squared: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the correlation by squared distance, and its derivative."""
    root = np.sqrt(5 * np.maximum(squared, 0))
    falling = np.exp(-root)
    return (1 + root + root * root / 3) * falling, -5 / 6 * (1 + root) * falling


def _slope(theta: Floats, squares: NDArray[Any], above: tuple[Rows, Rows], values: Floats, priors: Floats) -> Floats:
    """Return the gradient of the log posterior: the likelihood, with its variance profiled out, and the priors.

    `squares` are [weights, pairs], the pairs of the upper triangle, `above`.
    """
    count = len(values)
    weights, noise = np.exp(theta[:-1]), math.exp(theta[-1])
    correlation, derivative = _matern(weights @ squares)
    covariance = np.zeros((count, count))
    covariance[above] = correlation
    covariance += covariance.T
    np.fill_diagonal(covariance, 1 + noise)
    inverse = np.linalg.inv(covariance)
    pulled = inverse @ values
    by_entry = np.outer(pulled, pulled) / max(float(values @ pulled) / count, 1e-12) - inverse
    by_weight = squares @ (by_entry[above] * derivative) * weights
    by_weight -= (theta[:-1] - priors) / _WEIGHT_SPREAD**2
    by_noise = np.trace(by_entry) / 2 * noise - (theta[-1] - _PRIOR_NOISE) / _NOISE_SPREAD**2
    return np.append(by_weight, by_noise)


class Posterior:
    """Posterior of some rows given observations, whose values may still be pending.

    A pending observation reduces the variance around it and leaves the means: a batch spreads out.
    """

    def __init__(self, kernel: Kernel, rows: Rows, observed: Rows) -> None:
        self.rows = rows
        self._kernel, self._noise = kernel, math.exp(kernel.noise)
        self._place = {int(row): place for place, row in enumerate(rows)}
        count = len(observed)
        lower = np.linalg.cholesky(kernel.between(observed, observed).astype(np.float64) + self._noise * np.eye(count))
        self._observed = [int(row) for row in observed]
        self._lower = np.zeros((2 * count + 64, 2 * count + 64))
        self._lower[:count, :count] = lower
        self._factor = np.zeros((len(self._lower), len(rows)), dtype=np.float32)
        inverse = np.linalg.inv(lower).astype(np.float32)
        self._factor[:count] = inverse @ kernel.between(observed, rows)
        self._variance = 1 - np.einsum("ij,ij->j", self._factor[:count], self._factor[:count])

    def __len__(self) -> int:
        return len(self._observed)

    @property
    def noise(self) -> float:
        """Variance of the effects of single rows, relative to the variance that neighbours share."""
        return self._noise

    def observe(self, row: int) -> None:
        """Add a row as observed."""
        count, place = len(self._observed), self._place.get(row)
        if count == len(self._lower):
            self._lower = np.pad(self._lower, ((0, count), (0, count)))
            self._factor = np.pad(self._factor, ((0, count), (0, 0)))
        only = np.array([row])
        if place is not None:
            across = self._factor[:count, place].astype(np.float64)
        else:
            across = _solved(self._lower[:count, :count], self._kernel.between(only, np.array(self._observed))[0])
        pivot = math.sqrt(max(1 + self._noise - float(across @ across), self._noise))
        self._lower[count, :count], self._lower[count, count] = across, pivot
        new = self._kernel.between(only, self.rows)[0] - across.astype(np.float32) @ self._factor[:count]
        self._factor[count] = new / pivot
        self._variance = self._variance - self._factor[count] ** 2
        self._observed.append(row)

    def expected(self, values: Floats) -> Expected:
        """Return mean and deviation of each row, by the values of the observations in order, NaN if pending;
        some must differ.
        """
        count = len(self._observed)
        whitened = _solved(self._lower[:count, :count], values)
        scale = float(np.mean(whitened[~np.isnan(values)] ** 2))
        mean = whitened.astype(np.float32) @ self._factor[:count]
        deviation = np.sqrt(scale * (np.maximum(self._variance, 1e-9) + _OF_ITS_OWN * self._noise))
        return Expected(self.rows, mean.astype(np.float64), deviation.astype(np.float64))


def _solved(lower: Floats, values: NDArray[Any]) -> Floats:
    """Return the solution of a lower triangular system; entries without a value (NaN) become 0."""
    solved = np.zeros(len(values))
    for place, value in enumerate(values.tolist()):
        if not math.isnan(value):
            solved[place] = (value - float(lower[place, :place] @ solved[:place])) / lower[place, place]
    return solved


def fitted_rows(values: Floats) -> Rows:
    """Return the indices of the observations for fitting weights: all, or the best ones and the newest ones."""
    if len(values) <= _FITTED:
        return np.arange(len(values))
    best = np.argsort(values, kind="stable")[: _FITTED // 2]
    newest = np.setdiff1d(np.arange(len(values)), best)[-(_FITTED - len(best)) :]
    return np.sort(np.concatenate([best, newest]))
