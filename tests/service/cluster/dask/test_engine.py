"""Machines that go away: compilations run again elsewhere, launches end their executor, and nothing is sent twice."""

import threading
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from codegen import AnyArtifact, GemmProblem, KernelConfig
from codegen.workers.pool import Made
from db.queries.results import trials
from db.session import Database
from hal import Buffer, DeviceCrashed, DeviceSpec, DeviceTimedOut, LaunchSpec, RunReport, Timing
from service.artifacts import ArtifactStore
from service.cluster.coordinator import Coordinator
from service.cluster.dask.engine import DaskEngine
from service.cluster.executor import (
    Executor,
    ExecutorLost,
)
from service.cluster.shard import parse_shard
from service.jobs.job_runs import RunJob
from service.jobs.tuning import Tuning
from service.settings import Settings
from tests.db.databases import SQLITE_FIRST
from tests.faults.jobs import HERE, SPEC, TRIALS, check_whole, ended, job_of, queue
from tests.service.cluster.dask_cluster import Cluster, fake_plugin, running
from tests.tuner.fakes import SMALL, FakeCompilation, FakeCompiler, FakeDevice, artifact_of, refuse_rates
from tuner.backend import tuning_for
from tuner.errors import ProofFailed
from tuner.measure.measure import StartingDevice
from tuner.verify.reference import Reference
from tuner.verify.verify import verify_on_device

WAIT_S = 60.0
CONFIG = tuning_for(SPEC).default(SMALL, SPEC)
LAUNCH = artifact_of(SMALL, CONFIG).launch


@dataclass
class Held(FakeCompilation):
    """A compilation whose first result waits until it is let go."""

    entered: threading.Event = field(default_factory=threading.Event)
    go: threading.Event = field(default_factory=threading.Event)

    def result(self) -> AnyArtifact:
        if not self.entered.is_set():
            self.entered.set()
            assert self.go.wait(WAIT_S)
        return artifact_of(self.problem, self.config)

    def finished(self) -> Made[AnyArtifact]:
        return Made(self.result(), from_cache=True)


@dataclass
class Holding(FakeCompiler):
    """A compiler with one compilation."""

    held: Held = field(default_factory=lambda: Held(SMALL, CONFIG))

    def compile(self, problem: GemmProblem, config: KernelConfig, spec: DeviceSpec) -> Held:
        return self.held


class Hooked(FakeDevice):
    """A device that calls something before each launch."""

    before: Callable[[], None] = staticmethod(lambda: None)

    def run(
        self, launch: LaunchSpec, buffers: tuple[Buffer, ...], timing: Timing | None, timeout_s: float
    ) -> RunReport:
        refuse_rates(launch)
        self.before()
        return super().run(launch, buffers, timing, timeout_s)


class Starting(FakeDevice):
    """A device whose process starts as told: it keeps what it was given for that, and may not make it."""

    def __init__(self) -> None:
        super().__init__(SMALL, SPEC)
        self.given_s: list[float] = []
        self.is_late = False

    def start(self, timeout_s: float) -> None:
        self.given_s.append(timeout_s)
        if self.is_late:
            raise DeviceTimedOut(f"opening it: no answer within {timeout_s:.0f} s")


@pytest.fixture
def cluster(tmp_path: Path) -> Generator[Cluster]:
    """A scheduler."""
    with running(tmp_path) as made:
        yield made


@pytest.fixture
def start(cluster: Cluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., str]:
    """Starts a worker with a compiler and a device of the test's."""

    def started(name: str, compiler: object = None, device: FakeDevice | None = None, version: str = "") -> str:
        made = device or FakeDevice(SMALL, SPEC)
        plugin = fake_plugin(
            monkeypatch, tmp_path, [HERE], compiler or FakeCompiler(), lambda _: made, f"host of {name}"
        )
        if version:
            plugin.offer = replace(plugin.offer, version=version)
        return cluster.start_worker(name, plugin)

    return started


def until(condition: Callable[[], bool]) -> None:
    """Return when it holds."""
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline, "it did not come true"
        time.sleep(0.02)


def at(executor: Executor, buffers: tuple[Buffer, ...]) -> RunReport:
    """One launch at an executor."""
    with executor.opened(executor.resolve(SPEC.id), lambda: False, "a test", lambda _: None) as device:
        assert device is not None
        return device.run(LAUNCH, buffers, None, 30.0)


