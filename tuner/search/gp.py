"""The most promising row by a Gaussian process: expected improvement, or the lower confidence bound of its time."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tuner.search.gaussian import Expected, Floats, Kernel, Posterior, Rows, fitted_rows
from tuner.search.method import STARTUP
from tuner.search.tried import Tried
from tuner.space.space import Space

FIRST_FIT = 6
"""Observations of the first fit."""
_GROWTH = 1.15  # growth of the observations after which the weights are fitted again
_CANDIDATES = 6_000  # rows that are predicted; of a larger space the most promising, and some at random
_AT_RANDOM = 0.25  # share of the candidates
_CLIP = 0.75  # quantile of the times that slower ones count as
_BOUND_SHARE, _DEVIATIONS = 0.5, 3.0  # share of the proposals by the confidence bound, and its width
_FAVOUR = 0.1  # share of the greatest expected improvement from which a favoured row is proposed
_LOST = 0.25  # noise above which the process is not used: recorded spaces of kernels have 0.01 to 0.02


class GaussianProcess:
    """Gaussian process over a space. Slow times are clipped to a quantile, so that it distinguishes fast rows.

    Of `favoured` rows, the one of greatest expected improvement is proposed if it is near the greatest of all, until
    one of them brings no gain: what was tried decides how much these rows are worth.
    """

    def __init__(self, space: Space[Any], favoured: Sequence[int] = ()) -> None:
        self._space = space
        self._favoured = np.array(favoured, dtype=np.int64)
        self._posterior: Posterior | None = None
        self._fit = 0
        self._told: tuple[tuple[int, int], Floats] | None = None

    def most_promising(self, tried: Tried) -> int | None:
        """Return the open row of greatest expected improvement, or now and then of the least bound of its time; None
        while too little is known.

        Improvement alone stays for a hundred trials on a plateau whose times differ by little.
        """
        expected = self.expected(tried)
        if expected is None or tried.closed[expected.rows].all():
            return None
        if np.random.default_rng(tried.entropy).random() < _BOUND_SHARE:
            score, by_bound = _DEVIATIONS * expected.deviation - expected.mean, True
        else:
            score, by_bound = _improvement(expected, float(np.nanmin(self._values(tried)))), False
        score[tried.closed[expected.rows]] = -np.inf
        best = int(np.argmax(score))
        if not by_bound and len(self._favoured) and self.favours(tried):
            among = np.flatnonzero(np.isin(expected.rows, self._favoured))
            if len(among) and score[near := among[np.argmax(score[among])]] >= _FAVOUR * score[best]:
                best = int(near)
        return int(expected.rows[best])

    def expected(self, tried: Tried) -> Expected | None:
        """Return mean and deviation of the candidates; None while too little is known."""
        posterior = self._current(tried)
        return posterior.expected(self._values(tried)) if posterior is not None else None

    def doubt(self, tried: Tried) -> float:
        """Return the probability with which another sampler should propose instead: the share of failures, which the
        process counts as slow times only, or 1 if the fitted noise is so large that tried rows do not predict others.
        """
        posterior = self._current(tried)
        if posterior is not None and posterior.noise >= _LOST:
            return 1.0
        return sum(map(math.isinf, tried.log_us.values())) / max(1, len(tried.log_us))

    def favours(self, tried: Tried) -> bool:
        """Return whether favoured rows are still preferred: the last one with an outcome, if any, brought a gain."""
        told = [
            place for place in np.flatnonzero(np.isin(tried.rows, self._favoured)) if tried.rows[place] in tried.log_us
        ]
        if not told:
            return True
        compared = tried.rows[: max(told[-1] + 1, STARTUP)]  # of the first trials, also those after it
        log_us = np.array([tried.log_us.get(row, math.inf) for row in compared])
        return bool(np.isfinite(log_us[told[-1]]) and np.argmin(log_us) == told[-1])

    def _current(self, tried: Tried) -> Posterior | None:
        values = self._values(tried)
        if len(tried.log_us) < FIRST_FIT or not np.nanmax(values) > np.nanmin(values):
            return None
        fit = _last_fit(len(tried))
        if self._posterior is None or fit != self._fit:
            self._fit, self._posterior = fit, self._fitted(tried, fit)
        for row in tried.rows[len(self._posterior) :]:
            self._posterior.observe(row)
        return self._posterior

    def _values(self, tried: Tried) -> Floats:
        """Return `_values` of all trials so far, computed once for all questions of a proposal."""
        state = len(tried), len(tried.log_us)
        if self._told is None or self._told[0] != state:
            self._told = state, _values(tried, len(tried))
        return self._told[1]

    def _fitted(self, tried: Tried, count: int) -> Posterior:
        """Return the process with weights fitted to the first observations, at the most promising rows."""
        kernel, rows, values = Kernel(self._space), np.array(tried.rows[:count]), _values(tried, count)
        told = np.flatnonzero(~np.isnan(values))
        if len(told) >= FIRST_FIT:
            some = told[fitted_rows(values[told])]
            kernel.fit(rows[some], values[some])
        return Posterior(kernel, self._candidates(kernel, rows[told], values[told], tried), rows)

    def _candidates(self, kernel: Kernel, rows: Rows, values: Floats, tried: Tried) -> Rows:
        """Return all open rows, or those of the least mean and some at random."""
        open_rows = tried.open()
        if len(open_rows) <= _CANDIDATES:
            return open_rows
        covariance = kernel.between(rows, rows).astype(np.float64) + math.exp(kernel.noise) * np.eye(len(rows))
        pulled = np.linalg.solve(covariance, values).astype(np.float32)
        means = np.concatenate(
            [pulled @ kernel.between(rows, part) for part in np.array_split(open_rows, len(open_rows) // 4096 + 1)]
        )
        drawn = np.random.default_rng(len(tried)).permutation(len(open_rows))[: int(_AT_RANDOM * _CANDIDATES)]
        best = np.argpartition(means, _CANDIDATES - len(drawn))[: _CANDIDATES - len(drawn)]
        favoured = np.searchsorted(open_rows, self._favoured[~tried.closed[self._favoured]])
        return open_rows[np.union1d(np.union1d(best, drawn), favoured)]


def _last_fit(count: int) -> int:
    """Return how many observations the process was last fitted to; it is refitted as their number grows."""
    fit, following = 0, FIRST_FIT
    while following <= count:
        fit, following = following, math.ceil(following * _GROWTH) + 2
    return fit


def _values(tried: Tried, count: int) -> Floats:
    """Return the centred logarithms of the times of the first rows, clipped at a quantile; NaN while pending."""
    log_us = np.array([tried.log_us.get(row, math.nan) for row in tried.rows[:count]])
    timed = log_us[np.isfinite(log_us)]
    if not len(timed):
        return np.where(np.isnan(log_us), math.nan, 0.0)
    worst = float(np.quantile(timed, _CLIP))
    values = np.where(np.isnan(log_us), math.nan, np.minimum(log_us, worst))
    deviation = float(np.nanstd(values))
    return (values - float(np.nanmean(values))) / (deviation or 1.0)


def _improvement(expected: Expected, best: float) -> Floats:
    """Return the expected improvement below the best value."""
    z = (best - expected.mean) / expected.deviation
    return expected.deviation * (z * _cumulative(z) + np.exp(-z * z / 2) / math.sqrt(2 * math.pi))


def _cumulative(z: Floats) -> Floats:
    """Return the cumulative normal distribution, within 2e-4. Source: Page (1977), Approximations to the
    cumulative normal.
    """
    return 0.5 * (1 + np.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3)))
