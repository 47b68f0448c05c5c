"""A job has its device for itself, and what it found is kept only while the job is its worker's."""

import os
import threading
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

import pytest

from codegen import GemmProblem
from db.errors import LeaseLost
from db.queries.cluster import leases
from db.schema.job import Job
from db.session import Database, open_database
from db.values import utc_now
from hal import SimulatedDevice, find
from hal.devices.listed import NATIVE, ListedDevice, Runtime
from hal.driver.installed import Driver
from hal.driver.simulated_gpus import SIMULATED_GPUS
from service.api.jobs.service import read_job
from service.api.jobs.wall import wall_sentence
from service.api.toolchain.driver import acceptor_for
from service.artifacts import ArtifactStore
from service.cluster import local
from service.cluster.executor import OpenedDevice
from service.cluster.local import LocalExecutor, hardware_of
from service.jobs import (
    device_lock,
    tuning,
)
from service.jobs.job_runs import (
    ClaimedJob,
    JobEnd,
)
from service.jobs.tuning import Tuning
from tests.db import rows
from tests.tuner.fakes import FakeCompiler, cpu_spec, emulated
from tuner.search.method import Method
from tuner.session.budget import Budget
from tuner.session.job_spec import JobSpec
from tuner.session.result import (
    Comparison,
    Stop,
    WallTime,
)

SPEC = emulated()
HERE = ListedDevice(SPEC, Runtime.OPENCL, "0:0", runnable=True, targetable=True, note="")
NOTHING_FOUND = SimpleNamespace(stop=Stop.TRIALS, best=None, comparison=None, space_version="0" * 64)


def answers(value: object) -> Callable[..., object]:
    """A function that gives that value whatever it is asked."""

    def answer(*_: object, **__: object) -> object:
        return value

    return answer


def never(*_: object, **__: object) -> object:
    """Stands for a session that must not begin."""
    pytest.fail("it ran")


@pytest.fixture
def tune(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, sqlite_url: str) -> Callable[[], Tuning]:
    """Makes what processes of their own would have: nothing shared but the database and the locks."""
    monkeypatch.setattr(local, "CompilePool", answers(nullcontext(FakeCompiler())))
    monkeypatch.setattr(local, "open_device", answers(SimpleNamespace(close=answers(None), restarts=2)))
    monkeypatch.setattr(device_lock, "_POLL_S", 0.01)

    def made() -> Tuning:
        artifacts = ArtifactStore(tmp_path / "artifacts")
        database = open_database(sqlite_url)
        here = LocalExecutor(lambda _: HERE, tmp_path / "locks")
        return Tuning(database, artifacts, tmp_path / "cache", executor=here)

    return made


def claimed(database: Database, worker: str) -> ClaimedJob:
    """A job that `worker` has."""
    with database.write() as session:
        job_id = rows.add_job(session, SPEC.id).id
        leases.claim(session, job_id, worker, 60.0)
    return ClaimedJob(
        job_id, worker, JobSpec(problem=GemmProblem(96, 64, 128), device=SPEC, budget=Budget(1, 1.0), seed=7)
    )


