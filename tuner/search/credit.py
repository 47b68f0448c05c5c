"""Bandit over the samplers of a portfolio, by their recent results."""

import math
from collections import deque
from collections.abc import Sequence

from tuner.search.tried import Tried

WINDOW = 40
"""Size of the window of proposals, over all samplers."""
_CURIOSITY = 0.1  # weight of exploration


class Credit:
    """The upper confidence bound of each sampler's reward in a sliding window.

    Source: Fialho et al. (2010), Analyzing bandit-based adaptive operator selection mechanisms.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = list(names)
        self._asked: deque[str] = deque(maxlen=WINDOW)
        self._paid: deque[tuple[str, float]] = deque(maxlen=WINDOW)

    def choice(self, without: str | None = None) -> str:
        """Return the sampler that proposes next; one may be left out where there are others."""
        return max([name for name in self._names if name != without] or self._names, key=self._bound)

    def begin(self, name: str) -> None:
        """Record that a sampler proposed."""
        self._asked.append(name)

    def pay(self, name: str, log_us: float, tried: Tried) -> None:
        """Reward a sampler for what it found: 1 for a new best time, less the farther it is from the best."""
        self._paid.append((name, _pay(log_us, tried)))

    def _bound(self, name: str) -> float:
        asked = sum(1 for other in self._asked if other == name)
        if not asked:
            return math.inf
        paid = [pay for other, pay in self._paid if other == name]
        mean = sum(paid) / len(paid) if paid else 0.0
        return mean + _CURIOSITY * math.sqrt(2 * math.log(len(self._asked)) / asked)


def _pay(log_us: float, tried: Tried) -> float:
    if math.isinf(log_us):
        return 0.0
    best = tried.log_us[tried.best] if tried.best is not None else math.inf
    return 1.0 if log_us < best else math.exp((best - log_us) / 0.1) / 2
