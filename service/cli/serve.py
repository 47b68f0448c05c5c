"""xetune serve and xetune worker: the service, and the process that runs its jobs."""

import os
import signal
import subprocess
import sys
from typing import Annotated

import typer
import uvicorn

from db.migrate import prepare
from service.app import create_app
from service.cli.output import CONSOLE
from service.logs import configure_logs
from service.settings import read_settings
from service.worker import run_worker

_STOP_S = 15.0


def serve_command(
    worker: Annotated[bool, typer.Option(help="Run a worker beside the service.")] = True,
) -> None:
    """Start the REST service and dashboard, with a worker beside it."""
    settings = read_settings()
    configure_logs(settings)
    prepare(settings.database_url, create=True).close()
    child = _start_worker() if worker else None
    CONSOLE.print(f"XeTune on http://{settings.host}:{settings.port}  (Ctrl-C stops it)", highlight=False)
    try:
        uvicorn.run(create_app(settings), host=settings.host, port=settings.port, log_config=None, access_log=False)
    finally:
        if child is not None:
            _stop(child)


def worker_command() -> None:
    """Run jobs of the database until stopped; a job that was running is put back and resumed later."""
    settings = read_settings()
    configure_logs(settings)
    run_worker(settings)


def _start_worker() -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", "service.cli", "worker"], start_new_session=True)


def _stop(child: subprocess.Popen[bytes]) -> None:
    child.terminate()
    try:
        child.wait(_STOP_S)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
