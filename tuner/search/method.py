"""Names of searches, and prior knowledge of a space. Importing it does not import Optuna."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

DONOR = "donor"
"""Proposer of configurations that are good for other problems or devices."""
DESCENT = "descent"


class Method(StrEnum):
    """Searches of this program. Other names are samplers: of `optuna.samplers`, or `package.module:Class`."""

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
        """True if it uses prior times: those of donors and of its own trials."""
        return self not in (Method.RANDOM, Method.EXHAUSTIVE)


@dataclass(frozen=True, slots=True)
class Priors:
    """Prior knowledge of a space before its search.

    `donors` are rows near configurations that are good elsewhere, best first. `predicted_us` are times,
    [rows], and `hopeless` are rows that these exclude. `cost` is a second objective of a row.
    """

    donors: Sequence[int] = ()
    predicted_us: NDArray[np.float64] | None = None
    hopeless: NDArray[np.bool_] | None = None
    cost: Callable[[int], float] | None = None


def check_search(name: str) -> None:
    """Check that a search of that name can be built.

    Raises:
        UnknownSearch: it is neither a name of this program nor a sampler that can be constructed from a seed.
    """
    if name not in set(Method):
        from tuner.search.samplers.named import sampler_class  # imports Optuna, which takes a second

        sampler_class(name)(0)


def learns(name: str) -> bool:
    """Return whether a search of that name uses prior times: those of donors and of its own trials."""
    return name not in (Method.RANDOM, Method.EXHAUSTIVE)
