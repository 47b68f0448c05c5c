"""Executors of a Dask worker: one with a device, and one for jobs that need none."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from hal import ListedDevice, resolve_device
from service.api.devices.quarantine import this_host
from service.cluster.caching import CachingCompiler
from service.cluster.dask.compiling import DaskCompiler
from service.cluster.dask.device import DaskDevice
from service.cluster.executor import OpenedDevice
from service.cluster.local import hardware_of
from service.jobs.local_devices import runnable

if TYPE_CHECKING:
    from service.cluster.dask.engine import DaskEngine


class DaskExecutor:
    """The devices of one piece of hardware of a worker: a GPU, or the CPU with the GPUs that it emulates."""

    def __init__(
        self, engine: DaskEngine, address: str, host: str, hardware: str, devices: Sequence[ListedDevice]
    ) -> None:
        self._engine, self._address, self._host = engine, address, host
        self._hardware, self._devices = hardware, devices

    @property
    def id(self) -> str:
        """Worker's address and the hardware."""
        return f"{self._address} {self._hardware}"

    @property
    def host(self) -> str:
        """Name of the worker's machine."""
        return self._host

    @property
    def predicts(self) -> bool:
        """Jobs without a device do not run here."""
        return False

    def devices(self) -> Collection[str]:
        """Slugs of the devices of the hardware."""
        return runnable([device for device in self._devices if hardware_of(device) == self._hardware])

    def resolve(self, name: str) -> ListedDevice:
        """Return the device of that name among those of the worker; as Executor.resolve."""
        return resolve_device(name, None, self._devices)

    @contextmanager
    def opened(
        self, listed: ListedDevice, stopped: Callable[[], bool], user: str, on_wait: Callable[[str], None]
    ) -> Generator[OpenedDevice | None]:
        """Open the device; each launch takes its lock there, as this executor has one job at a time."""
        device = DaskDevice(self._engine, self._address, self._hardware, listed.spec)
        try:
            yield device
        finally:
            device.close()

    def compilers(self, cache: Path) -> AbstractContextManager[CachingCompiler]:
        """Return the compilers of all workers; each has its own cache."""
        return nullcontext(DaskCompiler(self._engine))


class Predictions:
    """Executor of jobs that need no device: kernels are compiled on the workers, and verified in this process."""

    def __init__(self, engine: DaskEngine, table: Sequence[ListedDevice]) -> None:
        self._engine, self._table = engine, table

    @property
    def id(self) -> str:
        """Constant: there is one."""
        return "predictions"

    @property
    def host(self) -> str:
        """This machine."""
        return this_host()

    @property
    def predicts(self) -> bool:
        """Always true."""
        return True

    def devices(self) -> Collection[str]:
        """None."""
        return ()

    def resolve(self, name: str) -> ListedDevice:
        """Return the device of the table of that name; as Executor.resolve."""
        return resolve_device(name, None, self._table)

    @contextmanager
    def opened(
        self, listed: ListedDevice, stopped: Callable[[], bool], user: str, on_wait: Callable[[str], None]
    ) -> Generator[OpenedDevice | None]:
        """Yield None: no device of the table can be opened."""
        yield None

    def compilers(self, cache: Path) -> AbstractContextManager[CachingCompiler]:
        """Return the compilers of all workers; each has its own cache."""
        return nullcontext(DaskCompiler(self._engine))
