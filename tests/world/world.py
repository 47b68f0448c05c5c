"""A whole service in this process on a virtual clock: coordinators, executors, schedules, requests and a database.

The product runs unchanged between simulated seams: threads and clocks of the standard library, the driver of the
database, compilers, devices, artifact files, and the names of processes.
"""

from __future__ import annotations

import random
import shutil
import tempfile
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

import pytest
import structlog
from starlette.responses import Response

from codegen import GemmProblem
from codegen.artifact.files import write_atomically
from codegen.serialization import content_hash
from db import values
from db.errors import DatabaseError
from db.migrate import upgrade
from db.queries.cluster import leases
from db.queries.results import kernels
from db.session import Database, make_engine
from hal.devices.listed import ListedDevice
from service.api.devices.directory import DeviceDirectory
from service.api.jobs.requests import submit
from service.api.kernels import withdrawal
from service.api.kernels.lookup.exact import exact_answers
from service.api.kernels.lookup.next_requests import Accepted
from service.api.keys.caller import COMMAND_LINE
from service.api.schedules import service as schedules
from service.api.schedules.clock import ScheduleClock
from service.api.schedules.schemas import ScheduleBody
from service.api.shapes.requests import SetRequest
from service.api.shapes.requests import submit as submit_set
from service.api.shapes.running import run_set
from service.artifacts import ArtifactStore
from service.cluster.coordinator import Clock, Coordinator
from service.cluster.executor import Engine, Executor
from service.cluster.local import LocalEngine
from service.errors import Unavailable
from service.http.context import Context
from service.http.idempotency import Once, Replay
from service.jobs.tuning import Tuning
from service.settings import Settings
from tests.world import database, imports, standard
from tests.world.faults import Faults
from tests.world.invariants import Invariants
from tests.world.machines import HERE, RATE_LOOP, SPEC, Cluster, SimCompiler, SimDevice, Truth, executor_of
from tests.world.plan import Fault, Kind, planned
from tests.world.standard import Event, Running
from tests.world.virtual import Broken, Host, Killed, Process, Scheduler
from tuner.session.budget import Budget
from tuner.session.job_spec import JobOptions, JobSpec
from tuner.shapes.shape import Shape

FAULT_STEPS, MOST_STEPS, LONGEST_S = 250, 6000, 3 * 3600.0
SCHEDULED_S = 200.0
PROBLEMS = tuple(GemmProblem(m, n, k) for m, n, k in ((24, 40, 56), (16, 24, 40), (8, 40, 24), (32, 8, 16)))

_DELAYS = (Kind.STALL, Kind.GONE, Kind.SLOW, Kind.CUT, Kind.LATE_REPORT)

# Modules of the product that use these modules of the standard library between the seams.
_THREADING = (
    "service.cluster.coordinator service.jobs.heartbeat service.jobs.device_lock tuner.measure.measure"
    " service.api.devices.directory"
)
_TIME = (
    "service.cluster.coordinator tuner.session.session tuner.session.budget tuner.measure.measure db.values"
    " tuner.measure.trial_runner tuner.measure.measure_configs tuner.measure.interleaved_timing tuner.verify.verify"
    " tuner.search.search_driver tuner.shapes.compare_kernels service.api.shapes.searching service.api.shapes.state"
)


