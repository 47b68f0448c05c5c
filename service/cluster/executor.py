"""The one seam between the tuner and where its kernels are compiled and run.

Two sides pass the same tests: this machine with its own processes (`local.py`), and machines that a Dask scheduler
reaches (`dask/`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from hal import Device, ListedDevice

if TYPE_CHECKING:
    from service.cluster.caching import CachingCompiler


class PlaceLost(Exception):
    """What a job runs on is gone, or cannot be reached: nothing is known of the trial that was under way."""


class OpenedDevice(Device, Protocol):
    """A device in a process of its own, which was started again `restarts` times."""

    @property
    def restarts(self) -> int: ...


class Place(Protocol):
    """Where one job at a time runs. `id` is unique among the places of an engine, `host` is whose devices they are.

    Called from the thread of its job, the facts also from others. Any call may raise PlaceLost.
    """

    @property
    def id(self) -> str: ...

    @property
    def host(self) -> str: ...

    @property
    def predicts(self) -> bool:
        """Whether jobs that need no device may run here."""
        ...

    def devices(self) -> Collection[str]:
        """The slugs of what can run here now."""
        ...

    def resolve(self, name: str) -> ListedDevice:
        """The device of that slug.

        Raises:
            UnknownDevice: it is not here, nor in the table.
        """
        ...

    def opened(
        self, listed: ListedDevice, stopped: Callable[[], bool], user: str, on_wait: Callable[[str], None]
    ) -> AbstractContextManager[OpenedDevice | None]:
        """The device, nobody else's meanwhile; None when `stopped` said so while this one waited for it.

        Raises:
            HalError: it cannot be opened.
            StorageError: its lock cannot be made.
        """
        ...

    def compilers(self, cache: Path) -> AbstractContextManager[CachingCompiler]:
        """Compile workers; `cache` keeps what is compiled in this machine."""
        ...


@dataclass(frozen=True, slots=True)
class Reached:
    """A device of a place."""

    place: str
    host: str
    listed: ListedDevice


class Engine(Protocol):
    """Places, as many as there are now. Thread-safe; the owner closes it."""

    @property
    def name(self) -> str:
        """Under which name its coordinator takes the lease."""
        ...

    def places(self) -> Sequence[Place]:
        """Those that can be reached now; none while nothing can be reached."""
        ...

    def reached(self) -> Sequence[Reached]:
        """The devices of all places, where other machines must be told of them."""
        ...

    def close(self) -> None:
        """Let go of what it has open."""
        ...
