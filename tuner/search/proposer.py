"""What every proposer does, and what every strategy of one does."""

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np

from tuner.search.tried import Tried

C_co = TypeVar("C_co", covariant=True)
C = TypeVar("C")


@dataclass(frozen=True, slots=True)
class Proposal(Generic[C_co]):
    """A configuration to try, and the name of the strategy that proposes it."""

    config: C_co
    by: str


class Proposer(Protocol[C]):
    """Proposes configurations of a space, none twice. In memory and used by one session: rebuilt by telling again."""

    def propose(self) -> Proposal[C] | None:
        """The next configuration to try; None when all were."""
        ...

    def tell(self, config: C, time_us: float | None, by: str | None = None) -> None:
        """What became of a configuration, proposed here or not; None when it gave no time.

        `by` is who proposed it, where an earlier run did.
        """
        ...

    def skip(self, config: C) -> None:
        """Never propose a configuration: someone else is trying it."""
        ...


class Strategy(Protocol):
    """One way to choose the next row. Used by one proposer, which tells it of every row, whoever chose that."""

    def choose(self, tried: Tried, entropy: np.random.SeedSequence) -> int:
        """A row that is open; at least one is. All that is random follows from `entropy`."""
        ...

    def begin(self, row: int, mine: bool) -> None:
        """That a row is being tried; `mine` says that this strategy chose it."""
        ...

    def end(self, row: int, log_us: float) -> None:
        """The logarithm of a row's time; infinite when it gave none. It has begun before."""
        ...
