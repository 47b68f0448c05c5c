"""The search of a session: its space is made beside the first trial, and its proposals compile ahead."""

import time
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import contextmanager

from codegen import KernelConfig
from tuner.measure.isa_check import Examining
from tuner.search.compile_queue import (
    Ahead,
    Candidate,
)
from tuner.search.proposer import Proposal, Proposer
from tuner.session.history import History
from tuner.space.starts import Search


class SpaceTooLate(Exception):
    """The seconds of the job are over, and its space is not there."""


def tell_again(
    proposer: Proposer[KernelConfig],
    ended: Iterable[tuple[KernelConfig, float | None, str | None]],
    default: KernelConfig,
) -> None:
    """Tell a new proposer what earlier runs found: configurations, their times, and who proposed them, in order.

    The default is not proposed.
    """
    for config, time_us, by in ended:
        proposer.tell(config, time_us, by)
    proposer.skip(default)


class Searching:
    """What is tried after the default.

    Making the space takes a thread seconds. A job needs it when the default has been tried, and may be over by then.
    The proposer is told what `history` holds at that moment, and later outcomes by `tell`.
    """

    def __init__(
        self,
        make: Callable[[], Search],
        history: History,
        default: KernelConfig,
        left_s: Callable[[], float],
        compile: Callable[[KernelConfig], Examining],
        depth: int,
        *,
        quiet: bool,
    ) -> None:
        self._make, self._history, self._default, self._left_s = make, history, default, left_s
        self._thread = ThreadPoolExecutor(1, "space")
        self._making: Future[Search] | None = None
        self._made: Search | None = None
        self._ahead = Ahead(self._propose, compile, depth, quiet)
        self.propose_s = 0.0

    def begin(self) -> None:
        """Make the space, in a thread of its own."""
        self._making = self._making or self._thread.submit(self._make)

    def next(self, most: int) -> Candidate | None:
        """The next candidate, of at most `most`; None when there is none left to propose.

        Raises:
            SpaceTooLate: there is no time left for it.
        """
        self._opened()
        return self._ahead.next(most)

    def fill(self, most: int) -> None:
        """While a candidate is about to be measured: let others compile, at most `most`."""
        if self._made is not None:
            self._ahead.fill(most)

    def tell(self, config: KernelConfig, time_us: float | None) -> None:
        """What became of a configuration."""
        if self._made is not None:
            self._made.proposer.tell(config, time_us)

    def size(self) -> int:
        """How many configurations there are to try.

        Raises:
            SpaceTooLate: there is no time left for it.
        """
        return self._space().size

    @property
    def made(self) -> Search | None:
        """The search, if it came to that."""
        return self._made

    def drop(self) -> None:
        """Stop what compiles ahead."""
        self._ahead.cancel()

    def close(self) -> None:
        """Stop what compiles ahead, and wait for no space."""
        self.drop()
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _space(self) -> Search:
        self.begin()
        assert self._making is not None
        with self._proposing():
            try:
                return self._making.result(max(self._left_s(), 0.0))
            except FutureTimeoutError:
                raise SpaceTooLate from None

    def _opened(self) -> Search:
        if self._made is not None:
            return self._made
        made = self._space()
        ended = [(trial.config, trial.time_us, trial.proposer) for trial, _ in self._history.ended()]
        with self._proposing():
            tell_again(made.proposer, ended, self._default)
        self._made = made
        return made

    def _propose(self) -> Proposal[KernelConfig] | None:
        search = self._opened()
        with self._proposing():
            return search.proposer.propose()

    @contextmanager
    def _proposing(self) -> Generator[None]:
        begun_s = time.perf_counter()
        try:
            yield
        finally:
            self.propose_s += time.perf_counter() - begun_s
