"""A device that a Dask worker has, and the place of jobs that need none."""

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


class DaskPlace:
    """The devices of one piece of hardware of a worker: a GPU, or the CPU with its stand-ins."""

    def __init__(
        self, engine: DaskEngine, address: str, host: str, hardware: str, devices: Sequence[ListedDevice]
    ) -> None:
        self._engine, self._address, self._host = engine, address, host
        self._hardware, self._devices = hardware, devices

    @property
    def id(self) -> str:
        """The worker's address and the hardware."""
        return f"{self._address} {self._hardware}"

    @property
    def host(self) -> str:
        """The name of the worker's machine."""
        return self._host

    @property
    def predicts(self) -> bool:
        """What needs no device is not given one."""
        return False

    def devices(self) -> Collection[str]:
        """The slugs of what runs on the hardware."""
        return runnable([device for device in self._devices if hardware_of(device) == self._hardware])

    def resolve(self, name: str) -> ListedDevice:
        """The device of that name among those of the worker; as Place.resolve."""
        return resolve_device(name, None, self._devices)

    @contextmanager
    def opened(
        self, listed: ListedDevice, stopped: Callable[[], bool], user: str, on_wait: Callable[[str], None]
    ) -> Generator[OpenedDevice | None]:
        """The device; each launch takes its lock there, as this place has one job at a time."""
        device = DaskDevice(self._engine, self._address, self._hardware, listed.spec)
        try:
            yield device
        finally:
            device.close()

    def compilers(self, cache: Path) -> AbstractContextManager[CachingCompiler]:
        """Those of all workers; each has a cache of its own."""
        return nullcontext(DaskCompiler(self._engine))


class Predictions:
    """Where jobs run that need no device: kernels compile on the workers, and are proven in this process."""

    def __init__(self, engine: DaskEngine, table: Sequence[ListedDevice]) -> None:
        self._engine, self._table = engine, table

    @property
    def id(self) -> str:
        """There is one."""
        return "predictions"

    @property
    def host(self) -> str:
        """This machine."""
        return this_host()

    @property
    def predicts(self) -> bool:
        """It does nothing else."""
        return True

    def devices(self) -> Collection[str]:
        """None."""
        return ()

    def resolve(self, name: str) -> ListedDevice:
        """The device of the table of that name; as Place.resolve."""
        return resolve_device(name, None, self._table)

    @contextmanager
    def opened(
        self, listed: ListedDevice, stopped: Callable[[], bool], user: str, on_wait: Callable[[str], None]
    ) -> Generator[OpenedDevice | None]:
        """Nothing: no device of the table can be opened."""
        yield None

    def compilers(self, cache: Path) -> AbstractContextManager[CachingCompiler]:
        """Those of all workers; each has a cache of its own."""
        return nullcontext(DaskCompiler(self._engine))
