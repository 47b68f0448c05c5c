"""A second job of a problem reuses the times of the first while they are valid."""

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import UUID

import pytest
from sqlalchemy import select

from codegen import AnyArtifact, GemmProblem, KernelConfig, StageOutput, XeConfig
from codegen.backend import backend_of
from db.queries import (
    devices,
    jobs,
    problems,
)
from db.queries.cluster import leases
from db.schema.reuse import Reuse
from db.schema.trial import Measurement, Trial
from db.session import Database, open_database
from hal import DeviceSpec
from service.api.jobs.listing import list_trials
from service.artifacts import ArtifactStore
from service.device_json import spec_to_json
from service.gemm_json import problem_to_json
from service.jobs.measurement_reuse import known_of
from service.jobs.store import DbTrialStore
from tests.db.rows import digest
from tests.tuner.fakes import SMALL, FakeCompilation, FakeCompiler, FakeDevice, emulated
from tests.tuner.measure.slower import slower_than_finalists
from tuner.measure.measurement_reuse import KnownTimes
from tuner.session.budget import Budget
from tuner.session.job_spec import JobSpec
from tuner.session.result import SessionResult
from tuner.session.session import run_session
from tuner.space.space import Space
from tuner.space.xe.space import xe_space

SPEC = emulated()
TRIALS = 16


@dataclass
class Compilation(FakeCompilation):
    """A compilation whose kernels have real compile keys of `versions`."""

    versions: str = "1"

    def result(self) -> AnyArtifact:
        key = backend_of(self.config).compile_key(
            self.problem, self.config, SPEC
        )  # by the present versions, which are 1 here
        key = key if self.versions == "1" else digest(key)
        made = super().result()
        stages = (StageOutput("spirv", "kernel.spv", made.launch.binary, 1.0),)
        return replace(made, key=key, stages=stages, toolchain={"generator": self.versions})


@dataclass
class Compiler(FakeCompiler):
    """A compiler with given versions."""

    versions: str = "1"

    def compile(self, problem: GemmProblem, config: KernelConfig, spec: DeviceSpec) -> Compilation:
        self.begun.append(config)
        return Compilation(problem, config, versions=self.versions)


@dataclass
class Ran:
    """A job that has run."""

    job_id: UUID
    result: SessionResult
    pool: Compiler
    device: FakeDevice
    reusable: list[int]  # numbers of the trials whose times a later job reuses

    @property
    def timed(self) -> int:
        """Number of kernels that were measured."""
        return len({binary for binary, _, timed in self.device.runs if timed})


@pytest.fixture(scope="module")
def space() -> Space[XeConfig]:
    """Return the space of all jobs."""
    return xe_space(SMALL, SPEC)


@pytest.fixture
def database(sqlite_url: str) -> Generator[Database]:
    """An empty database."""
    opened = open_database(sqlite_url)
    yield opened
    opened.close()


@pytest.fixture
def job(
    database: Database, tmp_path: Path, space: Space[XeConfig], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Ran]:
    """Return a function that runs a job with its own compiler and driver version."""
    monkeypatch.setattr("tuner.space.xe.space.xe_space", lambda *_: space)  # making it takes seconds

    def run(*, versions: str = "1", driver: str = "fake 1", reuse: bool = True, slow: float = 1.0) -> Ran:
        provenance = dict(SPEC.provenance)
        spec = replace(SPEC, driver=driver, provenance=provenance)
        with database.write() as session:
            problem = problems.upsert(session, key=SMALL.key, definition=problem_to_json(SMALL))
            known = {"slug": spec.id, "driver": driver, "name": spec.name, "kind": spec.kind.value}
            device = devices.upsert(session, **known, emulates=spec.emulates, spec=spec_to_json(spec))
            made = jobs.create(
                session,
                problem_id=problem.id,
                device_id=device.id,
                budget_trials=TRIALS,
                budget_seconds=60.0,
                seed=4,
                request_hash=digest(jobs.new_id()),
            )
            assert made is not None
            leases.claim(session, made.id, "worker", 60.0)
        store = DbTrialStore(database, ArtifactStore(tmp_path / "artifacts"), made.id, "worker")
        pool, fake = Compiler(versions=versions), FakeDevice(SMALL, spec)
        normal = fake.time_us
        fake.time_us = lambda binary: normal(binary) * slow
        asked: KnownTimes | None = known_of(database, made.id, SMALL, spec) if reuse else None
        result = run_session(
            JobSpec(problem=SMALL, device=spec, budget=Budget(TRIALS, 60.0), seed=4), fake, store, pool, known=asked
        )
        return Ran(made.id, result, pool, fake, slower_than_finalists(store.trials()))

    return run


