"""xetune serve and xetune worker: the service, and the process that runs its jobs."""

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Annotated

import typer

from service.cli.printing.output import CONSOLE

Scheduler = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Dask scheduler of a cluster: tls://HOST:PORT or tcp://.")
]
Insecure = Annotated[
    bool, typer.Option("--insecure", help="Allow tcp:// beyond loopback, where any client can run any code.")
]
Parent = Annotated[int | None, typer.Option(hidden=True, help="Process to end with.")]
_NOT_STARTED = 3


def serve_command(
    host: Annotated[str | None, typer.Option(help="Address to listen on (default: XETUNE_HOST, 127.0.0.1).")] = None,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65_535, help="Port to listen on, 0: a free one (default: XETUNE_PORT, 8752)."),
    ] = None,
    worker: Annotated[bool, typer.Option(help="Run a worker beside the service.")] = True,
    scheduler: Scheduler = None,
    coordinators: Annotated[
        int, typer.Option(min=1, help="With --scheduler: number of shards; the same on all hosts.")
    ] = 1,
    insecure: Insecure = False,
) -> None:
    """Start the REST service and dashboard, with a worker, or with a coordinator for the workers of a scheduler."""
    import gc
    import os
    import sys

    from db.migrate import prepare
    from service.api.keys.callers import check_closed
    from service.cli.operating.serving import Server, check_port_is_free, config_of, running, settings_of
    from service.cluster.link import link_to
    from service.cluster.one_machine import check_one_machine
    from service.jobs.supervisor import LATE_S, Supervisor
    from service.settings import InvalidSettings

    _check_scheduler(scheduler, {"--coordinators": coordinators > 1, "--insecure": insecure})
    settings = settings_of("service")
    said = {"host": host, "port": port}
    settings = settings.model_copy(update={name: value for name, value in said.items() if value is not None})
    check_port_is_free(settings.host, settings.port)
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
    own = "--parent", str(os.getpid())
    stop_s = settings.shutdown_s + LATE_S / 2
    started = [Supervisor([sys.executable, "-m", "service.cli", *each, *own], stop_s) for each in beside if worker]
    config = config_of(settings)
    gc.collect()
    gc.freeze()  # a garbage collection scanned the quarter million objects of loaded modules, for 60 to 170 ms
    with running(started):
        server = Server(config, started, settings.shutdown_s + LATE_S, _say_ready)
        with suppress(KeyboardInterrupt):  # which the server raises again when it has shut down
            server.run()
        if not server.started:
            raise typer.Exit(_NOT_STARTED)


def _check_scheduler(scheduler: str | None, given: Mapping[str, object]) -> None:
    """Check that options of a cluster are given with its scheduler.

    Raises:
        BadRequest: they would have no effect.
    """
    from service.errors import BadRequest

    if scheduler is None and (names := [name for name, value in given.items() if value]):
        raise BadRequest(f"{', '.join(names)}: expected with --scheduler, got without; it has no effect on one machine")


def _say_ready(host: str, port: int) -> None:
    CONSOLE.print(f"XeTune on http://{host}:{port}  (Ctrl-C stops it)", highlight=False)


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
    from service.cli.operating.serving import settings_of
    from service.cluster.link import link_to
    from service.http.worker_readiness import answering

    given = {"--name": name, "--nthreads": nthreads, "--device": device, "--insecure": insecure}
    _check_scheduler(scheduler, given)
    settings = settings_of("worker", parent)
    from service.cluster import starting  # devices and compilers, which nothing else of the service needs
    from service.doctor.worker import probes_at_start, worker_faults

    probes = None if settings.worker_port is None else probes_at_start()
    faults = partial(worker_faults, settings, probes, uses_database=scheduler is None)
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
    from service.cli.operating.serving import settings_of
    from service.cluster.link import link_to
    from service.cluster.shard import parse_shard

    settings = settings_of("coordinator", parent)
    from service.cluster import starting

    starting.run_coordinator(settings, link_to(scheduler, settings, insecure=insecure), parse_shard(shard))