def test_a_device_starts_there_within_the_seconds_that_are_given_and_again_after_a_failure(
    cluster: Cluster, start: Callable[..., str]
) -> None:
    there, buffers = Starting(), Reference(SMALL, 7).buffers()
    start("w1", device=there)
    engine = cluster.engine()
    until(lambda: len(engine.executors()) == 2)
    executor = next(executor for executor in engine.executors() if not executor.predicts)
    with executor.opened(executor.resolve(SPEC.id), lambda: False, "a test", lambda _: None) as device:
        assert isinstance(device, StartingDevice)
        there.is_late = True
        with pytest.raises(DeviceTimedOut, match="opening it: no answer within 300 s"):
            device.start(300.0)
        there.is_late = False
        device.start(200.0)
        device.run(LAUNCH, buffers, None, 30.0)
        device.start(150.0)  # it is up
        there.every = DeviceCrashed("SIGSEGV")
        with pytest.raises(DeviceCrashed):
            device.run(LAUNCH, buffers, None, 30.0)
        device.start(100.0)
    assert [round(each, -1) for each in there.given_s] == [300.0, 200.0, 100.0]
    engine.close()


@pytest.mark.slow
def test_places_come_and_go_with_workers(cluster: Cluster, start: Callable[..., str]) -> None:
    engine = cluster.engine()
    assert engine.executors() == ()
    start("w1")
    start("w2")
    until(lambda: len(engine.executors()) == 3)
    assert sorted(executor.host for executor in engine.executors() if not executor.predicts) == [
        "host of w1",
        "host of w2",
    ]
    assert [each.listed.spec.id for each in engine.reached()] == [SPEC.id] * 2
    shards = [DaskEngine(cluster.link, parse_shard(text)) for text in ("1/2", "2/2")]
    mine = [executor.id for shard in shards for executor in shard.executors()]
    assert sorted(mine) == sorted(executor.id for executor in engine.executors())
    assert [shard.name for shard in shards] == ["cluster 1/2", "cluster 2/2"]
    for shard in shards:
        shard.close()
    cluster.close_worker("w1")
    until(lambda: [executor.host for executor in engine.executors() if not executor.predicts] == ["host of w2"])
    engine.close()


def test_a_worker_of_another_version_is_left_alone(cluster: Cluster, start: Callable[..., str]) -> None:
    engine = cluster.engine()
    start("old", version="0.0.1")
    start("new")
    until(lambda: len(engine.executors()) == 2)
    assert {executor.host for executor in engine.executors() if not executor.predicts} == {"host of new"}
    engine.close()


def test_a_compilation_of_a_lost_machine_runs_on_another(cluster: Cluster, start: Callable[..., str]) -> None:
    engine, holding = cluster.engine(), Holding()
    start("w1", holding)
    until(lambda: len(engine.executors()) == 2)
    with engine.executors()[0].compilers(Path("unused")) as compilers:
        compilation = compilers.compile(SMALL, CONFIG, SPEC)
        assert holding.held.entered.wait(WAIT_S)
        start("w2")
        cluster.close_worker("w1")
        assert compilation.result() == artifact_of(SMALL, CONFIG)
        assert compilers.compile(SMALL, CONFIG, SPEC).result() == artifact_of(SMALL, CONFIG)
        assert (compilers.uses.hits, compilers.uses.misses) == (0, 2)
    holding.held.go.set()
    engine.close()


def test_a_compilation_outlives_the_scheduler(cluster: Cluster, start: Callable[..., str]) -> None:
    engine, holding = cluster.engine(), Holding()
    start("w1", holding)
    until(lambda: len(engine.executors()) == 2)
    with engine.executors()[0].compilers(Path("unused")) as compilers:
        compilation = compilers.compile(SMALL, CONFIG, SPEC)
        assert holding.held.entered.wait(WAIT_S)
        threading.Timer(0.3, holding.held.go.set).start()  # a worker that closes waits for what it does
        cluster.close_scheduler()
        cluster.start_scheduler()
        start("w2")
        assert compilation.result() == artifact_of(SMALL, CONFIG)
    engine.close()


