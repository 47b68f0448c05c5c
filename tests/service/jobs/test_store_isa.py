"""The report on the GPU's code is kept and served as the other files of a kernel are, also with one kept before."""

import re
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path, PurePath

import pytest

import codegen
from codegen.xe.isa import (
    IsaReport,
    NativeCode,
    with_isa,
)
from codegen.xe.machine.pipeline import Level, PipelineReport, Stall
from db.queries import problems
from db.queries.cluster import leases
from db.queries.results import kernels
from db.session import open_database
from service.artifacts import ArtifactStore
from service.gemm_json import problem_to_json
from service.jobs import store as module
from service.jobs.store import DbTrialStore
from tests.conformance.trial_samples import PROBLEM, artifact, config, predicted
from tests.db.rows import add_job

REPORT = IsaReport("gemm", 256, 4, 0, 0, 70, None)
CODE = NativeCode("bmg", "26.27", "", "L0:\n", (REPORT,), 1.0)
PIPELINE = PipelineReport("gemm", 4, Level.L2, 96.0, 8, 16, 2, {4: 96.0}, {Stall.LOAD: 24.0}, (), ())
STAGE = re.compile(r'(?:\bStage|\bStageOutput|\bstages\.add)\(\s*"[\w-]+",\s*"([\w.-]+)"')


@pytest.fixture
def store(sqlite_url: str, tmp_path: Path) -> Generator[DbTrialStore]:
    """A store of a job that its worker claimed."""
    database = open_database(sqlite_url)
    with database.write() as session:
        problem = problems.upsert(session, key=PROBLEM.key, definition=problem_to_json(PROBLEM))
        job_id = add_job(session, problem_id=problem.id).id
        leases.claim(session, job_id, "worker", 60.0)
    yield DbTrialStore(database, ArtifactStore(tmp_path / "artifacts"), job_id, "worker")
    database.close()


def files(store: DbTrialStore) -> dict[str, tuple[str, bytes]]:
    """Media types and bytes of the files of the only kernel."""
    with store.database.read() as session:
        (kernel,) = kernels.list_page(session, limit=9)
        return {file.name: (file.media_type, store.artifacts.get(file.sha256)) for file in kernel.artifacts}


def test_the_report_is_among_the_files_of_a_kernel(store: DbTrialStore) -> None:
    store.begin(0, config(0))
    store.end(0, predicted(0), with_isa(artifact(0), CODE))
    kept = files(store)
    assert kept["isa.asm"] == ("text/plain; charset=utf-8", b"L0:\n")
    assert kept["isa.json"][0] == "application/json"
    assert b'"grf_count": 256' in kept["isa.json"][1]


def test_the_issues_of_a_k_loop_are_among_the_files_of_a_kernel(store: DbTrialStore) -> None:
    made = with_isa(artifact(0), replace(CODE, reports=(replace(REPORT, pipeline=PIPELINE),)))
    store.begin(0, config(0))
    store.end(0, predicted(0), made)
    kept = files(store)
    assert {"isa.asm", "isa.json", "pipeline.txt"} < {stage.file_name for stage in made.stages} < set(kept)
    assert kept["pipeline.txt"] == ("text/plain; charset=utf-8", made.stage("pipeline").data)


def test_the_file_of_each_stage_has_a_media_type() -> None:
    sources = [file.read_text() for file in Path(codegen.__file__).parent.rglob("*.py")]
    names = {name for source in sources for name in STAGE.findall(source)}
    assert {"xetile.mlir", "emulated.spv", "isa.asm", "isa.json", "pipeline.txt", "nest.ll", "kernel.o"} < names
    assert {name for name in names if PurePath(name).suffix not in module._MEDIA_TYPES} == set()


def test_a_kernel_that_was_kept_without_it_gets_it(store: DbTrialStore) -> None:
    with store.database.write() as session:
        job = add_job(session, problem_id=1)
        leases.claim(session, job.id, "worker", 60.0)
        other = DbTrialStore(store.database, store.artifacts, job.id, "worker")
    store.begin(0, config(0))
    store.end(0, predicted(0), artifact(0))
    before = files(store)
    assert "isa.asm" not in before
    other.begin(0, config(0))
    other.end(0, predicted(0), with_isa(artifact(0), CODE))
    after = files(store)
    assert after.keys() - before.keys() == {"isa.asm", "isa.json"}
    assert {name: after[name] for name in before} == before
