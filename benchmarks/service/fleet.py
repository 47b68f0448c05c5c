"""Number of devices that one coordinator keeps busy: its real code and database, simulated GPUs, a virtual clock.

    python -m benchmarks.service.fleet --devices 10,30,100,1000
    python -m benchmarks.service.fleet --database postgresql+psycopg://xetune@localhost/fleet
    python -m benchmarks.service.fleet --devices 300,1000 --coordinators 1,8,14 --jobs 1 --seconds 20

The virtual clock advances by the CPU time of the coordinator, and jumps when all wait; compilations and launches take
virtual time only. Each device has `--jobs` jobs one after another, each of `--trials` trials.

With `--coordinators`, so many processes share the devices and one PostgreSQL server, in real time: trials are counted
for `--seconds` once every device has measured one.
"""

import argparse
import statistics
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from typing import cast

from sqlalchemy import func, select, text

from benchmarks.service.fleet_clock import FleetClock
from benchmarks.service.fleet_devices import (
    COMPILE_S,
    TRIAL_S,
    Fleet,
    FleetExecutor,
    Seen,
    gpu,
)
from benchmarks.service.fleet_processes import WallClock, copied, postgres, run_shared
from codegen import GemmProblem
from db.migrate import upgrade
from db.schema.job import Job
from db.schema.trial import Trial
from db.session import Database, make_engine, open_database
from service.api.jobs.requests import (
    submit,
)
from service.api.keys.caller import COMMAND_LINE
from service.artifacts import ArtifactStore
from service.cluster.coordinator import Clock, Coordinator
from service.cluster.executor import (
    Engine,
    Executor,
)
from service.jobs.job_runs import RunJob
from service.jobs.tuning import Tuning
from service.settings import Settings
from service.telemetry.logs import configure_logs
from tuner.session.budget import Budget
from tuner.session.job_spec import JobSpec

_COLUMNS = (
    "devices",
    "database",
    "required trials/s",
    "completed trials/s",
    "devices idle",
    "CPU ms per trial, including job start",
)
_SHARED_COLUMNS = (
    "devices",
    "coordinators",
    "required trials/s",
    "completed trials/s",
    "CPU ms per trial",
    "of the database",
    "of the simulation",
    "SQL statements per trial",
    "transactions per trial",
    "devices that had measured, after",
    "devices busy at the end",
)


@dataclass(frozen=True)
class Row:
    """Results of a fleet of one size."""

    devices: int
    wanted_per_s: float  # trials, if no device ever waited
    trials_per_s: float  # of the virtual clock
    jobs_per_s: float
    queue_s: float  # median age of a job when it was claimed
    idle: float  # part of the devices' time
    start_ms: float  # processor time of the coordinator for each start of a job
    trial_ms: float  # for each trial after it
    cpu: float  # processor seconds in a second
    virtual_s: float
    rss_mb: float


def run(
    devices: int, folder: Path, url: str, sizes: tuple[int, int, int], trials: int, jobs_each: int, most_s: float
) -> Row:
    """Run a fleet until all jobs are over, or `most_s` seconds of real time have passed."""
    clock, seen = FleetClock(), Seen()
    database = open_database(url)
    settings = Settings(data_dir=folder, database_url=url, max_active_jobs=10**6, max_running_jobs=10**6)
    executors = [FleetExecutor(gpu(number), clock, seen) for number in range(devices)]
    _queue(database, executors, sizes, trials, jobs_each)
    artifacts = ArtifactStore(settings.artifacts_dir)

    def run_at(fenced: Database, executor: Executor) -> RunJob:
        return Tuning(fenced, artifacts, settings.cache_dir, executor=executor).run

    timing = Clock(clock.now, clock.wait, clock.start)
    coordinator = Coordinator(database, settings, cast(Engine, Fleet(executors)), run_at, "fleet", timing)
    cpu_before, begun = _cpu_s(), time.monotonic()
    thread = threading.Thread(target=coordinator.run)
    clock.start(thread)
    while time.monotonic() - begun < most_s and _left(database):
        time.sleep(0.5)
    virtual_s, cpu_s = clock.seconds(), _cpu_s() - cpu_before
    row = _row(database, devices, virtual_s, cpu_s, seen)
    coordinator.stop()
    clock.end()
    thread.join()
    database.close()
    return row


def _queue(
    database: Database, executors: list[FleetExecutor], sizes: tuple[int, int, int], trials: int, jobs_each: int
) -> None:
    m, n, k = sizes
    with database.write() as session:
        for number in range(jobs_each):
            for index, executor in enumerate(executors):
                problem = GemmProblem(m, n, k + 32 * number)
                request = JobSpec(
                    problem=problem,
                    device=executor.listed.spec,
                    budget=Budget(trials, 1e6),
                    reuse=False,
                    warm_start=False,
                    seed=index,
                )
                submit(session, request, 10**9, COMMAND_LINE)


def _left(database: Database) -> int:
    with database.read() as session:
        return session.scalar(select(func.count()).where(Job.status.in_(("queued", "running")))) or 0


