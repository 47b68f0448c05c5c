"""xetune serve and xetune worker: the service, and the process that runs its jobs."""

import os
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager, nullcontext
from types import FrameType
from typing import Annotated

import typer
import uvicorn

from db.migrate import prepare
from service.app import create_app
from service.cli.output import CONSOLE
from service.keys.callers import check_closed
from service.logs import configure_logs
from service.settings import InvalidSettings, read_settings
from service.supervisor import Supervisor, end_with


def serve_command(
    worker: Annotated[bool, typer.Option(help="Run a worker beside the service.")] = True,
) -> None:
    """Start the REST service and dashboard, with a worker beside it."""
    settings = read_settings()
    configure_logs(settings)
    database = prepare(settings.database_url, create=True)
    with database.read() as session:
        refusal = check_closed(settings, session)
    database.close()
    if refusal is not None:
        raise InvalidSettings(f"cannot start: {refusal}")
    CONSOLE.print(f"XeTune on http://{settings.host}:{settings.port}  (Ctrl-C stops it)", highlight=False)
    with _worker_beside() if worker else nullcontext():
        uvicorn.run(create_app(settings), host=settings.host, port=settings.port, log_config=None, access_log=False)


def worker_command(
    parent: Annotated[int | None, typer.Option(hidden=True, help="Process to end with.")] = None,
) -> None:
    """Run jobs of the database until stopped; a job that was running is put back and resumed later."""
    settings = read_settings()
    configure_logs(settings)
    if parent is not None:
        end_with(parent)
    from service.cluster.starting import run_worker  # devices and compilers, which nothing else of the service needs

    run_worker(settings)


@contextmanager
def _worker_beside() -> Generator[None]:
    # The server hands SIGTERM on when it has shut down; by default that would end us before the worker is stopped.
    signal.signal(signal.SIGTERM, _exit)
    worker = Supervisor([sys.executable, "-m", "service.cli", "worker", "--parent", str(os.getpid())])
    worker.start()
    try:
        yield
    finally:
        worker.stop()


def _exit(number: int, _frame: FrameType | None) -> None:
    sys.exit(128 + number)
