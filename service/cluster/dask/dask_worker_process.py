"""Process of a Dask worker: offers this machine to a scheduler, and reconnects when that restarts."""

import asyncio
import signal
from contextlib import suppress

from dask import config as dask_config
from distributed import Status, Worker

from hal.process.temporary import temporary_folder
from service.cluster.dask.dask_worker import TuningPlugin
from service.cluster.dask.security import security_of
from service.cluster.link import Link
from service.jobs.supervisor import (
    LATE_S,
    end_within,
)
from service.telemetry.loggers import Logger

_DEATH_S = 10.0  # after which a worker disconnects from a scheduler that does not answer
_WAIT_S = 1.0
_LOOK_S = 0.05
_FETCH_S = 2.0  # for the caller to fetch the last results
_log = Logger(__name__)


def serve_worker(link: Link, plugin: TuningPlugin, name: str, shutdown_s: float) -> None:
    """Work for the scheduler until SIGTERM or SIGINT; reconnect while there is none.

    Running tasks may take `shutdown_s` seconds to end; some seconds later the process is killed.
    """
    # Dask's own dashboard and limits are off: XeTune's processes have theirs.
    with dask_config.set({"distributed.worker.http.routes": [], "distributed.comm.timeouts.connect": "5s"}):
        asyncio.run(_serve(link, plugin, name, shutdown_s))


async def _serve(link: Link, plugin: TuningPlugin, name: str, shutdown_s: float) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def end() -> None:
        if not stop.is_set():
            end_within(shutdown_s + LATE_S)
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, end)
    with temporary_folder("worker") as folder:
        while not stop.is_set():
            try:
                await _work(link, plugin, name, str(folder), stop, shutdown_s)
            except (OSError, RuntimeError) as error:
                _log.warning("worker waits for the scheduler", scheduler=link.address, error=str(error))
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), _WAIT_S)


async def _work(
    link: Link, plugin: TuningPlugin, name: str, folder: str, stop: asyncio.Event, shutdown_s: float
) -> None:
    """Connect as a worker, until the scheduler is lost."""
    resources = plugin.resources
    worker = Worker(
        link.address,
        # A thread for each concurrent task, and one to answer queries.
        nthreads=int(sum(resources.values())) + 1,
        resources=resources,
        name=name,
        host=link.host if link.on_loopback else None,
        security=security_of(link),
        plugins=(plugin,),
        local_directory=folder,
        memory_limit=0,
        death_timeout=_DEATH_S,
        dashboard_address="127.0.0.1:0",
    )
    async with worker:
        _log.info("worker offers its machine", scheduler=link.address, worker=worker.address, resources=resources)
        stopping = asyncio.create_task(stop.wait())
        ended = asyncio.create_task(worker.finished())
        await asyncio.wait((stopping, ended), return_when=asyncio.FIRST_COMPLETED)
        if stop.is_set():
            await leave(worker, shutdown_s)
        stopping.cancel()
        await worker.close(timeout=1, executor_wait=False)
        await ended


async def leave(worker: Worker, within_s: float) -> None:
    """Accept nothing more; return when the running tasks have ended and were fetched, or after that time.

    Tasks that have not started go to other machines when this one is gone.
    """
    loop = asyncio.get_running_loop()
    until_s = loop.time() + within_s
    worker.status = Status.paused
    while worker.state.executing and loop.time() < until_s:
        await asyncio.sleep(_LOOK_S)
    if worker.state.executing:
        _log.warning("tasks did not end in time", tasks=len(worker.state.executing), seconds=within_s)
        return
    until_s = min(until_s, loop.time() + _FETCH_S)
    while worker.data and loop.time() < until_s:
        await asyncio.sleep(_LOOK_S)
