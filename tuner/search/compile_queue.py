"""Candidates that compile while another one is proven or measured."""

from collections import deque
from collections.abc import Callable

from codegen import KernelConfig
from tuner.measure.isa_check import (
    Examining,
    Later,
    Quiet,
)
from tuner.search.proposer import Proposal

Candidate = tuple[Proposal[KernelConfig], Examining]


class Ahead:
    """Proposals that compile, in the order they were proposed. No trial of theirs has begun yet.

    With `quiet`, where what compiles is what measures, `depth` candidates compile together, and none is measured before
    all of them are there.
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
        """The next candidate, of at most `most`; None when there is none left to propose."""
        if not self._waiting:
            self._fill(most if self._quiet else 1)
        if not self._waiting:
            return None
        proposal, wanted = self._waiting.popleft()
        others = tuple(other for _, other in self._waiting if not isinstance(other, Later))
        return proposal, Quiet(wanted, others) if self._quiet else wanted

    def fill(self, most: int) -> None:
        """While a candidate is about to be measured: propose until `depth` wait, and at most `most`."""
        if not self._quiet:
            self._fill(most)

    def _fill(self, most: int) -> None:
        while len(self._waiting) < min(self._depth, most) and (proposal := self._propose()) is not None:
            self._waiting.append((proposal, self._compile(proposal.config)))

    def cancel(self) -> None:
        """Drop the candidates that wait."""
        while self._waiting:
            self._waiting.popleft()[1].cancel()