def test_two_jobs_on_one_device_take_turns(tune: Callable[[], Tuning], monkeypatch: pytest.MonkeyPatch) -> None:
    inside, most, waits = 0, 0, threading.Event()

    def session(*_: object, **__: object) -> object:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        waits.wait(10)  # until the other one has found the device in use
        inside -= 1
        return NOTHING_FOUND

    def heard(_message: str) -> None:
        waits.set()

    monkeypatch.setattr(tuning, "run_session", session)
    monkeypatch.setattr(device_lock, "_log", SimpleNamespace(info=heard))
    ends: list[JobEnd] = []

    def run(worker: str) -> None:
        mine = tune()
        ends.append(mine.run(claimed(mine.database, worker), threading.Event()))
        mine.database.close()

    threads = [threading.Thread(target=run, args=(f"w{n}",)) for n in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert (ends, most) == ([JobEnd.SUCCEEDED] * 2, 1)
    assert waits.is_set()


def test_who_waits_for_a_device_is_told_whose_job_has_it(tune: Callable[[], Tuning], tmp_path: Path) -> None:
    mine, interrupt = tune(), threading.Event()
    job = claimed(mine.database, "w")
    told: list[str] = []

    def hear(message: str) -> None:
        told.append(message)
        interrupt.set()

    waiting = replace(mine, on_wait=hear)
    with device_lock.only_user("cpu", tmp_path / "locks", lambda: False, "job 7") as held:
        assert held
        assert waiting.run(job, interrupt) is JobEnd.INTERRUPTED
    assert told == [f"waits for device cpu, which job 7, process {os.getpid()}, uses"]
    assert (tmp_path / "locks" / "cpu.lock").read_text() == ""  # who comes next waits for nobody of that name
    mine.database.close()


@pytest.mark.parametrize("how", [JobEnd.INTERRUPTED, JobEnd.CANCELLED])
def test_a_job_that_waits_for_its_device_can_be_stopped(
    tune: Callable[[], Tuning], monkeypatch: pytest.MonkeyPatch, how: JobEnd, tmp_path: Path
) -> None:
    monkeypatch.setattr(tuning, "run_session", never)
    mine, interrupt = tune(), threading.Event()
    job = claimed(mine.database, "w")

    def stop(_message: str) -> None:
        if how is JobEnd.INTERRUPTED:
            interrupt.set()
            return
        with mine.database.write() as session:
            leases.request_cancel(session, job.id)

    monkeypatch.setattr(device_lock, "_log", SimpleNamespace(info=stop))
    with device_lock.only_user("cpu", tmp_path / "locks", lambda: False) as held:
        assert held
        assert mine.run(job, interrupt) is how
    mine.database.close()


def test_the_result_of_a_job_that_another_took_is_not_kept(
    tune: Callable[[], Tuning], monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = tune()
    job = claimed(mine.database, "slow")

    def session(*_: object, **__: object) -> object:
        with mine.database.write() as writing:
            rows.add_trial(writing, job.id, 0)
            leases.release_all(writing, "slow")
            leases.claim(writing, job.id, "next", 60.0, now=utc_now())
        compared = Comparison(default_us=4.0, best_us=2.0, remeasured=True)
        return SimpleNamespace(stop=Stop.TRIALS, best=SimpleNamespace(number=0), comparison=compared)

    monkeypatch.setattr(tuning, "run_session", session)
    with pytest.raises(LeaseLost, match="slow"):
        mine.run(job, threading.Event())
    assert best_us(mine.database, job.id) is None
    mine.database.close()


def best_us(database: Database, job_id: UUID) -> float | None:
    """The kept median of a job's best."""
    with database.read() as session:
        job = rows.jobs.get(session, job_id)
        assert job is not None
        return job.compared_best_us


def test_stand_ins_share_the_cpu_that_they_run_on(
    tune: Callable[[], Tuning], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    mine = tune()
    monkeypatch.setattr(tuning, "run_session", answers(NOTHING_FOUND))
    mine.run(claimed(mine.database, "w"), threading.Event())
    assert SPEC.id != "opencl-cpu"
    assert [path.name for path in (tmp_path / "locks").iterdir()] == ["cpu.lock"]
    mine.database.close()


def test_the_cpu_takes_turns_with_its_stand_ins_and_not_with_a_gpu() -> None:
    own = ListedDevice(cpu_spec(), Runtime.HOST, NATIVE, runnable=True, targetable=True, note="")
    gpu = ListedDevice(replace(find("b580"), id="b580-2"), Runtime.OPENCL, "x", runnable=True, targetable=True, note="")
    assert hardware_of(own) == hardware_of(HERE) != hardware_of(gpu) == "b580-2"


def test_finalists_are_compiled_for_the_device_of_the_job(
    tune: Callable[[], Tuning], monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[object] = []

    def session(*arguments: object, **_: object) -> object:
        given.append(arguments[-1])
        return NOTHING_FOUND

    monkeypatch.setattr(tuning, "run_session", session)
    mine = replace(tune(), native_for=lambda spec: answers(spec))
    mine.run(claimed(mine.database, "w"), threading.Event())
    (native,) = given
    assert callable(native)
    assert native() is SPEC
    mine.database.close()


def test_the_driver_accepts_kernels_of_absent_gpus_alone_and_is_closed(tune: Callable[[], Tuning]) -> None:
    closed: list[str] = []

    class Acceptor(SimulatedDevice):
        def close(self) -> None:
            closed.append(self.gpu.id)

    driver = Driver(Path("/nowhere"), "26.27.1", {})
    mine = replace(tune(), acceptor_for=lambda _: Acceptor(driver, SIMULATED_GPUS[0]))
    with mine.accepting(SPEC, None) as acceptor:
        assert isinstance(acceptor, Acceptor)
        assert closed == []
    assert closed == ["simulated-driver-b580"]
    with mine.accepting(SPEC, cast("OpenedDevice", object())) as acceptor:
        assert acceptor is None
    with tune().accepting(SPEC, None) as acceptor:
        assert acceptor is None
    assert acceptor_for(driver, find("b70")) is not None
    assert acceptor_for(driver, find("wildcat-lake")) is None
    assert acceptor_for(driver, cpu_spec()) is None
    assert acceptor_for(None, find("b70")) is None
    mine.database.close()


@pytest.mark.parametrize(("method", "begins"), [(Method.RANDOM, []), (Method.EXHAUSTIVE, []), (Method.GP, ["donor"])])
def test_a_method_that_ignores_donors_chooses_and_shows_none(
    tune: Callable[[], Tuning], monkeypatch: pytest.MonkeyPatch, method: Method, begins: list[str]
) -> None:
    seen: list[object] = []

    def session(*_: Any, **given: Any) -> object:
        seen.append(given["donors"])
        return NOTHING_FOUND

    monkeypatch.setattr(tuning, "run_session", session)
    monkeypatch.setattr(tuning, "donors_for", lambda *_: ["donor"])
    tunes = tune()
    job = claimed(tunes.database, "w")
    tunes.run(replace(job, spec=replace(job.spec, search=method)), threading.Event())
    assert seen == [begins]


def test_what_runs_took_adds_up_and_lost_device_processes_with_it(
    tune: Callable[[], Tuning], monkeypatch: pytest.MonkeyPatch
) -> None:
    took = WallTime(total_s=10, propose_s=1, compile_s=9, wait_s=2, verify_s=3, measure_s=2.5, compare_s=0.5)

    def session(*given: Any, **_: object) -> object:
        given[1].restarts += 2
        given[4](took)
        return NOTHING_FOUND

    monkeypatch.setattr(tuning, "run_session", session)
    tunes = tune()
    job = claimed(tunes.database, "w")
    for _ in range(2):
        tunes.run(job, threading.Event())
    with tunes.database.read() as session_:
        wall = read_job(session_, job.id).wall
        stop = session_.get_one(Job, job.id).stop
    assert stop == "trials"
    assert wall is not None
    assert wall.model_dump() == {name: 2 * value for name, value in asdict(took).items()} | {"device_restarts": 4}
    sentence = wall_sentence(wall)
    assert sentence.startswith("20.0 s: verifying 30 %, measuring 25 %, waiting for kernels 20 %, proposing 10 %,")
    assert "generating inputs, starting the device and storing 10 %" in sentence, "the parts are the whole"
    assert sentence.endswith("concurrently, compiling 90 %; the device's process restarted 4 times")