@pytest.mark.parametrize("what", ["worker", "scheduler"])
def test_a_launch_whose_machine_is_lost_ends_its_place(cluster: Cluster, start: Callable[..., str], what: str) -> None:
    engine, device = cluster.engine(), Hooked(SMALL, SPEC)
    entered, go = threading.Event(), threading.Event()

    def hold() -> None:
        entered.set()
        assert go.wait(WAIT_S)

    device.before = hold
    start("w1", device=device)
    until(lambda: len(engine.executors()) == 2)
    end = cluster.close_scheduler if what == "scheduler" else lambda: cluster.close_worker("w1")

    def lose() -> None:
        assert entered.wait(WAIT_S)
        end()

    losing = threading.Thread(target=lose)
    losing.start()
    with pytest.raises(ExecutorLost, match="is lost"):
        at(engine.executors()[0], Reference(SMALL, 7).buffers())
    go.set()
    losing.join(WAIT_S)
    engine.close()


def test_buffers_are_sent_once(cluster: Cluster, start: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    engine = cluster.engine()
    start("w1")
    until(lambda: len(engine.executors()) == 2)
    sent: list[int] = []
    scatter = engine.scatter
    monkeypatch.setattr(engine, "scatter", lambda data, address: sent.append(len(data)) or scatter(data, address))
    first, other = Reference(SMALL, 7), Reference(SMALL, 8)
    for reference in (first, first, other):
        at(engine.executors()[0], reference.buffers())
    assert sent == [3, 2]  # of the second problem's, the poison in C was there already
    engine.close()


def test_numbers_are_compared_where_the_device_is(
    cluster: Cluster, start: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, device = cluster.engine(), FakeDevice(SMALL, SPEC)
    start("w1", device=device)
    until(lambda: len(engine.executors()) == 2)
    monkeypatch.setattr(engine, "scatter", lambda *_: pytest.fail("operands travelled"))
    executor, kernel, reference = engine.executors()[0], artifact_of(SMALL, CONFIG), Reference(SMALL, 7)
    with executor.opened(executor.resolve(SPEC.id), lambda: False, "a test", lambda _: None) as opened:
        assert opened is not None
        proof, report = verify_on_device(opened, kernel, reference, Timing(), 30.0)
        here = verify_on_device(FakeDevice(SMALL, SPEC), kernel, reference, Timing(), 30.0)
        assert (proof, report.times_us, report.outputs) == (here[0], here[1].times_us, {})

        def wrong(c: Buffer) -> None:
            c[3, 5] += 1

        device.every = wrong
        with pytest.raises(ProofFailed, match="1 elements are wrong") as failed:
            verify_on_device(opened, kernel, reference, Timing(), 30.0)
        assert failed.value.proof.max_error == pytest.approx(1.0, rel=0.1)
    engine.close()


@pytest.mark.parametrize("database", SQLITE_FIRST, indirect=True)
@pytest.mark.slow
def test_a_job_goes_on_at_another_machine(
    cluster: Cluster, start: Callable[..., str], database: Database, tmp_path: Path
) -> None:
    """Through the coordinator, with the tuner: the machine goes away in the third trial."""
    job_id, second, closed = queue(database), threading.Event(), threading.Event()
    device = Hooked(SMALL, SPEC)

    def change() -> None:
        start("w2")
        cluster.close_worker("w1")
        closed.set()

    def leave() -> None:
        if len(ended(database, job_id)) == 2 and not second.is_set():
            second.set()
            threading.Thread(target=change).start()
            assert closed.wait(WAIT_S)

    device.before = leave
    start("w1", device=device)
    artifacts = ArtifactStore(tmp_path / "artifacts")

    def run_at(fenced: Database, executor: Executor) -> RunJob:
        return Tuning(fenced, artifacts, tmp_path / "cache", executor=executor).run

    engine = cluster.engine()
    settings = Settings(data_dir=tmp_path, worker_poll_s=0.1)
    coordinator = Coordinator(database, settings, engine, run_at)
    thread = threading.Thread(target=coordinator.run)
    thread.start()
    try:
        until(lambda: job_of(database, job_id).status not in ("queued", "running"))
    finally:
        coordinator.stop()
        thread.join(WAIT_S)
        engine.close()
    assert second.is_set()
    check_whole(database, job_id, artifacts)
    assert job_of(database, job_id).attempts == 2
    with database.read() as session:
        assert len(trials.list_page(session, job_id)) == TRIALS
