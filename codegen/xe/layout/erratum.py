"""What an entry of the errata is."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Erratum:
    """A place where a document contradicts itself, and what is built here instead."""

    document: str
    where: str
    says: str
    should_say: str
    reason: str
