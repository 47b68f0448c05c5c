"""xetune jobs replay: the search of a job is made again from its rows, here, through a service and where they were
imported.
"""

import hashlib
import json
from collections.abc import Generator
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from shutil import copyfile
from uuid import UUID

import pytest
from sqlalchemy import select, update

from codegen import AnyArtifact, CpuConfig, DType, GemmProblem
from db.queries import (
    devices,
    jobs,
    leases,
    problems,
    searches,
)
from db.schema import (
    Measurement,
    Trial,
)
from db.session import Database, open_database
from hal import DeviceSpec, UnknownDevice
from service.api.exchange.exporting import (
    Selection,
    header,
    results,
)
from service.api.exchange.importing import take_in
from service.api.exchange.merging import merge_in
from service.api.exchange.other import open_other
from service.api.jobs.listing import list_searches
from service.api.jobs.search_schemas import (
    SearchAsStored,
    SearchOut,
)
from service.artifacts import ArtifactStore
from service.cli.backend.local import Local
from service.cli.backend.stored import Stored
from service.cli.tuning.replaying import print_replay
from service.jobs.store import DbTrialStore
from service.row_mapping import (
    problem_to_json,
    spec_to_json,
)
from service.settings import Settings
from tests.db.databases import migrated_file  # noqa: F401 (a fixture)
from tests.db.rows import digest
from tests.service.cli.ways import Run, both
from tests.tuner.fakes import FakeCompilation, FakeCompiler, FakeDevice, cpu_spec
from tuner.exchange.jsonl import read_lines, write_lines
from tuner.search.method import Method
from tuner.session.budget import (
    Budget,
    Portion,
)
from tuner.session.session import run_session
from tuner.space.cpu.space import cpu_space
from tuner.space.space import Space

SPEC = replace(cpu_spec(), driver="fake 1")  # as the fake device says
PROBLEM = GemmProblem(40, 96, 72, dtype_a=DType.BF16, dtype_b=DType.BF16)
TRIALS, SEED = 14, 5


class Compilation(FakeCompilation):
    """Gives kernels whose binaries begin as object files do, which an import looks at."""

    def result(self) -> AnyArtifact:
        made = super().result()
        binary = b"\x7fELF" + made.launch.binary
        stages = tuple(replace(s, data=binary) if s.name == "object" else s for s in made.stages)
        launch, content = replace(made.launch, binary=binary), hashlib.sha256(binary).hexdigest()
        return replace(made, launch=launch, stages=stages, content_hash=content)


@dataclass
class Compiler(FakeCompiler):
    """A compiler of such kernels, of several workers."""

    workers: int = 3

    def compile(self, problem: GemmProblem, config: object, spec: DeviceSpec) -> FakeCompilation:
        made = super().compile(problem, config, spec)  # pyright: ignore[reportArgumentType]
        return Compilation(problem, made.config)


@pytest.fixture(autouse=True, scope="module")
def space() -> Generator[Space[CpuConfig]]:
    """Making the space takes most of the time of a run."""
    made = cpu_space(PROBLEM, SPEC)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tuner.space.starts.cpu_space", lambda *_: made)
        yield made


@pytest.fixture
def database(sqlite_url: str) -> Generator[Database]:
    """The database of the commands."""
    opened = open_database(sqlite_url)
    yield opened
    opened.close()


@pytest.fixture
def job_id(database: Database, tmp_path: Path, one_database: None, space: Space[CpuConfig]) -> UUID:
    """A job that is over: two runs, donors, the portfolio."""
    with database.write() as session:
        known = {"slug": SPEC.id, "driver": SPEC.driver or "", "name": SPEC.name, "kind": SPEC.kind.value}
        job = jobs.create(
            session,
            problem_id=problems.upsert(session, key=PROBLEM.key, definition=problem_to_json(PROBLEM)).id,
            device_id=devices.upsert(session, **known, emulates=None, spec=spec_to_json(SPEC)).id,
            budget_trials=TRIALS,
            budget_seconds=600.0,
            seed=SEED,
            request_hash=digest("request"),
            idempotency_key=None,
        )
        assert job is not None
        jobs.set_search(session, job.id, method="portfolio", no_gain=None, roofline=None, objective=None)
        leases.claim(session, job.id, "w", 600.0)
    store = DbTrialStore(database, ArtifactStore(tmp_path / "artifacts"), job.id, "w")
    donors = [space.config(row) for row in (3, 50, 7)]
    for portion in (Portion(6, 600.0), None):
        device, budget = FakeDevice(PROBLEM, SPEC), Budget(TRIALS, 600.0)
        run_session(
            PROBLEM,
            SPEC,
            device,
            store,
            Compiler(),
            budget,
            SEED,
            donors=donors,
            portion=portion,
            method=Method.PORTFOLIO,
        )
    with database.write() as session:
        leases.finish(session, job.id, "w", "succeeded")
    return job.id


def test_it_is_told_alike_of_the_database_and_of_a_service(run: Run, job_id: UUID) -> None:
    local, served = both(run, "jobs", "replay", str(job_id))
    assert local == served == (0, f"replayed: {TRIALS} of {TRIALS} proposals the same\n", "")
    local, served = both(run, "jobs", "replay", str(job_id), "--json")
    assert local == served
    said = {"job": str(job_id), "replayable": True, "proposals": TRIALS, "same": TRIALS, "difference": None}
    assert json.loads(local[1]) == said