@contextmanager
def simulated(patch: pytest.MonkeyPatch) -> Generator[None]:
    """Put the simulated seams in place; the world that runs is `Running.scheduler`."""
    for name in _THREADING.split():
        patch.setattr(f"{name}.threading", standard.Threading)
    for name in _TIME.split():
        patch.setattr(f"{name}.time", standard.Time)
    for name in ("tuner.search.search_driver", "tuner.measure.kernels"):
        patch.setattr(f"{name}.ThreadPoolExecutor", standard.Executor)
    patch.setattr("db.values.datetime", standard.DateTime)
    patch.setattr("db.values.secrets", standard.Secrets)
    patch.setattr("service.api.schedules.clock.BackgroundScheduler", standard.BackgroundScheduler)
    patch.setattr("service.api.schedules.clock.datetime", standard.DateTime)
    patch.setattr("service.artifacts.write_atomically", lambda *args, **how: World.get().write(*args, **how))
    patch.setattr("service.api.exchange.importing._PORTION", imports.PORTION)
    patch.setattr("service.cluster.local.CompilePool", lambda *_: World.get().compilers())
    patch.setattr("service.cluster.local.open_device", lambda _: World.get().open_device())
    for name in ("multiply_loop", "read_loop"):
        patch.setattr(f"tuner.measure.cpu_rates.{name}", lambda *_: (RATE_LOOP, 100_000_000))
    names = "service.jobs.worker_names"
    patch.setattr(f"{names}.os", SimpleNamespace(getpid=lambda: Running.get().process.pid))
    host = SimpleNamespace(gethostname=lambda: Running.get().process.host.name)
    patch.setattr(f"{names}.socket", host)
    patch.setattr("service.api.devices.quarantine.socket", host)
    patch.setattr(f"{names}._place", lambda: f"{Running.get().process.host.name}:ns")
    patch.setattr(f"{names}._start_ticks", lambda pid: World.get().started_at(pid))
    patch.setattr(f"{names}._exists", lambda pid: World.get().started_at(pid) is not None)
    for name in ("service.jobs.restrictions", "service.jobs.heartbeat"):
        patch.setattr(f"{name}.version", cache(metadata.version))  # reads the same file each time
    database.compile_once(patch)
    before = structlog.get_config()
    structlog.configure(processors=[_to_story], cache_logger_on_first_use=False)
    try:
        yield
    finally:
        structlog.configure(**before)


def _to_story(_logger: object, _method: str, line: Any) -> Any:
    if Running.scheduler is not None:
        said = " ".join(f"{name}={value}" for name, value in line.items() if name not in ("event", "exc_info"))
        Running.scheduler.tell(f"log: {line['event']} {said}")
    raise structlog.DropEvent


@dataclass
class Planned:
    """The parts of a Context that schedules and repeated requests use."""

    settings: Settings
    database: Database
    devices: DeviceDirectory
    artifacts: ArtifactStore
    now: Callable[[], Any] = values.utc_now


@dataclass
class Asked:
    """A request of the client until it is answered."""

    name: str
    key: str
    handle: Callable[[Context, Once], UUID | None]
    check: Callable[[], None] = lambda: None  # at each answer
    reply: list[UUID | None] = field(default_factory=list)


