"""Process of a Dask scheduler."""

import asyncio
import signal

from dask import config as dask_config
from distributed import Scheduler

from service.cluster.dask.security import security_of
from service.cluster.link import Link
from service.telemetry.loggers import Logger

_log = Logger(__name__)


def serve_scheduler(link: Link) -> None:
    """Run a scheduler at the address of `link` until SIGTERM or SIGINT."""
    with dask_config.set({"distributed.scheduler.http.routes": []}):
        asyncio.run(_serve(link))


async def _serve(link: Link) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    scheduler = Scheduler(
        host=link.host, port=link.port, security=security_of(link), dashboard=False, dashboard_address="127.0.0.1:0"
    )
    async with scheduler:
        _log.info("scheduler listens", address=scheduler.address)
        await stop.wait()