def _row(database: Database, devices: int, virtual_s: float, cpu_s: float, seen: Seen) -> Row:
    with database.read() as session:
        ended = session.scalar(select(func.count()).select_from(Trial).where(Trial.status == "measured")) or 0
        over = session.scalar(select(func.count()).select_from(Job).where(Job.status == "succeeded")) or 0
        started = session.scalars(select(Job.started_at).where(Job.started_at.is_not(None))).all()
    first = min((at for at in started if at is not None), default=None)
    ages = [(at - first).total_seconds() for at in started if at is not None and first is not None]
    return Row(
        devices,
        devices / TRIAL_S,
        ended / virtual_s,
        over / virtual_s,
        statistics.median(sorted(ages)[:devices]) if ages else 0.0,
        1 - seen.busy_s / (devices * virtual_s),
        1e3 * seen.start_cpu_s / max(seen.starts, 1),
        1e3 * seen.trials_cpu_s / max(seen.launches - seen.starts, 1),
        cpu_s / virtual_s,
        virtual_s,
        getrusage(RUSAGE_SELF).ru_maxrss / 1024,
    )


def _cpu_s() -> float:
    used = getrusage(RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _fresh(url: str | None, folder: Path) -> str:
    """Create a migrated database without rows; return its URL."""
    url = url or f"sqlite:///{folder / 'fleet.sqlite'}"
    engine = make_engine(url)
    if engine.dialect.name == "postgresql":
        with engine.begin() as connection:
            connection.execute(text("DROP SCHEMA public CASCADE"))
            connection.execute(text("CREATE SCHEMA public"))
    upgrade(engine)
    engine.dispose()
    return url


def _print_shared(asked: argparse.Namespace, sizes: tuple[int, int, int]) -> None:
    print(f"| {' | '.join(_SHARED_COLUMNS)} |\n|{'---:|' * len(_SHARED_COLUMNS)}", flush=True)
    with tempfile.TemporaryDirectory(prefix="xetune-fleet-") as name, postgres(Path(name)) as (own, server):
        for devices in map(int, asked.devices.split(",")):
            queued = _fresh(copied(own, "queued"), Path(name))
            database, clock, seen = open_database(queued), WallClock(), Seen()
            _queue(
                database, [FleetExecutor(gpu(n), clock, seen) for n in range(devices)], sizes, asked.trials, asked.jobs
            )
            database.close()
            for coordinators in map(int, asked.coordinators.split(",")):
                if coordinators > devices:
                    continue
                url = copied(own, "fleet", "queued")
                with tempfile.TemporaryDirectory(dir=name) as folder:
                    found = run_shared(
                        url, server, Path(folder), devices, coordinators, asked.seconds, asked.start_seconds
                    )
                cells = (
                    f"{devices:,}",
                    str(coordinators),
                    f"{devices / TRIAL_S:.0f}",
                    f"{found.trials_per_s:.1f}",
                    f"{found.trial_ms:.1f}",
                    f"{found.database_ms:.1f}",
                    f"{found.simulated_ms:.1f}",
                    f"{found.statements:.1f}",
                    f"{found.transactions:.1f}",
                    f"{found.started:,}, {found.started_s:.0f} s",
                    f"{found.busy:,}",
                )
                print(f"| {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Print a row for each number of devices, in Markdown, then further figures of each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--devices", default="10,100,1000", help="numbers of devices, separated by commas")
    parser.add_argument("--problem", default="512,384,1024", help="M,N,K, which determine the size of the space")
    parser.add_argument("--trials", type=int, default=30, help="trials of each job")
    parser.add_argument("--jobs", type=int, default=2, help="jobs for each device")
    parser.add_argument("--seconds", type=float, default=120.0, help="limit of real time for each number of devices")
    parser.add_argument("--database", help="a PostgreSQL database whose tables may be dropped; else SQLite in a folder")
    parser.add_argument("--coordinators", help="numbers of processes on one PostgreSQL server, in real time")
    parser.add_argument(
        "--start-seconds", type=float, default=60.0, help="limit of the time until every device has measured a trial"
    )
    asked = parser.parse_args()
    sizes = [int(size) for size in asked.problem.split(",")]
    configure_logs(Settings(log_level="error"))
    if asked.coordinators:
        _print_shared(asked, (sizes[0], sizes[1], sizes[2]))
        return
    print(f"A trial takes {TRIAL_S} s on its device, a compilation {COMPILE_S} s; {asked.trials} trials per job.\n")
    print(f"| {' | '.join(_COLUMNS)} |\n|---:|---|{'---:|' * (len(_COLUMNS) - 2)}")
    notes: list[str] = []
    for size in map(int, asked.devices.split(",")):
        with tempfile.TemporaryDirectory(prefix="xetune-fleet-") as name:
            folder = Path(name)
            row = run(
                size,
                folder,
                _fresh(asked.database, folder),
                (sizes[0], sizes[1], sizes[2]),
                asked.trials,
                asked.jobs,
                asked.seconds,
            )
        cells = (
            f"{row.devices:,}",
            "PostgreSQL" if asked.database else "SQLite",
            f"{row.wanted_per_s:.1f}",
            f"{row.trials_per_s:.1f}",
            f"{100 * row.idle:.0f} %",
            f"{1e3 * row.cpu / row.trials_per_s:.1f}" if row.trials_per_s else "-",
        )
        print(f"| {' | '.join(cells)} |", flush=True)
        notes.append(
            f"- {row.devices:,} devices: {row.virtual_s:.0f} s of virtual time, {row.jobs_per_s:.2f} jobs per second, "
            f"half of the started jobs had waited {row.queue_s:.1f} s, CPU time of {row.start_ms:.0f} ms per job start "
            f"and {row.trial_ms:.1f} ms per trial, {row.rss_mb:.0f} MB"
        )
    print("", *notes, sep="\n")


if __name__ == "__main__":
    main()
