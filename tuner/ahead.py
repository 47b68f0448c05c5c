"""Candidates that compile while another one is proven or measured."""

from collections import deque
from collections.abc import Callable

from codegen import AnyConfig
from tuner.native import Examining

Candidate = tuple[AnyConfig, Examining]


class Ahead:
    """Proposals that compile, in the order they were proposed. No trial of theirs has begun yet."""

    def __init__(
        self, propose: Callable[[], AnyConfig | None], compile: Callable[[AnyConfig], Examining], depth: int
    ) -> None:
        self._propose, self._compile, self._depth = propose, compile, depth
        self._waiting: deque[Candidate] = deque()

    def fill(self, most: int) -> None:
        """Propose until `depth` candidates wait, and at most `most`."""
        while len(self._waiting) < min(self._depth, most) and (config := self._propose()) is not None:
            self._waiting.append((config, self._compile(config)))

    def take(self) -> Candidate | None:
        """The next candidate; None when all were taken."""
        return self._waiting.popleft() if self._waiting else None

    def cancel(self) -> None:
        """Drop the candidates that wait."""
        while self._waiting:
            self._waiting.popleft()[1].cancel()
