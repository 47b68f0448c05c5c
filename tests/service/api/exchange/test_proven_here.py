"""A kernel that a job here verified is served before imported ones, until the imported code is verified here."""

import hashlib
from collections.abc import Generator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast
from uuid import UUID

import pytest
from sqlalchemy import select

from codegen import AnyArtifact, GemmProblem, KernelConfig, StageOutput, XeConfig
from codegen.serialization import canonical_text
from db.queries import devices, jobs, problems
from db.queries.cluster import leases
from db.queries.results import trials
from db.schema.kernel import Artifact, Kernel
from db.session import Database, open_database
from db.values import utc_now
from hal import DeviceSpec, ListedDevice, find
from hal.devices.listed import Runtime
from service.api.exchange import exporting
from service.api.exchange.exporting import Selection
from service.api.kernels.lookup.lookup import Lookup
from service.api.kernels.lookup.next_requests import Accepted
from service.api.kernels.lookup.schemas import LookupOut
from service.artifacts import ArtifactStore
from service.device_json import spec_to_json
from service.gemm_json import problem_to_json
from service.jobs.store import DbTrialStore
from service.settings import Settings
from tests.db.rows import digest
from tests.hal.spirv_modules import spirv_module
from tests.service.api.exchange.data_folders import take_in
from tests.tuner.exchange import lines
from tests.tuner.exchange.lines import GEMM, read, text_of
from tests.tuner.fakes import FakeCompilation, FakeCompiler, FakeDevice
from tuner.exchange.kernel_record import KernelRecord
from tuner.exchange.records import DeviceRecord, ProblemRecord, Record, TrialRecord
from tuner.session.budget import Budget
from tuner.session.job_spec import JobSpec
from tuner.session.session import run_session
from tuner.session.trial import Proof, ProofKind

B580 = find("b580")
LISTED = ListedDevice(B580, Runtime.TABLE, None, runnable=False, targetable=True, note="")
WITH_CARD = replace(B580, driver="fake 1", provenance={**B580.provenance, "driver": "probed"})


@pytest.fixture(autouse=True)
def simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    """All kernels are right, and none is refused."""
    right = Proof(ProofKind.SIMULATOR, 9, 9, 0.0, 1.0)
    monkeypatch.setattr("tuner.measure.measure.verify_by_simulation", lambda *_, **__: right)
    monkeypatch.setattr("service.api.kernels.lookup.exact.check_kernel", lambda *_: None)


@pytest.fixture
def database(sqlite_url: str) -> Generator[Database]:
    """A database without results."""
    opened = open_database(sqlite_url)
    yield opened
    opened.close()


@pytest.fixture
def artifacts(tmp_path: Path) -> ArtifactStore:
    """A folder of files."""
    return ArtifactStore(tmp_path / "artifacts")


@dataclass
class Compilation(FakeCompilation):
    """A module that has the kernel which is launched."""

    def result(self) -> AnyArtifact:
        made = super().result()
        data = spirv_module(extensions=(canonical_text(self.config),), kernels=("gemm",))
        digest, stages = hashlib.sha256(data).hexdigest(), (StageOutput("spirv", "kernel.spv", data, 1),)
        return replace(made, key=digest, content_hash=digest, stages=stages, launch=replace(made.launch, binary=data))


@dataclass
class Compiler(FakeCompiler):
    """Makes such modules."""

    def compile(self, problem: GemmProblem, config: KernelConfig, spec: DeviceSpec) -> Compilation:
        return Compilation(problem, config)


def run_here(database: Database, artifacts: ArtifactStore, spec: DeviceSpec, trials: int = 2) -> UUID:
    """Run a job of this database: measured where `spec` has a driver, else predicted; all verified."""
    with database.write() as session:
        problem = problems.upsert(session, key=GEMM.key, definition=problem_to_json(GEMM))
        named = {"slug": spec.id, "driver": spec.driver or "", "name": spec.name, "kind": spec.kind.value}
        device = devices.upsert(session, **named, emulates=None, spec=spec_to_json(spec))
        job = jobs.create(
            session,
            problem_id=problem.id,
            device_id=device.id,
            budget_trials=trials,
            budget_seconds=60.0,
            seed=4,
            request_hash=digest(jobs.new_id()),
        )
        assert job is not None
        leases.claim(session, job.id, "worker", 60.0)
    store = DbTrialStore(database, artifacts, job.id, "worker")
    fake = None if spec.driver is None else FakeDevice(GEMM, spec)
    job_spec = JobSpec(problem=GEMM, device=spec, budget=Budget(trials, 60.0), seed=4)
    run_session(job_spec, fake, store, Compiler())
    with database.write() as session:
        leases.finish(session, job.id, "worker", "succeeded", None)
    return job.id


