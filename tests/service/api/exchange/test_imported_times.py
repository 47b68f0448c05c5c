"""A job on a CPU takes what a colleague measured on the same CPU, from an imported file, and tunes nothing again."""

import hashlib
import io
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import UUID

import pytest

from codegen import AnyArtifact, CpuArtifact, CpuConfig, DType, GemmProblem, KernelConfig
from db.queries import (
    devices,
    jobs,
    problems,
)
from db.queries.cluster import leases
from db.session import Database, open_database
from hal import DeviceSpec, find
from service.api.exchange import exporting
from service.api.exchange.exporting import Selection
from service.artifacts import ArtifactStore
from service.device_json import spec_to_json
from service.gemm_json import problem_to_json
from service.jobs.measurement_reuse import known_of
from service.jobs.store import DbTrialStore
from tests.codegen.elf_objects import object_file
from tests.db.rows import digest
from tests.service.api.exchange.data_folders import take_in
from tests.tuner.fakes import FakeCompilation, FakeCompiler, FakeDevice, binary_of, cpu_spec
from tuner.exchange.jsonl import read_lines, write_lines
from tuner.measure.finalists import NEAR
from tuner.session.budget import Budget
from tuner.session.job_spec import JobSpec
from tuner.session.session import run_session
from tuner.session.trial import Trial
from tuner.space.cpu.space import cpu_space
from tuner.space.space import Space

PROBLEM = GemmProblem(24, 40, 56, dtype_a=DType.F32, dtype_b=DType.F32)
SPEC = replace(cpu_spec(), driver="fake 1")  # as the device tells it
TRIALS = 12


@dataclass
class Compilation(FakeCompilation):
    """A kernel whose code is that of its configuration, under a name that holds its compile key."""

    def result(self) -> AnyArtifact:
        made = super().result()
        assert isinstance(made, CpuArtifact)
        code = f"define @gemm_{made.key[:12]} {binary_of(made.config).hex()}".encode()
        data = object_file(["gemm", "gemm_pack_b"], code)
        stages = [replace(s, data={"llvm": code, "object": data}.get(s.name, s.data)) for s in made.stages]
        return replace(made, stages=tuple(stages), content_hash=hashlib.sha256(data).hexdigest())


@dataclass
class Compiler(FakeCompiler):
    """Gives such kernels."""

    def compile(self, problem: GemmProblem, config: KernelConfig, spec: DeviceSpec) -> Compilation:
        return Compilation(problem, config)


def tuned(database: Database, artifacts: ArtifactStore) -> tuple[UUID, list[Trial], FakeDevice]:
    """A job of that database that is over, its trials, and the device that it ran on."""
    with database.write() as session:
        problem = problems.upsert(session, key=PROBLEM.key, definition=problem_to_json(PROBLEM))
        named = {"slug": SPEC.id, "driver": SPEC.driver or "", "name": SPEC.name, "kind": SPEC.kind.value}
        device = devices.upsert(session, **named, emulates=None, spec=spec_to_json(SPEC))
        job = jobs.create(
            session,
            problem_id=problem.id,
            device_id=device.id,
            budget_trials=TRIALS,
            budget_seconds=60.0,
            seed=4,
            request_hash=digest(jobs.new_id()),
        )
        assert job is not None
        leases.claim(session, job.id, "worker", 60.0)
    store, fake = DbTrialStore(database, artifacts, job.id, "worker"), FakeDevice(PROBLEM, SPEC)
    known = known_of(database, job.id, PROBLEM, SPEC)
    run_session(
        JobSpec(problem=PROBLEM, device=SPEC, budget=Budget(TRIALS, 60.0), seed=4), fake, store, Compiler(), known=known
    )
    with database.write() as session:
        leases.finish(session, job.id, "worker", "succeeded", None)
    return job.id, store.trials(), fake


def slow_ones(trials: list[Trial]) -> set[int]:
    """Numbers of the trials whose least time is not near the best median before them."""
    measured = [trial.outcome.measurement for trial in trials if trial.outcome and trial.outcome.measurement]
    assert len(measured) == len(trials)
    medians_us = [measurement.median_us for measurement in measured]
    return {n for n in range(1, len(measured)) if measured[n].min_us > min(medians_us[:n]) * NEAR}


@pytest.mark.slow
def test_a_job_after_an_import_measures_only_what_may_win(
    tmp_path: Path, migrated_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = cpu_space(PROBLEM, SPEC)

    def same(_problem: GemmProblem, _spec: DeviceSpec) -> Space[CpuConfig]:
        return space

    monkeypatch.setattr("tuner.space.cpu.backend.cpu_space", same)
    places: list[tuple[Database, ArtifactStore]] = []
    for name in ("colleague", "mine"):
        (tmp_path / f"{name}.sqlite").write_bytes(migrated_file.read_bytes())
        places.append((open_database(f"sqlite:///{tmp_path / name}.sqlite"), ArtifactStore(tmp_path / name)))
    (theirs, their_files), (mine, my_files) = places
    first, before, _ = tuned(theirs, their_files)
    with theirs.read() as session:
        written = [exporting.header("the lab"), *exporting.results(session, their_files, Selection())]
    text = "".join(write_lines(written))
    take_in(read_lines(io.BytesIO(text.encode())), mine, my_files, find, None)
    _, after, device = tuned(mine, my_files)
    assert [trial.config for trial in after] == [trial.config for trial in before], "the same search"
    taken = [trial for trial in after if trial.source is not None]
    assert {trial.number for trial in taken} == slow_ones(before) != set()
    assert {(t.source.job, t.source.number) for t in taken if t.source} == {(str(first), t.number) for t in taken}
    measured = {binary for binary, _, timed in device.runs if timed}
    assert measured == {binary_of(trial.config) for trial in after if trial.source is None}
    for place, _ in places:
        place.close()
