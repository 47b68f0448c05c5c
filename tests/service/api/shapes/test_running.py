"""A set of shapes runs under one budget, goes on after a stop or a kill, and ends with kernels tried on all shapes."""

import threading
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from codegen import DType, GemmProblem
from db.queries import jobs, shape_sets
from db.queries.cluster import leases
from db.queries.results import trials
from db.session import Database, open_database
from db.values import utc_now
from hal import Buffer, DeviceCrashed, DeviceSpec, LaunchSpec, RunReport, Timing
from hal.devices.listed import ListedDevice, Runtime
from service.api.devices.directory import DeviceDirectory
from service.api.keys.caller import COMMAND_LINE
from service.api.shapes import (
    searching,
    service,
)
from service.api.shapes.requests import (
    SetRequest,
    submit,
    understand,
)
from service.api.shapes.running import run_set
from service.api.shapes.schemas import ShapeSetBody, ShapeSetOut
from service.api.shapes.service import find_set
from service.artifacts import ArtifactStore
from service.cluster import local
from service.cluster.local import LocalExecutor
from service.errors import BadRequest, NotFound
from service.jobs.tuning import Tuning
from service.jobs.worker import release_abandoned
from service.jobs.worker_names import own_name
from service.schemas import to_body
from service.settings import Settings
from tests.tuner.fakes import FakeCompiler, FakeDevice, Fuse, Killed, cpu_spec, refuse_rates
from tuner.backend import tuning_for
from tuner.errors import ContraryObjective, NoEnergy
from tuner.search.method import OTHER_SHAPE, Method, Objective
from tuner.session.budget import Budget
from tuner.session.job_spec import JobOptions
from tuner.session.result import Event, SessionResult, TrialEnded
from tuner.session.session import run_session
from tuner.shapes.shape import Shape

SPEC = cpu_spec()
HERE = ListedDevice(SPEC, Runtime.HOST, "native", runnable=True, targetable=True, note="")


def _problem(m: int, n: int, k: int) -> GemmProblem:
    return GemmProblem(m, n, k, dtype_a=DType.F32, dtype_b=DType.F32)


SHAPES = (
    Shape(_problem(3, 48, 40), 3.0, "first"),
    Shape(_problem(5, 32, 24), 1.0, "second"),
    Shape(_problem(2, 64, 40), 2.0),
)


@dataclass
class AnyShape:
    """A device that multiplies whatever shape comes; `broken` is one on which it crashes."""

    broken: GemmProblem | None = None
    fuse: Fuse = field(default_factory=Fuse)
    spec: DeviceSpec = SPEC
    restarts: int = 0

    def run(
        self, launch: LaunchSpec, buffers: tuple[Buffer, ...], timing: Timing | None, timeout_s: float
    ) -> RunReport:
        refuse_rates(launch)
        sizes = tuple(buffer.size for buffer in buffers[:3])
        problem = next(p for p in (s.problem for s in SHAPES) if tuple(o.elements(1) for o in p.operands) == sizes)
        if problem == self.broken:
            raise DeviceCrashed("it went away")
        return FakeDevice(problem, SPEC, fuse=self.fuse).run(launch, buffers, timing, timeout_s)

    def close(self) -> None:
        pass


@dataclass
class Run:
    """One run of a set in a process of its own; `stop` ends it."""

    tuning: Tuning
    settings: Settings
    stop: threading.Event = field(default_factory=threading.Event)

    def __call__(self, set_id: UUID) -> bool:
        """Run the set; return whether it is over."""
        with self.tuning.database.write() as session:
            release_abandoned(session, lambda name: name == own_name())  # a killed run had this process's name
        run_set(self.tuning, self.settings, set_id, self.stop)
        with self.tuning.database.read() as session:
            return find_set(session, set_id).status != "active"


OnEvent = Callable[[Event], None]
Start = Callable[..., Run]


@pytest.fixture
def database(sqlite_url: str) -> Database:
    """A migrated database."""
    return open_database(sqlite_url)


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, database: Database) -> Start:
    """Makes what runs a set in a process of its own."""

    def made(device: AnyShape, on_event: OnEvent = lambda _: None) -> Run:
        monkeypatch.setattr(local, "CompilePool", lambda *_: nullcontext(FakeCompiler()))
        monkeypatch.setattr(local, "open_device", lambda _: device)
        here = LocalExecutor(lambda _: HERE, tmp_path / "locks")
        mine = Tuning(database, ArtifactStore(tmp_path / "artifacts"), tmp_path / "cache", on_event, executor=here)
        return Run(mine, Settings(data_dir=tmp_path))

    return made


def _request(trials: int = 30) -> SetRequest:
    return SetRequest("three", SHAPES, SPEC, JobOptions(budget=Budget(trials, 300.0), seed=5), 0.05)


