"""A cluster of real processes in which each part is killed once: no trial is lost or repeated."""

import os
import shutil
import subprocess
import time
from collections.abc import Generator
from pathlib import Path
from uuid import UUID

import pytest
from sqlalchemy import func, select

from codegen import GemmProblem
from db.errors import DatabaseError
from db.queries.cluster import coordinators
from db.schema.job import Job
from db.schema.trial import Trial
from db.session import Database, open_database
from hal import resolve_device
from service.api.jobs.requests import (
    submit,
)
from service.api.keys.caller import COMMAND_LINE
from tests.faults.test_database_restarted import Server, server
from tests.system.processes import Processes, until
from tuner.session.budget import Budget
from tuner.session.job_spec import JobSpec

__all__ = ["server"]  # a fixture

pytest.importorskip("distributed", reason="Dask is not installed: pip install 'xetune[cluster]'")
pytestmark = [pytest.mark.slow, pytest.mark.postgres]

JOBS, TRIALS = 5, 12
LEASE_S = 6.0
AT_LEAST = 5  # trials between faults


@pytest.fixture
def processes(server: Server, tmp_path: Path) -> Generator[Processes]:
    """Processes with a PostgreSQL server of their own."""
    settings = {"XETUNE_COORDINATOR_LEASE_S": str(LEASE_S), "XETUNE_WORKER_POLL_S": "0.5", "XETUNE_LEASE_S": "600"}
    made = Processes(tmp_path, server.url, settings=settings)
    yield made
    made.stop_all()


def queue(database: Database) -> list[UUID]:
    """Queue jobs for the CPU of this machine."""
    cpu = resolve_device("cpu").spec
    ids: list[UUID] = []
    for number in range(JOBS):
        problem = GemmProblem(64 + 8 * number, 96, 128)
        spec = JobSpec(problem=problem, device=cpu, budget=Budget(TRIALS, 3600.0), seed=number)
        with database.write() as session:
            job, _ = submit(session, spec, JOBS, COMMAND_LINE)
            ids.append(job.id)
    return ids


def ended(database: Database) -> dict[tuple[UUID, int], tuple[str, str, object]]:
    """Return the result of each trial that ended."""
    with database.read() as session:
        rows = session.scalars(select(Trial).where(Trial.status != "pending"))
        return {(row.job_id, row.number): (row.config_hash, row.status, row.ended_at) for row in rows}


def leader(database: Database) -> tuple[str, int]:
    """Return the coordinator and its fence."""
    try:
        with database.read() as session:
            rows = [row for row in coordinators.live(session) if row.name == "cluster"]
    except DatabaseError:
        return "", 0
    return (rows[0].holder, rows[0].fence) if rows else ("", 0)


def goes_on(database: Database, before: int, fault: str) -> None:
    """Wait until more trials have ended, so that the next fault hits a working cluster."""

    def more() -> bool:
        try:
            return len(ended(database)) > before
        except DatabaseError:
            return False

    print(f"{fault}: next trial after {until(more, fault):.1f} s")
    until(lambda: len(ended(database)) >= before + AT_LEAST, "the trials after it")


def other_namespace() -> tuple[str, ...]:
    """Return a command prefix for a separate PID namespace, as on another machine; empty if not permitted."""
    words = ("unshare", "--pid", "--fork", "--mount-proc", "--kill-child")
    tried = subprocess.run([*words, "true"], capture_output=True, check=False)
    return words if tried.returncode == 0 else ()


def test_each_part_is_killed_once(processes: Processes, server: Server) -> None:
    database = open_database(server.url)
    ids = queue(database)
    processes.start("scheduler", "cluster", "scheduler", processes.address)
    for name in ("w1", "w2", "w3"):
        processes.start(name, "worker", "--scheduler", processes.address, "--name", name, "--nthreads", "1")
    coordinator = ("coordinator", "--scheduler", processes.address)
    processes.start("c1", *coordinator)
    until(lambda: leader(database)[1] == 1, "the first coordinator leads")
    print(f"first trial after {until(lambda: len(ended(database)) > 0, 'the first trial'):.1f} s")

    processes.kill("w1")
    before = ended(database)
    goes_on(database, len(before), "worker killed")

    processes.kill("scheduler")
    count = len(ended(database))
    time.sleep(2)
    processes.start("scheduler", "cluster", "scheduler", processes.address)
    goes_on(database, count, "scheduler killed, away for 2 s")

    count = len(ended(database))
    server.stop()
    time.sleep(2)
    server.start()
    goes_on(database, count, "database killed, away for 2 s")

    processes.start("c2", *coordinator, prefix=other_namespace())
    until(lambda: "coordinator waits" in processes.log("c2"), "the second coordinator waits")
    count, fence = len(ended(database)), leader(database)[1]
    processes.kill("c1")
    where = "another PID namespace" if other_namespace() else "this machine"
    taken_s = until(lambda: leader(database)[1] > fence, "takeover")
    print(f"coordinator killed: one in {where} leads after {taken_s:.1f} s (lease {LEASE_S} s)")
    goes_on(database, count, "coordinator killed")

    processes.start("w4", "worker", "--scheduler", processes.address, "--name", "w4", "--nthreads", "1")

    def over() -> bool:
        with database.read() as session:
            return not session.scalar(select(func.count()).where(Job.status.in_(("queued", "running"))))

    print(f"all over after {until(over, 'the end'):.1f} s more")
    after = ended(database)
    assert {trial: after.get(trial) for trial in before} == before, "a trial was lost or changed"
    with database.read() as session:
        jobs = {job.id: job for job in session.scalars(select(Job))}
        assert {job.status for job in jobs.values()} == {"succeeded"}, [job.error for job in jobs.values()]
        assert not session.scalar(select(func.count()).where(Trial.status == "pending"))
    for job_id in ids:
        mine = {number: config for (of, number), (config, _, _) in after.items() if of == job_id}
        assert sorted(mine) == list(range(TRIALS))
        assert len(set(mine.values())) == TRIALS
    attempts = sorted(job.attempts for job in jobs.values())
    print(f"{len(after)} trials of {JOBS} jobs, each once; attempts of the jobs {attempts}")
    assert all(status == "measured" for _, status, _ in after.values())
    database.close()


def test_a_worker_alone_needs_neither_database_nor_certificates_on_loopback(processes: Processes) -> None:
    processes.start("scheduler", "cluster", "scheduler", processes.address)
    processes.database_url = "postgresql://nobody@127.0.0.1:1/nothing"
    processes.start("w1", "worker", "--scheduler", processes.address, "--name", "w1")
    until(lambda: "worker offers its machine" in processes.log("w1"), "the worker")
    os.kill(processes.running["w1"].pid, 15)
    assert processes.running.pop("w1").wait(60) == 0
    shutil.rmtree(processes.folder / "w1", ignore_errors=True)
