"""A queue of candidates that compile while another one is verified or measured."""

from collections import deque
from collections.abc import Callable

from codegen import KernelConfig
from tuner.measure.isa_check import (
    Examining,
    Later,
    Quiet,
)
from tuner.search.proposal import Proposal

Candidate = tuple[Proposal[KernelConfig], Examining]


class CompileQueue:
    """Proposals that compile, in the order they were proposed. Their trials have not begun.

    With `quiet`, where the device that measures also compiles, `depth` candidates compile together, and none is
    measured before all of them have finished.
    """

    def __init__(
        self,
        propose: Callable[[], Proposal[KernelConfig] | None],
        compile: Callable[[KernelConfig], Examining],
        depth: int,
        quiet: bool = False,
    ) -> None:
        self._propose, self._compile, self._depth, self._quiet = propose, compile, depth, quiet
        self._waiting: deque[Candidate] = deque()

    def next(self, most: int) -> Candidate | None:
        """Return the next candidate, of at most `most`; None when the search has no further proposal."""
        if not self._waiting:
            self._fill(most if self._quiet else 1)
        if not self._waiting:
            return None
        proposal, wanted = self._waiting.popleft()
        others = tuple(other for _, other in self._waiting if not isinstance(other, Later))
        return proposal, Quiet(wanted, others) if self._quiet else wanted

    @property
    def waiting(self) -> Proposal[KernelConfig] | None:
        """The proposal that is next, if one waits."""
        return self._waiting[0][0] if self._waiting else None

    def fill(self, most: int) -> None:
        """Propose until `depth` candidates wait, at most `most`, before a candidate is measured."""
        if not self._quiet:
            self._fill(most)

    def _fill(self, most: int) -> None:
        while len(self._waiting) < min(self._depth, most) and (proposal := self._propose()) is not None:
            self._waiting.append((proposal, self._compile(proposal.config)))

    def cancel(self) -> None:
        """Cancel the candidates that wait."""
        while self._waiting:
            self._waiting.popleft()[1].cancel()