def test_an_outcome_that_was_changed_is_found(run: Run, database: Database, job_id: UUID) -> None:
    with database.write() as session:
        of_job = select(Trial.id).where(Trial.job_id == job_id)
        first = session.scalars(of_job.where(Trial.number == 4)).one()
        times = dict.fromkeys(("min_us", "p10_us", "median_us", "p90_us"), 0.001)
        session.execute(update(Measurement).where(Measurement.trial_id == first).values(**times))
    local, served = both(run, "jobs", "replay", str(job_id))
    assert local == served
    status, said, _ = local
    assert status == 1
    assert "is not what its search proposes now\n  tried:    avx" in said
    assert "an outcome that it was told has been changed" in said.replace("\n", " ")
    found = json.loads(run("jobs", "replay", str(job_id), "--json")[1])
    assert 4 < found["same"] == found["difference"]["trial"] < TRIALS
    assert found["difference"]["tried"] != found["difference"]["proposed"]


def test_of_a_job_of_an_older_version_it_says_what_is_missing(run: Run, database: Database, job_id: UUID) -> None:
    with database.write() as session:
        session.execute(update(Trial).values(told=None))
    local, served = both(run, "jobs", "replay", str(job_id))
    assert local == served
    assert local[:2] == (1, "")
    assert (
        "cannot be replayed: what its search had been told when it proposed trials 1, 2, 3, 4, 5 and 8 more" in local[2]
    )
    found = json.loads(run("jobs", "replay", str(job_id), "--json")[1])
    assert (found["replayable"], "was not recorded" in found["missing"]) == (False, True)


@pytest.mark.parametrize(
    ("changed", "told_as"),
    [
        ({"donors": None}, SearchAsStored),
        ({"donors": [7]}, SearchAsStored),
        ({"device": {"id": 3}}, SearchOut),  # of the form that it has on the wire, and yet no device
    ],
)
def test_a_search_that_another_version_kept_is_told_as_it_is_stored(
    run: Run, database: Database, job_id: UUID, changed: dict[str, object], told_as: type
) -> None:
    with database.write() as session:
        kept = searches.of_job(session, job_id)[1]
        kept.given = unread = {**kept.given, **changed}
    with database.read() as session:
        first, second = list_searches(session, job_id).searches
    assert (type(first), type(second), second.told) == (SearchOut, told_as, 6)
    assert not isinstance(second, SearchAsStored) or second.stored == unread
    local, served = both(run, "jobs", "replay", str(job_id))
    assert local == served
    assert local[:2] == (1, "")
    assert "cannot be replayed: another version kept what its search was made from that was told 6 " in local[2]


def test_a_job_replays_where_its_database_is_merged(
    database: Database,
    job_id: UUID,
    sqlite_url: str,
    tmp_path: Path,
    migrated_file: Path,  # noqa: F811
    capsys: pytest.CaptureFixture[str],
) -> None:
    with database.read() as session:
        before = [(row.told, row.given) for row in searches.of_job(session, job_id)]
    assert [told for told, _ in before] == [1, 6]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    copyfile(migrated_file, elsewhere / "xetune.sqlite")
    other = open_database(f"sqlite:///{elsewhere / 'xetune.sqlite'}")
    files = ArtifactStore(elsewhere / "artifacts")
    for jobs_of_it in (1, 0):  # the second time it is known
        with open_other(sqlite_url.removeprefix("sqlite:///"), tmp_path / "artifacts") as there:
            assert merge_in(there, other, files, "the lab", dry_run=False).jobs == jobs_of_it
    with other.read() as session:
        assert [(row.told, row.given) for row in searches.of_job(session, job_id)] == before
    assert print_replay(Local(Stored(Settings(data_dir=elsewhere), other, files)), job_id, as_json=False)
    assert capsys.readouterr().out == f"replayed: {TRIALS} of {TRIALS} proposals the same\n"
    other.close()


def test_a_service_tells_what_searches_were_made_from(run: Run, job_id: UUID) -> None:
    backing_said = json.loads(run("--server", "http://testserver", "jobs", "show", str(job_id), "--json")[1])
    told = {trial["number"]: trial["told"] for trial in backing_said["trials"]}
    assert told[0] is None
    assert told[6] == 6  # the first of the second run
    assert all(0 < told[number] <= number for number in range(1, TRIALS))


def test_a_job_replays_where_its_file_is_imported(
    database: Database,
    job_id: UUID,
    tmp_path: Path,
    migrated_file: Path,  # noqa: F811
    capsys: pytest.CaptureFixture[str],
) -> None:
    with database.read() as session:
        records = list(results(session, ArtifactStore(tmp_path / "artifacts"), Selection(job_id=job_id)))
    written = "".join(write_lines([header("the lab"), *records])).encode()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    copyfile(migrated_file, elsewhere / "xetune.sqlite")
    other = open_database(f"sqlite:///{elsewhere / 'xetune.sqlite'}")
    files = ArtifactStore(elsewhere / "artifacts")

    def resolve(name: str) -> DeviceSpec:
        raise UnknownDevice(f"{name} is not here")

    for _ in range(2):  # the second time it is known
        take_in(read_lines(BytesIO(written)), other, files, resolve)
    assert print_replay(Local(Stored(Settings(data_dir=elsewhere), other, files)), job_id, as_json=False)
    assert capsys.readouterr().out == f"replayed: {TRIALS} of {TRIALS} proposals the same\n"
    other.close()
