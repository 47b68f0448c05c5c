"""A set of shapes runs under one budget, goes on after a stop or a kill, and ends with kernels tried on all shapes."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from codegen import DType, GemmProblem
from db.queries import (
    jobs,
    shape_sets,
    trials,
)
from db.queries.cluster import leases
from db.session import Database, open_database
from hal import Buffer, DeviceCrashed, DeviceSpec, LaunchSpec, RunReport, Timing
from hal.devices.listed import ListedDevice, Runtime
from service.api.devices.service import DeviceDirectory
from service.api.shapes import (
    searching,
    service,
)
from service.api.shapes.requests import (
    SetRequest,
    SetSearch,
    submit,
    understand,
)
from service.api.shapes.running import (
    SetProgress,
    SetRunner,
)
from service.api.shapes.schemas import ShapeSetOut
from service.artifacts import ArtifactStore
from service.cluster import local
from service.cluster.local import LocalExecutor
from service.errors import BadRequest, NotFound
from service.jobs.tuning import Tuning
from service.settings import Settings
from tests.tuner.fakes import FakeCompiler, FakeDevice, Fuse, Killed, cpu_spec
from tuner.backend import tuning_for
from tuner.errors import ContraryObjective, NoEnergy
from tuner.search.method import Method
from tuner.search.objective import Objective
from tuner.session.result import SessionResult
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
        sizes = tuple(buffer.size for buffer in buffers[:3])
        problem = next(p for p in (s.problem for s in SHAPES) if tuple(o.elements(1) for o in p.operands) == sizes)
        if problem == self.broken:
            raise DeviceCrashed("it went away")
        return FakeDevice(problem, SPEC, fuse=self.fuse).run(launch, buffers, timing, timeout_s)

    def close(self) -> None:
        pass


Start = Callable[..., SetRunner]


@pytest.fixture
def database(sqlite_url: str) -> Database:
    """A migrated database."""
    return open_database(sqlite_url)


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, database: Database) -> Start:
    """Makes what runs a set in a process of its own."""

    def made(set_id: UUID, device: AnyShape, on_progress: Callable[[SetProgress], None] = lambda _: None) -> SetRunner:
        monkeypatch.setattr(local, "CompilePool", lambda *_: nullcontext(FakeCompiler()))
        monkeypatch.setattr(local, "open_device", lambda _: device)
        here = LocalExecutor(lambda _: HERE, tmp_path / "locks")
        mine = Tuning(database, ArtifactStore(tmp_path / "artifacts"), tmp_path / "cache", executor=here)
        return SetRunner(mine, Settings(data_dir=tmp_path), set_id, on_progress)

    return made


def _request(trials: int = 30) -> SetRequest:
    return SetRequest("three", SHAPES, SPEC, trials, 300.0, 5, 0.05)


def submitted(database: Database, request: SetRequest | None = None) -> UUID:
    with database.write() as session:
        set_id, is_new = submit(session, request or _request(), 100)
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


def test_a_set_is_tuned_under_one_budget_and_kernels_are_tried_on_all_shapes(database: Database, start: Start) -> None:
    set_id, seen = submitted(database), list[SetProgress]()
    assert start(set_id, AnyShape(), seen.append).run()
    found = _read(database, set_id)
    assert (found.status, [shape.weight for shape in found.shapes]) == ("succeeded", [3.0, 1.0, 2.0])
    _check_whole(database, found)
    assert {now.doing for now in seen} == {"searching", "comparing"}
    searched = max(now.done for now in seen if now.doing == "searching")
    assert 20 < searched <= 30
    assert (found.trials - found.across, found.across > 0) == (searched, True), "kernels of other shapes are beyond it"
    assert all(shape.interleaved and shape.gain is not None and shape.gain >= 1 for shape in found.shapes)
    cover = found.cover
    assert cover is not None
    assert len(cover.cells) == len(cover.kernels) * 3
    assert found.trials <= searched + len(cover.kernels) * 3
    served = sorted(place for kernel in cover.kernels for place in kernel.serves)
    assert served == [1, 2, 3]
    made = {(cell.kernel, cell.shape): cell.content_hash for cell in cover.cells}
    used = [(kernel.number, place) for kernel in cover.kernels for place in kernel.serves]
    assert cover.binaries == len({made[pair] for pair in used}) == len(used)  # a CPU's are for one size
    for kernel in cover.kernels:
        assert kernel.binaries == len(kernel.serves)
        for place in kernel.serves:
            cell = next(c for c in cover.cells if (c.kernel, c.shape) == (kernel.number, place))
            assert cell.slower is not None
            assert cell.slower <= 1.05
    assert len(_read(database, set_id, 1.0).cover.needed) <= len(cover.needed)  # pyright: ignore[reportOptionalMemberAccess]
    assert found.compiled + found.reused >= found.trials
    assert start(set_id, AnyShape()).run()  # over: nothing more is done
    assert _read(database, set_id).spent_s == found.spent_s


def test_a_set_that_was_stopped_goes_on(database: Database, start: Start) -> None:
    set_id, runners = submitted(database), list[SetRunner]()

    def stop(now: SetProgress) -> None:
        if now.done >= 12:
            runners[0].stop()

    runners.append(start(set_id, AnyShape(), stop))
    assert not runners[0].run()
    half = _read(database, set_id)
    assert (half.status, half.cover) == ("active", None)
    assert {shape.status.value for shape in half.shapes} == {"queued"}
    assert 12 <= half.trials < 30
    with database.write() as session:  # its jobs are left to who runs the set
        assert leases.claim_next(session, "another", 60.0) is None
    assert start(set_id, AnyShape()).run()
    _check_whole(database, _read(database, set_id))


@pytest.mark.parametrize(
    ("doing", "done"),
    [
        pytest.param("searching", 0, marks=pytest.mark.slow),
        pytest.param("searching", 12, marks=pytest.mark.slow),
        ("comparing", 1),
    ],
)
def test_a_set_that_was_killed_goes_on(database: Database, start: Start, doing: str, done: int) -> None:
    set_id, fuse = submitted(database), Fuse()

    def light(now: SetProgress) -> None:
        if now.doing == doing and now.done >= done and fuse.at is None:
            fuse.at = fuse.steps + 4

    with pytest.raises(Killed):
        start(set_id, AnyShape(fuse=fuse), light).run()
    assert (_read(database, set_id).cover is not None) == (doing == "comparing")
    assert start(set_id, AnyShape()).run()
    _check_whole(database, _read(database, set_id))


def test_a_shape_on_which_nothing_runs_fails_and_the_others_are_tuned(database: Database, start: Start) -> None:
    set_id = submitted(database)
    assert start(set_id, AnyShape(broken=SHAPES[1].problem)).run()
    found = _read(database, set_id)
    assert [shape.status.value for shape in found.shapes] == ["succeeded", "failed", "succeeded"]
    assert (found.shapes[1].error or "").startswith("device-unusable: ")
    assert found.cover is not None
    assert found.cover.unserved == [2]


def test_equal_requests_share_a_set_while_it_is_active(database: Database, start: Start) -> None:
    set_id = submitted(database)
    with database.write() as session:
        assert submit(session, _request(), 100) == (set_id, False)
        assert service.cancel(session, set_id).status == "cancelled"
    assert start(set_id, AnyShape()).run()
    found = _read(database, set_id)
    assert {shape.status.value for shape in found.shapes} == {"cancelled"}
    assert submitted(database) != set_id
    with database.read() as session:
        assert [line.status for line in service.list_sets(session, 10).shape_sets] == ["active", "cancelled"]
        with pytest.raises(NotFound, match="does not exist"):
            service.read_set(session, found.shapes[0].job_id)
        assert shape_sets.get(session, found.shapes[0].job_id) is None


def test_a_set_may_weigh_memory_too(database: Database, start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    weighed: list[Any] = []

    def watched(*arguments: Any, **options: Any) -> SessionResult:
        weighed.append((arguments[0].search, arguments[0].objective))
        return run_session(*arguments, **options)

    monkeypatch.setattr(searching, "run_session", watched)
    set_id = submitted(database, replace(_request(3), method=Method.NSGA2, objective=Objective.TIME_MEMORY))
    assert start(set_id, AnyShape()).run()
    found = _read(database, set_id)
    assert (found.status, found.search, found.objective) == ("succeeded", Method.NSGA2, Objective.TIME_MEMORY)
    assert weighed == [(Method.NSGA2, Objective.TIME_MEMORY)] * len(SHAPES)


def test_what_cannot_be_is_refused_before_anything_is_stored(tmp_path: Path) -> None:
    directory, settings = DeviceDirectory(lambda: [HERE], 10.0), Settings(data_dir=tmp_path)

    def ask(
        shapes: tuple[Shape, ...], trials: int = 10, within: float = 0.05, search: SetSearch | None = None
    ) -> SetRequest:
        return understand("s", shapes, SPEC.id, None, (trials, 10.0), 0, within, directory, settings, search)

    assert ask(SHAPES).shapes == SHAPES
    with pytest.raises(BadRequest, match="at least one for each of 3 shapes"):
        ask(SHAPES, trials=2)
    for no_gain in (0, -1, 2**31):
        with pytest.raises(BadRequest, match=f"no_gain: expected 1 to 2147483647, got {no_gain}"):
            ask(SHAPES, search=SetSearch(no_gain=no_gain))
    weighing = SetSearch(objective=Objective.TIME_MEMORY)
    assert (ask(SHAPES, search=weighing).method, ask(SHAPES).method) == (Method.NSGA2, Method.PORTFOLIO)
    assert ask(SHAPES, search=weighing).hash != ask(SHAPES).hash
    with pytest.raises(ContraryObjective, match="does not weigh time-memory"):
        ask(SHAPES, search=SetSearch(method=Method.RANDOM, objective=Objective.TIME_MEMORY))
    with pytest.raises(NoEnergy, match="cannot be read"):
        ask(SHAPES, search=SetSearch(objective=Objective.TIME_ENERGY))
    with pytest.raises(BadRequest, match="within"):
        ask(SHAPES, within=1.5)
    with pytest.raises(BadRequest, match=r"shape 3, 9x64x96 .*rule dynamic"):
        ask((*SHAPES[:2], Shape(replace(_problem(9, 64, 96), dynamic=True))))
