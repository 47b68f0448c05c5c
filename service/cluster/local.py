"""Local engine: kernels are compiled in worker processes, and devices run in others."""

import os
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from codegen.workers.pool import CompilePool
from hal import DeviceKind, ListedDevice, open_device, resolve_device
from service.api.devices.quarantine import this_host
from service.cluster.caching import CachingCompiler
from service.cluster.executor import (
    OpenedDevice,
    Reached,
)
from service.jobs.device_lock import (
    locks_dir,
    only_user,
)
from service.jobs.local_devices import DevicesHere
from service.jobs.worker_names import own_name

COMPILE_TIMEOUT_S = 60.0
NAME = "machine "
"""Prefix of the names of coordinators of one machine's devices."""


@dataclass(frozen=True, slots=True)
class LocalExecutor:
    """The devices of this machine, one job at a time."""

    resolve_name: Callable[[str], ListedDevice] = resolve_device
    locks: Path = field(default_factory=locks_dir)
    here: Callable[[], Collection[str]] = field(default_factory=DevicesHere)

    @property
    def id(self) -> str:
        """Constant: there is one."""
        return "here"

    @property
    def host(self) -> str:
        """This machine."""
        return this_host()

    @property
    def predicts(self) -> bool:
        """Always true."""
        return True

    def devices(self) -> Collection[str]:
        """Return the slugs of the devices here, including emulated ones; probes drivers once a minute."""
        return self.here()

    def resolve(self, name: str) -> ListedDevice:
        """Return the device of that name; as Executor.resolve."""
        return self.resolve_name(name)

    @contextmanager
    def opened(
        self, listed: ListedDevice, stopped: Callable[[], bool], user: str, on_wait: Callable[[str], None]
    ) -> Generator[OpenedDevice | None]:
        """Open the device under its lock; as Executor.opened."""
        with only_user(hardware_of(listed), self.locks, stopped, user, on_wait) as alone:
            if not alone:
                yield None
                return
            device = open_device(listed)
            try:
                yield device
            finally:
                device.close()

    @contextmanager
    def compilers(self, cache: Path) -> Generator[CachingCompiler]:
        """Return a pool with a worker per processor; one is started beforehand, since a start takes as long
        as a short budget.
        """
        with CompilePool(os.cpu_count() or 1, COMPILE_TIMEOUT_S, cache) as pool:
            pool.wait_until_up()
            yield pool


class LocalEngine:
    """This machine as the only executor. Its coordinator's name is unique: job leases keep workers apart."""

    def __init__(self, executor: LocalExecutor | None = None) -> None:
        self._executor = executor or LocalExecutor()

    @property
    def name(self) -> str:
        """Name of this process: several workers of one machine may share its devices."""
        return NAME + own_name()

    def executors(self) -> Sequence[LocalExecutor]:
        """Return the one executor."""
        return (self._executor,)

    def reached(self) -> Sequence[Reached]:
        """Return none: the service on this machine lists its devices itself."""
        return ()

    def close(self) -> None:
        """Do nothing: nothing is open between jobs."""


def hardware_of(listed: ListedDevice) -> str:
    """Return the hardware of a device: the CPU runs its own kernels and those of the GPUs that it emulates."""
    return "cpu" if listed.spec.kind is DeviceKind.CPU else listed.spec.id
