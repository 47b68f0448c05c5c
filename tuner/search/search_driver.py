"""Search of a session: its space is built in a thread during the first trial, and its proposals compile ahead."""

import time
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import contextmanager
from typing import TYPE_CHECKING

from codegen import KernelConfig
from tuner.measure.isa_check import Examining
from tuner.search.compile_queue import Candidate, CompileQueue
from tuner.search.proposal import Proposal
from tuner.session.history import History
from tuner.session.trial import Trial

if TYPE_CHECKING:
    from tuner.search.samplers.search import Search


class SpaceTooLate(Exception):
    """The time budget of the job is spent before its space is built."""


class SearchDriver:
    """Candidates of a session after the default.

    Building the space takes seconds of a thread. A job needs it only after the default has been tried, and
    may be over by then. The search starts with the trials in `history` at that moment; later outcomes are
    passed to `tell`.
    """

    def __init__(
        self,
        make: "Callable[[], Search[KernelConfig]]",
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
        self._making: Future[Search[KernelConfig]] | None = None
        self._search: Search[KernelConfig] | None = None
        self._queue = CompileQueue(self._propose, compile, depth, quiet)
        self.propose_s = 0.0

    def begin(self) -> None:
        """Build the space in a separate thread."""
        self._making = self._making or self._thread.submit(self._make)

    def next(self, most: int) -> Candidate | None:
        """Return the next candidate, of at most `most`; None when the search has no further proposal.

        Raises:
            SpaceTooLate: there is no time left to build the space.
        """
        self._opened()
        return self._queue.next(most)

    @property
    def waiting(self) -> Proposal[KernelConfig] | None:
        """The proposal that is next, if it was made already."""
        return self._queue.waiting

    def fill(self, most: int) -> None:
        """Start compiling other candidates, at most `most`, before one is measured."""
        if self._search is not None:
            self._queue.fill(most)

    def tell(self, trial: Trial) -> None:
        """Pass the outcome of a trial to the search."""
        if self._search is not None:
            self._tell(self._search, trial)

    def size(self) -> int:
        """Return the number of configurations.

        Raises:
            SpaceTooLate: there is no time left to build the space.
        """
        return self._space().size

    @property
    def made(self) -> "Search[KernelConfig] | None":
        """The search, once it has begun."""
        return self._search

    def drop(self) -> None:
        """Cancel compilations ahead."""
        self._queue.cancel()

    def close(self) -> None:
        """Cancel compilations ahead, without waiting for the space."""
        self.drop()
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _space(self) -> "Search[KernelConfig]":
        self.begin()
        assert self._making is not None
        with self._proposing():
            try:
                return self._making.result(max(self._left_s(), 0.0))
            except FutureTimeoutError:
                raise SpaceTooLate from None

    def _opened(self) -> "Search[KernelConfig]":
        if self._search is not None:
            return self._search
        search = self._space()
        with self._proposing():
            for trial, _ in self._history.ended():
                self._tell(search, trial)
            search.skip(self._default)
        self._search = search
        return search

    def _tell(self, search: "Search[KernelConfig]", trial: Trial) -> None:
        reason = trial.outcome.reason if trial.outcome is not None else None
        search.tell(trial.config, trial.time_us, trial.proposer, reason)

    def _propose(self) -> Proposal[KernelConfig] | None:
        search = self._opened()
        with self._proposing():
            return search.ask()

    @contextmanager
    def _proposing(self) -> Generator[None]:
        begun_s = time.perf_counter()
        try:
            yield
        finally:
            self.propose_s += time.perf_counter() - begun_s