def bring(database: Database, artifacts: ArtifactStore, made: KernelRecord, median_us: float) -> None:
    """Import the measurement of a kernel."""
    measured = lines.measured(0, median_us)
    outcome = replace(measured.outcome, kernel_hash=made.content_hash)
    trial = replace(measured, config=made.config, outcome=outcome, compile_key=made.compile_key)
    device, problem = DeviceRecord(lines.b580()), ProblemRecord(GEMM.key, GEMM)
    records: list[Record] = [lines.header(), device, problem, lines.job(best=0), made, trial]
    take_in(read(text_of(records)), database, artifacts, find)


def served(database: Database) -> LookupOut:
    """Look up the problem on the device."""
    with database.read() as session:
        return Lookup(session, GEMM, Accepted(LISTED, Settings()), utc_now()).answer()


def kind_and_origin(found: LookupOut) -> tuple[str, str | None]:
    """Return the kind of the time that is served, and where it is from."""
    assert found.time is not None
    return found.time.kind, found.time.origin


@pytest.mark.parametrize(("spec", "kind"), [(WITH_CARD, "measured"), (B580, "predicted")], ids=["card", "no card"])
@pytest.mark.parametrize("first", ["here", "import"])
@pytest.mark.slow
def test_what_a_job_here_verified_is_served_before_an_import(
    database: Database, artifacts: ArtifactStore, spec: DeviceSpec, kind: str, first: str
) -> None:
    if first == "here":
        run_here(database, artifacts, spec)
    bring(database, artifacts, lines.kernel(0), 3.0)
    if first == "import":
        assert kind_and_origin(served(database)) == ("measured", "the lab")
        run_here(database, artifacts, spec)
    found = served(database)
    assert kind_and_origin(found) == (kind, None)
    assert found.kernel is not None
    assert found.kernel.content_hash != lines.kernel(0).content_hash


def exported(database: Database, artifacts: ArtifactStore, job_id: UUID) -> KernelRecord:
    """Return the kernel of the job's best trial as a file has it."""
    with database.read() as session:
        best = trials.best(session, job_id)
        assert best is not None
        number = best.number
        records = list(exporting.results(session, artifacts, Selection(job_id=job_id)))
    winner = next(r for r in records if isinstance(r, TrialRecord) and r.number == number)
    return next(r for r in records if isinstance(r, KernelRecord) and r.content_hash == winner.outcome.kernel_hash)


def relaunched(made: KernelRecord) -> KernelRecord:
    """Return a kernel that is launched with another number of work-groups."""
    steps = [{**step, "global_size": [999, 1, 1]} for step in cast("list[dict[str, object]]", made.manifest["steps"])]
    return replace(made, manifest={**made.manifest, "steps": steps})


@pytest.mark.slow
def test_a_measurement_of_the_code_that_was_verified_here_is_served(
    database: Database, artifacts: ArtifactStore
) -> None:
    """As after `export --runners-up`, a measurement on another machine and the import of its results."""
    made = exported(database, artifacts, run_here(database, artifacts, B580))
    bring(database, artifacts, made, 30.0)
    found = served(database)
    assert kind_and_origin(found) == ("measured", "the lab")
    assert found.kernel is not None
    assert found.kernel.content_hash == made.content_hash


def test_the_same_binary_with_another_launch_is_not_what_was_verified_here(
    database: Database, artifacts: ArtifactStore
) -> None:
    made = exported(database, artifacts, run_here(database, artifacts, B580))
    bring(database, artifacts, relaunched(made), 30.0)
    found = served(database)
    assert kind_and_origin(found) == ("predicted", None)
    assert found.launch is not None
    assert found.launch.steps[0].global_size != [999, 1, 1]


@pytest.mark.slow
def test_compiling_a_kernel_here_replaces_what_an_import_said_of_its_launch(
    database: Database, artifacts: ArtifactStore, tmp_path: Path, migrated_file: Path
) -> None:
    (tmp_path / "other.sqlite").write_bytes(migrated_file.read_bytes())
    other = open_database(f"sqlite:///{tmp_path / 'other.sqlite'}")
    made = exported(other, artifacts, run_here(other, artifacts, WITH_CARD))
    other.close()
    assert isinstance(made.config, XeConfig)
    bring(database, artifacts, relaunched(made), 30.0)
    with database.write() as session:  # under the driver that is here
        (row,) = session.scalars(select(Kernel))
        of_device = devices.upsert(
            session,
            slug="b580",
            driver="fake 1",
            name=B580.name,
            kind=B580.kind.value,
            emulates=None,
            spec=spec_to_json(WITH_CARD),
        )
        row.device_id = of_device.id
    run_here(database, artifacts, WITH_CARD)
    with database.read() as session:
        (row,) = session.scalars(select(Kernel).where(Kernel.content_hash == made.content_hash))
        (file,) = session.scalars(select(Artifact).where(Artifact.kernel_id == row.id, Artifact.name == "kernel.json"))
    assert row.origin is None
    assert row.manifest["steps"] == made.manifest["steps"]
    assert b"999" not in artifacts.get(file.sha256)
