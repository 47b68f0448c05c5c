"""A proposal of a search."""

from dataclasses import dataclass
from typing import Generic, TypeVar

C_co = TypeVar("C_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Proposal(Generic[C_co]):
    """A configuration to try, and the name of the sampler that proposed it."""

    config: C_co
    by: str
