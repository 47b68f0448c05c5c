"""Prior knowledge of a space."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Priors:
    """Prior knowledge of a space before its search.

    `alternatives` are rows of other defaults, `donors` those near configurations that are good elsewhere, best first.
    `predicted_us` are times, [rows], and `hopeless` are rows that these exclude. `cost` is a second objective of a row.
    """

    donors: Sequence[int] = ()
    predicted_us: NDArray[np.float64] | None = None
    hopeless: NDArray[np.bool_] | None = None
    cost: Callable[[int], float] | None = None
    alternatives: Sequence[int] = ()
