"""What every proposer does."""

from typing import Protocol

from codegen import KernelConfig


class Proposer(Protocol):
    """Proposes configurations of a space, none twice. In memory and used by one session: rebuilt by telling again."""

    def propose(self) -> KernelConfig | None:
        """The next configuration to try; None when all were."""
        ...

    def tell(self, config: KernelConfig, time_us: float | None) -> None:
        """What became of a configuration, proposed here or not; None when it gave no time."""
        ...

    def skip(self, config: KernelConfig) -> None:
        """Never propose a configuration: someone else is trying it."""
        ...
