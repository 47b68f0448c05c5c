"""The ways to search, by name, and the proposer of each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tuner.errors import NoPredictions
from tuner.search.descent import Descent
from tuner.search.gp import GaussianProcess
from tuner.search.plain import Exhaustive, Random
from tuner.search.portfolio import STARTUP, Portfolio
from tuner.search.proposer import Strategy
from tuner.search.ranked import Ranked
from tuner.space.space import Space

C = TypeVar("C")

DONOR = "donor"
"""Who proposes what is good elsewhere."""
DESCENT = "descent"
_MODEL_KEEPS, _MODEL_KEEPS_PART = 256, 0.05  # rows that the model ranks first: at least, and of all


class Method(StrEnum):
    """How a space is searched."""

    PORTFOLIO = "portfolio"
    TPE = "tpe"
    CMAES = "cmaes"
    NSGA2 = "nsga2"
    GP = "gp"
    MODEL = "model"
    RANDOM = "random"
    EXHAUSTIVE = "exhaustive"

    @property
    def learns(self) -> bool:
        """Whether it makes use of what is known: times of donors and its own trials."""
        return self not in (Method.RANDOM, Method.EXHAUSTIVE)


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a space before its search.

    `donors` are rows near what is good elsewhere, best first. `predicted_us` are times, [rows], and `hopeless` are rows
    that these say not to try. `cost` is a second objective of a row.
    """

    donors: Sequence[int] = ()
    predicted_us: NDArray[np.float64] | None = None
    hopeless: NDArray[np.bool_] | None = None
    cost: Callable[[int], float] | None = None


def proposer_for(
    method: Method, space: Space[C], seed: int, known: Known = Known(), trials: int | None = None
) -> Portfolio[C]:
    """Who searches a space, for so many trials if that is known.

    Raises:
        NoPredictions: the method needs predicted times.
    """
    donors = [(row, DONOR) for row in known.donors]
    if not method.learns:
        return Portfolio(space, seed, {method.value: Random() if method is Method.RANDOM else Exhaustive()}, startup=0)
    dropped, predicted_us = known.hopeless, known.predicted_us
    if method is Method.PORTFOLIO and trials is not None and trials >= len(space):
        dropped = None  # all are tried, in an order in which seconds may end it: the best first
    if method is Method.MODEL:
        if predicted_us is None:
            raise NoPredictions(method.value)
        dropped = _all_but_best(predicted_us)
    first = [*donors, *_promising(space, predicted_us)]
    strategies, last = _strategies(method, space, seed, known)
    doubts = {name: s.is_lost for name, s in strategies.items() if isinstance(s, GaussianProcess)}
    return Portfolio(space, seed, strategies, first, dropped, trials, last, doubts=doubts)


def ranking(space: Space[C], predicted_us: NDArray[np.float64], seed: int) -> Portfolio[C]:
    """Who proposes where times are predicted and nothing is to be learned: the best and the most different in turn."""
    return Portfolio(space, seed, {Method.MODEL.value: Ranked(space, predicted_us)}, startup=0)


def _strategies(method: Method, space: Space[C], seed: int, known: Known) -> tuple[dict[str, Strategy], str | None]:
    from tuner.search.optuna import Tpe, cma_es, nsga_2  # heavy, and a service names methods without searching

    process = GaussianProcess(space)
    match method:
        case Method.TPE:
            return {method.value: Tpe(space)}, None
        case Method.CMAES:
            return {method.value: cma_es(space, seed)}, None
        case Method.NSGA2:
            return {method.value: nsga_2(space, seed, known.cost or (lambda _: 0.0))}, None
        case Method.PORTFOLIO:
            return {Method.GP.value: process, Method.TPE.value: Tpe(space), DESCENT: Descent(process)}, DESCENT
        case _:
            return {method.value: process}, None


def _promising(space: Space[C], predicted_us: NDArray[np.float64] | None) -> list[tuple[int, str]]:
    """Rows to begin with by what is predicted: the best and the most different of these."""
    if predicted_us is None:
        return []
    return [(row, Method.MODEL.value) for row in first_rows(space, predicted_us, STARTUP)]


def first_rows(space: Space[C], predicted_us: NDArray[np.float64], count: int) -> list[int]:
    """The rows that a ranking proposes first."""
    ranks = ranking(space, predicted_us, 0)
    proposed = (ranks.propose() for _ in range(min(count, len(space))))
    return [row for p in proposed if p is not None and (row := space.index(p.config)) is not None]


def _all_but_best(predicted_us: NDArray[np.float64]) -> NDArray[np.bool_]:
    keep = max(_MODEL_KEEPS, int(_MODEL_KEEPS_PART * len(predicted_us)))
    dropped = np.ones(len(predicted_us), dtype=np.bool_)
    dropped[np.argsort(predicted_us, kind="stable")[:keep]] = False
    return dropped
