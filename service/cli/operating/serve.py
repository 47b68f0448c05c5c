"""xetune serve and xetune worker: the service, and the process that runs its jobs."""

import gc
import os
import signal
import sys
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from types import FrameType
from typing import Annotated

import structlog
import typer
import uvicorn

from db.migrate import prepare
from service.api.keys.callers import check_closed
from service.app import create_app
from service.cli.printing.output import CONSOLE
from service.cluster.link import link_to
from service.cluster.one_machine import check_one_machine
from service.cluster.shard import parse_shard
from service.http.worker_readiness import answering
from service.jobs.supervisor import (
    LATE_S,
    Supervisor,
    end_with,
    end_within,
)
from service.logs import configure_logs
from service.settings import InvalidSettings, Settings, read_settings, unknown_settings
from service.traces import configure_traces

Scheduler = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Dask scheduler of a cluster: tls://HOST:PORT or tcp://.")
]
Insecure = Annotated[
    bool, typer.Option("--insecure", help="Allow tcp:// beyond loopback, where any client can run any code.")
]
Parent = Annotated[int | None, typer.Option(hidden=True, help="Process to end with.")]

_NOT_STARTED = 3
_log = structlog.stdlib.get_logger(__name__)


def serve_command(
    worker: Annotated[bool, typer.Option(help="Run a worker beside the service.")] = True,
    scheduler: Scheduler = None,
    coordinators: Annotated[
        int, typer.Option(min=1, help="With --scheduler: number of shards; the same on all hosts.")
    ] = 1,
    insecure: Insecure = False,
) -> None:
    """Start the REST service and dashboard, with a worker, or with a coordinator for the workers of a scheduler."""
    settings = _settings_of("service")
    beside = [["worker"]]
    if scheduler is not None:
        link_to(scheduler, settings, insecure=insecure)
        to = ["coordinator", "--scheduler", scheduler, *(["--insecure"] if insecure else [])]
        beside = [[*to, "--shard", f"{number}/{coordinators}"] for number in range(1, coordinators + 1)]
    database = prepare(settings.database_url, create=True)
    check_one_machine(database)
    with database.read() as session:
        refusal = check_closed(settings, session)
    database.close()
    if refusal is not None:
        raise InvalidSettings(f"cannot start: {refusal}")
    CONSOLE.print(f"XeTune on http://{settings.host}:{settings.port}  (Ctrl-C stops it)", highlight=False)
    own = "--parent", str(os.getpid())
    stop_s = settings.shutdown_s + LATE_S / 2
    started = [Supervisor([sys.executable, "-m", "service.cli", *each, *own], stop_s) for each in beside if worker]
    config = config_of(settings)
    gc.collect()
    gc.freeze()  # a garbage collection scanned the quarter million objects of loaded modules, for 60 to 170 ms
    with _running(started):
        server = _Server(config, started, settings.shutdown_s + LATE_S)
        with suppress(KeyboardInterrupt):  # which the server raises again when it has shut down
            server.run()
        if not server.started:
            raise typer.Exit(_NOT_STARTED)


def config_of(settings: Settings) -> uvicorn.Config:
    """Return the configuration of the HTTP server."""
    return uvicorn.Config(
        create_app(settings),
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        # Longer than clients keep a connection (httpx 5 s, proxies 60 s): otherwise a request may meet a closing
        # one.
        timeout_keep_alive=settings.keep_alive_s,
        timeout_graceful_shutdown=settings.shutdown_s,
    )


def worker_command(
    scheduler: Scheduler = None,
    name: Annotated[str | None, typer.Option(help="Name of this machine at the scheduler.")] = None,
    nthreads: Annotated[int | None, typer.Option(min=1, help="Concurrent compilations (default: one per CPU).")] = None,
    device: Annotated[
        list[str] | None, typer.Option(help="Offer only this device (repeatable); none: compile only.")
    ] = None,
    insecure: Insecure = False,
    parent: Parent = None,
) -> None:
    """Run jobs of the database until stopped; a running job is requeued and resumed later.

    With --scheduler this machine compiles and measures for the coordinator of that Dask scheduler instead,
    and needs no database. With XETUNE_WORKER_PORT it answers /healthz and /readyz there.
    """
    settings = _settings_of("worker", parent)
    from service.cluster import starting  # devices and compilers, which nothing else of the service needs
    from service.doctor.worker import worker_faults

    faults = partial(worker_faults, settings, uses_database=scheduler is None)
    with answering(settings.host, settings.worker_port, faults):
        if scheduler is None:
            starting.run_worker(settings)
        else:
            link = link_to(scheduler, settings, insecure=insecure)
            starting.run_dask_worker(settings, link, name=name, compilations=nthreads, only=device)


def coordinator_command(
    scheduler: Annotated[str, typer.Option(metavar="ADDRESS", help="Dask scheduler: tls://HOST:PORT or tcp://.")],
    shard: Annotated[str, typer.Option(metavar="I/N", help="Assign jobs to shard I of N of the machines.")] = "1/1",
    insecure: Insecure = False,
    parent: Parent = None,
) -> None:
    """Assign the jobs of the database to the workers of a Dask scheduler, or wait until the active
    coordinator is gone.
    """
    settings = _settings_of("coordinator", parent)
    from service.cluster import starting

    starting.run_coordinator(settings, link_to(scheduler, settings, insecure=insecure), parse_shard(shard))


def _settings_of(process: str, parent: int | None = None) -> Settings:
    """Return the settings of a process, with its logs and traces set up; it ends with its parent.

    Raises:
        InvalidSettings: a variable is invalid.
    """
    settings = read_settings()
    configure_logs(settings)
    configure_traces(settings, process)
    if parent is None:
        for sentence in unknown_settings():
            _log.warning(sentence)
    else:  # the parent has the same variables, and has reported them
        end_with(parent)
    return settings


class _Server(uvicorn.Server):
    """Forwards the signal that ends it at once, so that requests and jobs have the same time to end."""

    def __init__(self, config: uvicorn.Config, beside: Sequence[Supervisor], within_s: float) -> None:
        super().__init__(config)
        self._beside, self._within_s = beside, within_s

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop the processes beside this server, then the server."""
        end_within(self._within_s)
        for each in self._beside:
            each.ask()
        super().handle_exit(sig, frame)


@contextmanager
def _running(supervisors: Sequence[Supervisor]) -> Generator[None]:
    # The server re-raises SIGTERM after its shutdown; by default that would end us before the worker is stopped.
    signal.signal(signal.SIGTERM, _exit)
    for each in supervisors:
        each.start()
    try:
        yield
    finally:
        with ThreadPoolExecutor(max(len(supervisors), 1)) as pool:
            list(pool.map(Supervisor.stop, supervisors))


def _exit(number: int, _frame: FrameType | None) -> None:
    sys.exit(128 + number)