def reused(database: Database, ran: Ran) -> list[tuple[int, UUID, int, float]]:
    """Return the job's trials with a reused time: number, source job and trial, scale."""
    with database.read() as session:
        page = list_trials(session, ran.job_id, -1, TRIALS)
    return [(t.number, t.reused.job, t.reused.trial, t.reused.scale) for t in page.trials if t.reused is not None]


def test_a_second_job_compiles_and_measures_little(database: Database, job: Callable[..., Ran]) -> None:
    first, second = job(), job()
    assert (first.timed, reused(database, first)) == (TRIALS, [])
    taken = reused(database, second)
    assert taken == [(number, first.job_id, number, 1.0) for number in first.reusable]
    assert second.timed == TRIALS - len(taken)
    assert len(second.pool.begun) == TRIALS - len(taken)
    assert second.result.best is not None
    assert first.result.best is not None
    assert second.result.best.config == first.result.best.config
    with database.read() as session:
        taken_rows = session.scalars(select(Reuse)).all()
        assert len(taken_rows) == len(taken)
        for row in taken_rows:
            mine, source = (session.get(Measurement, n) for n in (row.trial_id, row.source_trial_id))
            assert mine is not None
            assert source is not None
            assert (mine.median_us, mine.measured_at) == (source.median_us, source.measured_at)
            trials = session.get(Trial, row.trial_id), session.get(Trial, row.source_trial_id)
            assert trials[0] is not None
            assert trials[1] is not None
            assert trials[0].kernel_id == trials[1].kernel_id


def test_a_third_job_takes_times_from_who_measured_them(database: Database, job: Callable[..., Ran]) -> None:
    first, second = job(), job()
    third = job()
    sources = {source for _, source, _, _ in reused(database, third)}
    assert sources <= {first.job_id, second.job_id}
    assert len(reused(database, third)) == len(reused(database, second))


def test_another_generator_that_writes_the_same_binary_measures_nothing_again(
    database: Database, job: Callable[..., Ran]
) -> None:
    older, newer = job(versions="2"), job()
    assert len(newer.pool.begun) == TRIALS, "it had to compile to know"
    assert reused(database, newer) == [(number, older.job_id, number, 1.0) for number in older.reusable]
    assert newer.timed == TRIALS - len(older.reusable)


@pytest.mark.parametrize("change", [{"driver": "fake 2"}, {"reuse": False}])
def test_another_driver_or_who_asks_measures_all_anew(
    database: Database, job: Callable[..., Ran], change: dict[str, object]
) -> None:
    job()
    again = job(**change)
    assert (again.timed, reused(database, again)) == (TRIALS, [])


def test_a_proof_by_freivalds_method_stays_one(database: Database, job: Callable[..., Ran]) -> None:
    first = job()
    with database.write() as session:
        for row in session.scalars(select(Trial).where(Trial.job_id == first.job_id)):
            row.proof_method = "freivalds"
    second = job()
    taken = {number for number, *_ in reused(database, second)}
    assert taken
    with database.read() as session:
        rows = session.scalars(select(Trial).where(Trial.job_id == second.job_id)).all()
        assert {row.proof_method for row in rows if row.number in taken} == {"freivalds"}
        assert {row.proof_method for row in rows if row.number not in taken} == {"elements"}


def test_times_of_a_slower_day_are_put_on_the_scale_of_the_default(database: Database, job: Callable[..., Ran]) -> None:
    first, today = job(slow=3.0), job()
    assert first.result.best is not None
    taken = reused(database, today)
    assert taken == [(number, first.job_id, number, pytest.approx(1 / 3)) for number in first.reusable]
    assert today.result.best is not None
    with database.read() as session:
        best = jobs.get(session, today.job_id)
        assert best is not None
        assert best.best_trial is not None
        assert best.best_trial.number == today.result.best.number == first.result.best.number