def submitted(database: Database, request: SetRequest | None = None) -> UUID:
    with database.write() as session:
        set_id, is_new = submit(session, request or _request(), 100, COMMAND_LINE)
    assert is_new
    return set_id


def _read(database: Database, set_id: UUID, within: float | None = None) -> ShapeSetOut:
    with database.read() as session:
        return service.read_set(session, set_id, within)


def _check_whole(database: Database, found: ShapeSetOut) -> None:
    """Every trial ended, numbers have no gap, the default is first, and budgets are what was tried."""
    with database.read() as session:
        for shape, wanted in zip(found.shapes, SHAPES, strict=True):
            rows = trials.list_page(session, shape.job_id)
            assert [row.number for row in rows] == list(range(len(rows)))
            assert len({row.config_hash for row in rows}) == len(rows) == shape.trials
            assert rows[0].config_hash == tuning_for(SPEC).default(wanted.problem, SPEC).key
            assert all(row.ended_at is not None for row in rows)
            job = jobs.get(session, shape.job_id)
            assert job is not None
            assert (job.status, job.budget_trials) == ("succeeded", len(rows))
            assert job.stop in ("trials", "no_gain", "exhausted")


@pytest.mark.slow
def test_a_set_is_tuned_under_one_budget_and_kernels_are_tried_on_all_shapes(database: Database, start: Start) -> None:
    set_id = submitted(database)
    assert start(AnyShape())(set_id)
    found = _read(database, set_id)
    assert (found.status, [shape.weight for shape in found.shapes]) == ("succeeded", [3.0, 1.0, 2.0])
    _check_whole(database, found)
    searched = found.trials - found.cross_trials
    assert 20 < searched <= 30
    assert found.cross_trials > 0, "kernels of other shapes are beyond the budget"
    assert all(shape.interleaved and shape.gain is not None and shape.gain >= 1 for shape in found.shapes)
    cover = found.cover
    assert cover is not None
    assert len(cover.cells) == len(cover.kernels) * 3
    assert found.trials <= searched + len(cover.kernels) * 3
    served = sorted(place for kernel in cover.kernels for place in kernel.serves)
    assert served == [1, 2, 3]
    made = {(cell.kernel, cell.shape): cell.content_hash for cell in cover.cells}
    used = [(kernel.number, place) for kernel in cover.kernels for place in kernel.serves]
    assert cover.binaries == len({made[pair] for pair in used})
    for kernel in cover.kernels:
        assert kernel.binaries == len({made[kernel.number, place] for place in kernel.serves})
        for place in kernel.serves:
            cell = next(c for c in cover.cells if (c.kernel, c.shape) == (kernel.number, place))
            assert cell.slower is not None
            assert cell.slower <= 1.05
    assert len(_read(database, set_id, 1.0).cover.needed) <= len(cover.needed)  # pyright: ignore[reportOptionalMemberAccess]
    assert found.compiled + found.reused >= found.trials
    assert start(AnyShape())(set_id)  # over: nothing more is done
    assert _read(database, set_id).spent_s == found.spent_s


@pytest.mark.slow
def test_a_set_that_was_stopped_goes_on(database: Database, start: Start) -> None:
    set_id, ended = submitted(database, _request(15)), list[Event]()

    def heard(event: Event) -> None:
        ended.extend([event] if isinstance(event, TrialEnded) else [])
        if len(ended) == 12:
            run.stop.set()

    run = start(AnyShape(), heard)
    assert not run(set_id)
    half = _read(database, set_id)
    assert (half.status, half.cover) == ("active", None)
    assert {shape.status.value for shape in half.shapes} == {"queued"}
    assert half.trials == 12
    with database.write() as session:  # its jobs are left to who runs the set
        assert leases.claim_next(session, "another", 60.0) is None
    assert start(AnyShape())(set_id)
    _check_whole(database, _read(database, set_id))


@pytest.mark.parametrize(
    "after",
    [pytest.param(0, marks=pytest.mark.slow), pytest.param(12, marks=pytest.mark.slow), "other shape"],
    ids=str,
)
def test_a_set_that_was_killed_goes_on(database: Database, start: Start, after: int | str) -> None:
    set_id, fuse, begun = submitted(database), Fuse(), list[str | None]()

    def light(event: Event) -> None:
        if isinstance(event, TrialEnded):
            begun.append(event.trial.proposer)
        if fuse.at is None and (len(begun) == after or after in begun):
            fuse.at = fuse.steps + 4

    with pytest.raises(Killed):
        start(AnyShape(fuse=fuse), light)(set_id)
    assert ("other shape" in begun) == (after == "other shape")
    assert start(AnyShape())(set_id)
    _check_whole(database, _read(database, set_id))