class World:
    """One world; `run` returns when all work is done, or raises Broken. `plan` replaces the faults of the seed."""

    present: World | None = None

    @classmethod
    def get(cls) -> World:
        """Return the world that runs."""
        assert cls.present is not None
        return cls.present

    def __init__(self, seed: int, folder: Path, plan: Sequence[Fault] | None = None) -> None:
        self.seed, self.folder = seed, folder
        self.scheduler = Scheduler(seed)
        self.numbers = random.Random(f"work {seed}")
        self.hosts = [
            Host(f"host-{letter}", self.numbers.uniform(-2, 2)) for letter in "abc"[: self.numbers.randint(1, 3)]
        ]
        self.desk = Host("desk")
        faults = planned(seed, FAULT_STEPS) if plan is None else plan
        self.faults = Faults(self.scheduler, self.hosts, list(faults))
        self.scheduler.alarms = lambda: [at_s for at_s, _ in self.faults.restarts]
        self.truth = Truth()
        path = folder / "world.sqlite"
        shutil.copy(template(), path)
        self.artifacts = ArtifactStore(folder / "artifacts")
        self.artifacts.root.mkdir()
        self.invariants = Invariants(path, self.artifacts, self.scheduler, self.truth)
        self.invariants.slack_s += sum(fault.seconds for fault in faults if fault.kind in _DELAYS)
        self.server = database.Server(path, self.scheduler, self.faults, self.invariants.after_commit)
        self.settings = Settings(
            data_dir=folder,
            worker_poll_s=20.0,
            coordinator_lease_s=90.0,
            lease_s=120.0,
            heartbeat_s=120.0,
            scheduler_poll_s=30.0,
            quarantine_s=200.0,
        )
        self.asked_all = self.has_schedule = False

    def run(self) -> None:
        """Run until all work is done.

        Raises:
            Broken: an invariant does not hold.
        """
        World.present, Running.scheduler = self, self.scheduler
        standard.Secrets.numbers = random.Random(f"ids {self.seed}")
        values._last = 0
        try:
            self._begin()
            healed_s: float | None = None
            while True:
                self.faults.begin()
                self.faults.restart()
                if not self.scheduler.turn() and not self.faults.restarts:
                    raise Broken("nothing runs any more")
                if healed_s is None and (self.scheduler.step >= FAULT_STEPS or self._is_done()):
                    self.faults.heal()
                    healed_s = self.scheduler.now_s
                if healed_s is not None and self.scheduler.step % 10 == 0 and self._is_done():
                    break
                if self.scheduler.step > MOST_STEPS or self.scheduler.now_s > (healed_s or 0) + LONGEST_S:
                    raise Broken(f"not done: {self._left()}")
            self.invariants.at_end()
        finally:
            self.scheduler.close()
            self.invariants.rows.close()
            World.present = Running.scheduler = None

    # Seams that the product calls.

    def started_at(self, pid: int) -> int | None:
        """Return when the process of that id on this host started; None if there is none."""
        here = self.scheduler.process.host
        living = (p.started for p in self.scheduler.processes if p.alive and p.host is here and p.pid == pid)
        return next(living, None)

    @contextmanager
    def compilers(self) -> Generator[SimCompiler]:
        """Return the compile workers of this host."""
        yield SimCompiler(self, lambda: None)

    def open_device(self) -> SimDevice:
        """Return the device of this host."""
        return SimDevice(self, self.scheduler.process.host, lambda: None)

    def write(self, path: Path, data: bytes, **how: bool) -> None:
        """Write an artifact."""
        host, process = self.scheduler.process.host, self.scheduler.process
        self.scheduler.point("writes an artifact")
        if host.disk_full_until_s > self.scheduler.now_s:
            raise OSError(28, "No space left on device")
        if self.faults.take(Kind.TORN):
            path.with_name(f".{path.name[:8]}.tmp").write_bytes(data[: len(data) // 2])
            self.faults.kill(process, "in the middle of an artifact")
        if self.faults.take(Kind.TORN_FILE):
            path.write_bytes(data[: len(data) // 2])
            for each in [p for p in self.scheduler.processes if p.host is host and p is not process]:
                self.faults.kill(each, "with its host")
            self.faults.kill(process, "with its host")
        write_atomically(path, data, **how)

    # Its processes.

    def _begin(self) -> None:
        numbers = self.numbers
        for host in self.hosts[: numbers.randint(1, len(self.hosts))]:
            self.scheduler.start(host, "service", self._service)
        self.has_cluster = len(self.hosts) > 1 and numbers.random() < 0.5
        if self.has_cluster:
            for host in self.hosts[:2]:
                self.scheduler.start(host, "cluster", partial(self._coordinator, Cluster(self, self.hosts)))
        else:
            for host in self.hosts:
                self.scheduler.start(host, "worker", partial(self._coordinator, None))
        self.scheduler.start(self.desk, "client", self._client)

    def _coordinator(self, engine: Cluster | None, process: Process) -> None:
        opened = self.server.open(process)
        local = executor_of(self, process.host)

        def tuning(fenced: Database, executor: Executor) -> Tuning:
            return Tuning(fenced, self.artifacts, self.folder / "cache", executor=executor)

        made = Coordinator(
            opened,
            self.settings,
            cast(Engine, engine or LocalEngine(local)),
            lambda fenced, executor: tuning(fenced, executor).run,
            clock=Clock(wait=self._wait, start=lambda thread: thread.start()),
            set_at=lambda fenced, executor: partial(run_set, tuning(fenced, executor), self.settings),
        )
        process.stop = made.stop
        made.run()

    def _wait(self, event: threading.Event, seconds: float) -> bool:
        return self.scheduler.wait("waits", seconds, event.is_set)

    def _service(self, process: Process) -> None:
        opened = self.server.open(process)
        directory = DeviceDirectory(lambda: [HERE, imports.ELSEWHERE], 1e9)
        process.context = cast(Context, Planned(self.settings, opened, directory, self.artifacts))
        clock, stopped = ScheduleClock(process.context), Event()
        process.stop = stopped.set
        try:
            clock.start()
            stopped.wait()
            process.context = None
            clock.stop()
        except Killed:
            with suppress(Killed):  # here, else when the garbage collector finds its generator
                clock._presence.close()
            raise

    def _client(self, _process: Process) -> None:
        numbers, requests = self.numbers, self._requests()
        for request in requests:
            self.scheduler.wait("thinks", numbers.choice((0.0, 0.0, 5.0, 40.0)))
            self._ask(request)
        self.asked_all = True
        self.scheduler.wait("is done", None)

    def _ask(self, request: Asked) -> None:
        """Send a request until it is answered; earlier sendings may still be under way."""
        while True:
            living = [p for p in self.scheduler.processes if p.alive and p.context is not None]
            if living:
                process = self.numbers.choice(living)
                count = len(request.reply)
                self.scheduler.spawn(process, f"request {request.name}", partial(self._handle, process, request))
                got = self.scheduler.wait("waits for an answer", 30.0, lambda count=count: len(request.reply) > count)
                if got and not self.faults.take(Kind.LOST_ANSWER):
                    return
            else:
                self.scheduler.wait("finds no service", 10.0)

    def _handle(self, process: Process, request: Asked) -> None:
        """A request in a service: what a route does."""
        context = process.context
        if context is None:
            return
        once = Once(context, "client", request.key or None, content_hash(request.name))
        try:
            once.check()
            made = request.handle(context, once)
        except Replay as replay:
            made = UUID(replay.body.strip('"')) if replay.body else None
        except (DatabaseError, Unavailable) as error:
            self.scheduler.tell(f"503: {error}")
            return
        self.scheduler.tell(f"answers {request.name}")
        request.check()
        if made is not None:
            self.invariants.at_answer(request.key, made)
        request.reply.append(made)

    def _requests(self) -> list[Asked]:
        numbers, made = self.numbers, list[Asked]()
        for number in range(numbers.choice((1, 1, 1, 2))):
            spec = JobSpec(
                problem=numbers.choice(PROBLEMS),
                device=SPEC,
                budget=Budget(numbers.choice((1, 2, 2, 3)), numbers.choice((40.0, 600.0))),
                seed=number,
                search=numbers.choice(("random", "random", "random", "portfolio")),
            )
            made.append(Asked(f"job {number}", f"key {number}", partial(_post_job, spec)))
        if numbers.random() < 0.3:
            victim = numbers.choice(made)
            made.append(Asked(f"cancel {victim.name}", "", partial(_cancel, victim)))
        if numbers.random() < 0.2:
            shapes = tuple(Shape(problem, 1.0 + i) for i, problem in enumerate(numbers.sample(PROBLEMS, 2)))
            options = JobOptions(budget=Budget(numbers.randint(2, 4), 600.0), seed=5, search="random")
            request = SetRequest("two shapes", shapes, SPEC, options, 0.05)
            made.append(Asked("set", "key set", partial(_post_set, request)))
        if numbers.random() < 0.2:
            made.append(Asked("withdrawal", "", _withdraw))
        self.has_schedule = numbers.random() < 0.3
        if self.has_schedule:
            body = ScheduleBody.model_validate(
                {
                    "name": "often",
                    "cron": numbers.choice(("* * * * *", "*/2 * * * *")),
                    "timezone": "UTC",
                    "misfire_grace_s": numbers.choice((20, 3600)),
                    "missed": {"policy": numbers.choice(("skip", "once", "all")), "most": 2},
                    "job": {
                        "problem": {"m": 16, "n": 8, "k": 24},
                        "device": SPEC.id,
                        "budget": {"trials": 1, "seconds": 60.0},
                        "search": "random",
                    },
                }
            )
            made.append(Asked("schedule", "key schedule", partial(_post_schedule, body)))
        numbers.shuffle(made)
        made.sort(key=lambda each: each.name.startswith(("cancel", "withdrawal")))
        for place in sorted(numbers.sample(range(len(made) + 1), 1)):
            made.insert(place, Asked("lookup", "", partial(self._look_up, HERE)))
        made.append(Asked("lookup", "", partial(self._look_up, HERE)))
        self._add_imports(made)
        return made

    def _add_imports(self, made: list[Asked]) -> None:
        self.invariants.imported.files = imports.drawn(self.seed)
        for place, file in enumerate(self.invariants.imported.files):
            handle = partial(self._import, file)
            check = partial(self.invariants.imported.at_answer, file)
            made.insert(min(2 * place, len(made)), Asked(f"import of {file.name}", f"key {file.name}", handle, check))

    def _import(self, file: imports.ResultFile, context: Context, once: Once) -> UUID | None:
        return imports.take_in(file, context, self.folder, once, _keep)

    def _look_up(self, device: ListedDevice, context: Context, _once: Once) -> None:
        with context.database.read() as session:
            found = exact_answers(session, PROBLEMS, Accepted(device, context.settings), context.now())
            imported = Accepted(imports.ELSEWHERE, context.settings)
            elsewhere = exact_answers(session, imports.PROBLEMS, imported, context.now())
        for each in found.values():
            self.invariants.at_lookup(each.answer)
        for each in elsewhere.values():
            self.invariants.at_imported(each.answer)

    # What is left to do.

    def _left(self) -> str:
        rows = self.invariants.rows
        active = rows.execute("SELECT count(*) FROM job WHERE status IN ('queued', 'running')").fetchone()[0]
        sets = rows.execute("SELECT count(*) FROM shape_set WHERE status = 'active'").fetchone()[0]
        text = f"{active} jobs and {sets} sets are active"
        return text if self.asked_all else f"{text}, requests are unanswered"

    def _is_done(self) -> bool:
        is_due = not self.has_schedule or self.scheduler.now_s > SCHEDULED_S
        return self.asked_all and is_due and self._left() == "0 jobs and 0 sets are active"


def _post_job(spec: JobSpec, context: Context, once: Once) -> UUID:
    with once.write() as session:
        job, _ = submit(session, spec, context.settings.max_active_jobs, COMMAND_LINE)
        _keep(once, session, job.id)
        return job.id


def _post_set(request: SetRequest, context: Context, once: Once) -> UUID:
    with once.write() as session:
        set_id, _ = submit_set(session, request, context.settings.max_active_jobs, COMMAND_LINE)
        _keep(once, session, set_id)
        return set_id


def _post_schedule(body: ScheduleBody, context: Context, once: Once) -> UUID:
    due_at = schedules.check(body, context, context.now())
    with once.write() as session:
        made = schedules.create(session, body, due_at, COMMAND_LINE)
        _keep(once, session, made.id)
        return made.id


def _cancel(victim: Asked, context: Context, _once: Once) -> None:
    for job_id in victim.reply[:1]:
        with context.database.write() as session:
            assert job_id is not None
            leases.request_cancel(session, job_id)


def _withdraw(context: Context, _once: Once) -> None:
    """Withdraw the newest kernel that is served, if there is one."""
    with context.database.write() as session:
        for kernel in kernels.list_page(session, limit=9):
            if kernel.withdrawn is None:
                withdrawal.withdraw(session, COMMAND_LINE, kernel.id, "found wrong", context.now())
                return


def _keep(once: Once, session: Any, made: UUID) -> None:
    from pydantic import RootModel

    once.answer(session, Response(), RootModel[UUID](made), cast(Any, 202))


_TEMPLATE: list[Path] = []


def template() -> Path:
    """Return a migrated, empty database of this process, which worlds copy."""
    if not _TEMPLATE:
        path = Path(tempfile.mkdtemp(prefix="xetune-world-", dir=ram())) / "template.sqlite"
        engine = make_engine(f"sqlite:///{path}")
        upgrade(engine)
        engine.dispose()
        _TEMPLATE.append(path)
    return _TEMPLATE[0]


def ram() -> Path | None:
    """Return a folder in memory, if this system has one."""
    return Path("/dev/shm") if Path("/dev/shm").is_dir() else None


def run_seed(seed: int, plan: Sequence[Fault] | None = None) -> tuple[World, Broken | None]:
    """Run the world of a seed; also return the invariant that it breaks."""
    folder = Path(tempfile.mkdtemp(prefix="xetune-world-", dir=ram()))
    try:
        world = World(seed, folder, plan)
        try:
            world.run()
        except Broken as broken:
            return world, broken
        return world, None
    finally:
        shutil.rmtree(folder)
