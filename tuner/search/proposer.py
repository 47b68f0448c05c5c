"""What every proposer does."""

from typing import Protocol, TypeVar

C = TypeVar("C")


class Proposer(Protocol[C]):
    """Proposes configurations of a space, none twice. In memory and used by one session: rebuilt by telling again."""

    def propose(self) -> C | None:
        """The next configuration to try; None when all were."""
        ...

    def tell(self, config: C, time_us: float | None) -> None:
        """What became of a configuration, proposed here or not; None when it gave no time."""
        ...

    def skip(self, config: C) -> None:
        """Never propose a configuration: someone else is trying it."""
        ...