@pytest.mark.parametrize("at", [pytest.param("portfolio", marks=pytest.mark.slow), OTHER_SHAPE])
def test_a_run_whose_lease_another_took_writes_nothing_more_of_the_set(
    database: Database, start: Start, at: str
) -> None:
    set_id, taken = submitted(database, _request(6)), list[UUID]()

    def take(event: Event) -> None:
        if isinstance(event, TrialEnded) and not taken and (at == "portfolio" or event.trial.proposer == at):
            taken.append(set_id)
            with database.write() as session:
                assert shape_sets.claim(session, set_id, "another", 60.0, lambda _: True, utc_now()) is None

    run = start(AnyShape(), take)
    assert not run_set(run.tuning, run.settings, set_id, run.stop)
    assert taken
    with database.read() as session:
        found = shape_sets.get(session, set_id)
        assert found is not None
        assert (found.status, found.holder, found.error) == ("active", "another", None)
        assert bool(found.kernels) == (at == OTHER_SHAPE)
        closed = {cell.member_id for kernel in found.kernels for cell in kernel.cells}
        assert [member.job.status for member in found.members if member.id not in closed][-1:] == ["queued"]
        assert closed == {member.id for member in found.members if member.job.status == "succeeded"}


@pytest.mark.slow
def test_a_shape_on_which_nothing_runs_fails_and_the_others_are_tuned(database: Database, start: Start) -> None:
    set_id = submitted(database, _request(15))
    assert start(AnyShape(broken=SHAPES[1].problem))(set_id)
    found = _read(database, set_id)
    assert [shape.status.value for shape in found.shapes] == ["succeeded", "failed", "succeeded"]
    assert (found.shapes[1].error or "").startswith("device-unusable: ")
    assert found.cover is not None
    assert found.cover.unserved == [2]


def test_equal_requests_share_a_set_while_it_is_active(database: Database, start: Start) -> None:
    set_id = submitted(database)
    with database.write() as session:
        assert submit(session, _request(), 100, COMMAND_LINE) == (set_id, False)
        assert service.cancel(session, set_id, COMMAND_LINE).status == "cancelled"
    assert start(AnyShape())(set_id)
    found = _read(database, set_id)
    assert {shape.status.value for shape in found.shapes} == {"cancelled"}
    assert submitted(database) != set_id
    with database.read() as session:
        assert [line.status for line in service.list_sets(session, 10).shape_sets] == ["active", "cancelled"]
        with pytest.raises(NotFound, match="does not exist"):
            service.read_set(session, found.shapes[0].job_id)
        assert shape_sets.get(session, found.shapes[0].job_id) is None


@pytest.mark.slow
def test_a_set_may_weigh_memory_too(database: Database, start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    weighed: list[Any] = []

    def watched(*arguments: Any, **options: Any) -> SessionResult:
        weighed.append((arguments[0].search, arguments[0].objective))
        return run_session(*arguments, **options)

    monkeypatch.setattr(searching, "run_session", watched)
    options = replace(_request(3).options, search=Method.NSGA2, objective=Objective.TIME_MEMORY)
    set_id = submitted(database, replace(_request(), options=options))
    assert start(AnyShape())(set_id)
    found = _read(database, set_id)
    assert (found.status, found.search, found.objective) == ("succeeded", Method.NSGA2, Objective.TIME_MEMORY)
    assert weighed == [(Method.NSGA2, Objective.TIME_MEMORY)] * len(SHAPES)


def test_what_cannot_be_is_refused_before_anything_is_stored(tmp_path: Path) -> None:
    directory, settings = DeviceDirectory(lambda: [HERE], 10.0), Settings(data_dir=tmp_path)

    def ask(shapes: tuple[Shape, ...], within: float = 0.05, trials: int = 10, **options: object) -> SetRequest:
        bodies = [{"problem": to_body(one.problem), "weight": one.weight, "name": one.name} for one in shapes]
        fields = {"shapes": bodies, "device": SPEC.id, "within": within, "budget": {"trials": trials, "seconds": 10.0}}
        return understand(ShapeSetBody.model_validate(fields | options), directory, settings)

    assert ask(SHAPES).shapes == SHAPES
    with pytest.raises(BadRequest, match="at least one for each of 3 shapes"):
        ask(SHAPES, trials=2)
    weighing = ask(SHAPES, objective=Objective.TIME_MEMORY)
    assert (weighing.options.search, ask(SHAPES).options.search) == (Method.NSGA2, Method.PORTFOLIO)
    assert weighing.hash != ask(SHAPES).hash
    with pytest.raises(ContraryObjective, match="does not weigh time-memory"):
        ask(SHAPES, search=Method.RANDOM, objective=Objective.TIME_MEMORY)
    with pytest.raises(NoEnergy, match="cannot be read"):
        ask(SHAPES, objective=Objective.TIME_ENERGY)
    with pytest.raises(BadRequest, match=r"shape 3, 9x64x96 .*rule dynamic"):
        ask((*SHAPES[:2], Shape(replace(_problem(9, 64, 96), dynamic=True))))
