"""The names of searches, and what a search may know of its space. Importing it does not import Optuna."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

DONOR = "donor"
"""Proposer of configurations that are good elsewhere."""
DESCENT = "descent"


class Method(StrEnum):
    """The searches of this program. Other names are of samplers: of `optuna.samplers`, or `package.module:Class`."""

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
        """Whether it uses what is known: times of donors and its own trials."""
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


def check_search(name: str) -> None:
    """Return if a search of that name can be made.

    Raises:
        UnknownSearch: it is none of this program's names, nor of a sampler that can be made from a seed.
    """
    if name not in set(Method):
        from tuner.search.samplers.named import sampler_class  # imports Optuna, which takes a second

        sampler_class(name)(0)


def learns(name: str) -> bool:
    """Return whether a search of that name uses what is known: times of donors and its own trials."""
    return name not in (Method.RANDOM, Method.EXHAUSTIVE)
