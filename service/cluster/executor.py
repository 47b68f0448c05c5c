"""Protocols between the tuner and the machines that compile and run its kernels.

Two implementations pass the same tests: this machine with its processes (`local.py`), and machines of a Dask
scheduler (`dask/`).
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


class ExecutorLost(Exception):
    """The machine of a job is gone, or cannot be reached: the outcome of the current trial is unknown."""


class OpenedDevice(Device, Protocol):
    """A device in a separate process, which was restarted `restarts` times."""

    @property
    def restarts(self) -> int: ...


class Executor(Protocol):
    """Runs one job at a time. `id` is unique among the executors of an engine, `host` is the
    machine of its devices.

    Called from the thread of its job, the properties also from others. Any call may raise ExecutorLost.
    """

    @property
    def id(self) -> str: ...

    @property
    def host(self) -> str: ...

    @property
    def predicts(self) -> bool:
        """True if jobs that need no device may run here."""
        ...

    def devices(self) -> Collection[str]:
        """Return the slugs of the devices that are available here now."""
        ...

    def resolve(self, name: str) -> ListedDevice:
        """Return the device of that slug.

        Raises:
            UnknownDevice: it is neither here nor in the table.
        """
        ...

    def opened(
        self, listed: ListedDevice, stopped: Callable[[], bool], user: str, on_wait: Callable[[str], None]
    ) -> AbstractContextManager[OpenedDevice | None]:
        """Open the device exclusively; None if `stopped` returned true while waiting for it.

        Raises:
            HalError: it cannot be opened.
            StorageError: its lock cannot be created.
        """
        ...

    def compilers(self, cache: Path) -> AbstractContextManager[CachingCompiler]:
        """Return compile workers; `cache` is the folder of this machine's compile cache."""
        ...


@dataclass(frozen=True, slots=True)
class Reached:
    """A device of an executor."""

    executor: str
    host: str
    listed: ListedDevice


class Engine(Protocol):
    """The currently available executors. Thread-safe; the owner closes it."""

    @property
    def name(self) -> str:
        """Name under which its coordinator takes the lease."""
        ...

    def executors(self) -> Sequence[Executor]:
        """Return the executors that can be reached now; none while nothing can be reached."""
        ...

    def reached(self) -> Sequence[Reached]:
        """Return the devices of all executors, if other machines must be notified of them."""
        ...

    def close(self) -> None:
        """Release all resources."""
        ...
