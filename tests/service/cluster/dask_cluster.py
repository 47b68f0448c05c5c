"""A Dask scheduler and our workers in a thread of the test, with fake compilers and devices."""

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("distributed", reason="Dask is not installed: pip install 'xetune[cluster]'")

from dask import config as dask_config
from distributed import Scheduler, Worker

from hal import ListedDevice
from service.cluster.dask import dask_worker as dask_worker_module
from service.cluster.dask.dask_worker import (
    TuningPlugin,
    offer_of,
)
from service.cluster.dask.dask_worker_process import leave
from service.cluster.dask.engine import DaskEngine
from service.cluster.link import Link

WAIT_S = 60.0
# Its own handler writes to what was standard error while a test was collected, and is closed by now.
_LOGGER = logging.getLogger("distributed")
_LOGGER.handlers.clear()
_LOGGER.propagate = True


class Cluster:
    """A scheduler that can be closed and restarted at its address, and workers by name."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._scheduler: Scheduler | None = None
        self._workers: dict[str, Worker] = {}
        self._port = 0

    def start_scheduler(self) -> None:
        """Start the scheduler, at its earlier address if it had one."""

        async def start() -> Scheduler:
            return await Scheduler(host="127.0.0.1", port=self._port, dashboard=False, dashboard_address="127.0.0.1:0")

        self._scheduler = scheduler = self._do(start())
        self._port = int(scheduler.address.rpartition(":")[2])

    def close_scheduler(self) -> None:
        """Close the scheduler: its workers end too, and clients lose their requests."""
        assert self._scheduler is not None
        self._do(self._scheduler.close())
        for name in list(self._workers):
            self.close_worker(name)

    def start_worker(self, name: str, plugin: TuningPlugin) -> str:
        """Start a worker with a plugin and return its address."""

        async def start() -> Worker:
            return await Worker(
                self.link.address,
                nthreads=int(sum(plugin.resources.values())) + 1,
                resources=plugin.resources,
                name=name,
                host="127.0.0.1",
                plugins=(plugin,),
                local_directory=str(self._folder / name),
                memory_limit=0,
                dashboard_address="127.0.0.1:0",
            )

        self._workers[name] = self._do(start())
        return self._workers[name].address

    def close_worker(self, name: str) -> None:
        """Close a worker without waiting for its work."""
        self._do(self._workers.pop(name).close(timeout=1, executor_wait=False))

    def leave_worker(self, name: str, within_s: float) -> None:
        """Close a worker gracefully, as a signal does."""
        worker = self._workers.pop(name)

        async def end() -> None:
            await leave(worker, within_s)
            await worker.close(timeout=1, executor_wait=False)

        self._do(end())

    @property
    def link(self) -> Link:
        """Address and credentials of the scheduler."""
        return Link(f"tcp://127.0.0.1:{self._port}", "127.0.0.1", self._port, None)

    def engine(self) -> DaskEngine:
        """Return an engine connected to the scheduler."""
        return DaskEngine(self.link)

    def close(self) -> None:
        """Close all."""
        for name in list(self._workers):
            self.close_worker(name)
        if self._scheduler is not None:
            self._do(self._scheduler.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(WAIT_S)
        self._loop.close()

    def _do(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(WAIT_S)


@contextmanager
def running(folder: Path) -> Generator[Cluster]:
    """A cluster with a scheduler and no worker."""
    with dask_config.set({"distributed.worker.http.routes": [], "distributed.scheduler.http.routes": []}):
        made = Cluster(folder)
        try:
            made.start_scheduler()
            yield made
        finally:
            made.close()


def fake_plugin(
    monkeypatch: pytest.MonkeyPatch,
    folder: Path,
    devices: list[ListedDevice],
    compiler: object,
    device: Callable[[ListedDevice], object],
    host: str = "node",
) -> TuningPlugin:
    """Return a plugin with the test's compilers and devices."""
    monkeypatch.setattr(dask_worker_module, "CompilePool", lambda *_: compiler)
    monkeypatch.setattr(dask_worker_module, "open_device", device)
    return TuningPlugin(offer_of(devices, host, 2), folder / "cache", folder / f"locks of {host}")
