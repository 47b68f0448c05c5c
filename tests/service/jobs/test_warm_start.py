"""A search starts from several good configurations of the nearest problems and devices, and from no others."""

from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest

from codegen import EpilogueKind, EpilogueStep, GemmProblem, XeConfig
from codegen.problem.gemm import DType
from codegen.xe.rules import check
from db.queries import (
    devices,
    jobs,
    problems,
)
from db.queries.cluster import leases
from db.session import Database, open_database
from hal import DeviceSpec, emulated_spec, find
from hal.facts.spec import (
    DeviceKind,
    Fact,
    spec_from_facts,
)
from service.api.exchange import recording
from service.api.jobs.service import read_job
from service.api.keys.caller import COMMAND_LINE
from service.artifacts import ArtifactStore
from service.device_json import spec_to_json
from service.gemm_json import problem_to_json
from service.jobs.store import DbTrialStore
from service.jobs.warm_start import donors_for
from tests.conformance.trial_samples import measured
from tests.db.rows import digest
from tests.tuner.fakes import artifact_of
from tuner.exchange.file_format import Format
from tuner.exchange.parameters import parameters_of
from tuner.exchange.results import Results, Times, Tried
from tuner.session.trial import Status
from tuner.space.xe.axes import ranges_of
from tuner.space.xe.heuristic import (
    best_tiles,
    default_config,
    rates_of,
    with_defaults,
)
from tuner.space.xe.points import (
    config_of,
    point_of,
)

HERE = GemmProblem(512, 384, 1024)
B580, B570, PVC = find("b580"), find("b570"), find("max1100")
_CPU = spec_from_facts("cpu", "A CPU", DeviceKind.CPU, [Fact("cores", 2, "probed"), Fact("driver", "9", "probed")])


@pytest.fixture
def database(sqlite_url: str) -> Generator[Database]:
    """An empty database."""
    opened = open_database(sqlite_url)
    yield opened
    opened.close()


def good(problem: GemmProblem, spec: DeviceSpec, count: int, first: int = 0) -> list[XeConfig]:
    """Return configurations of the best tiles, from the `first` on."""
    from codegen.xe.rules import check_problem

    on = check_problem(problem, spec)
    ranges = ranges_of(on)
    rates, _ = rates_of(on)
    tiles = best_tiles(on, ranges, rates)[first : first + count]
    return [config_of(problem, point) for point in with_defaults(on, ranges, tiles, rates)]


def add_job(database: Database, problem: GemmProblem, spec: DeviceSpec) -> UUID:
    """Add a claimed job."""
    with database.write() as session:
        row = problems.upsert(session, key=problem.key, definition=problem_to_json(problem))
        known = {"slug": spec.id, "driver": spec.driver or "", "name": spec.name, "kind": spec.kind.value}
        device = devices.upsert(session, **known, emulates=spec.emulates, spec=spec_to_json(spec))
        asked = {"budget_trials": 9, "budget_seconds": 60.0, "seed": 1, "request_hash": digest(jobs.new_id())}
        job = jobs.create(session, problem_id=row.id, device_id=device.id, **asked)
        assert job is not None
        leases.claim(session, job.id, "worker", 60.0)
        return job.id


def tuned(
    database: Database, folder: Path, problem: GemmProblem, spec: DeviceSpec, trials: int = 2, first: int = 0
) -> UUID:
    """Add a job that measured some configurations, each faster than the one before."""
    job_id = add_job(database, problem, spec)
    store = DbTrialStore(database, ArtifactStore(folder), job_id, "worker")
    for number, config in enumerate(good(problem, spec, trials, first)):
        made = artifact_of(problem, config)
        made = replace(made, stages=(replace(made.stages[0], file_name="kernel.spv"),))
        store.begin(number, config)
        store.end(number, replace(measured(0, 50.0 - number), kernel_hash=made.content_hash), made)
    return job_id


def donors(database: Database, job_id: UUID) -> list[tuple[UUID | None, int, float]]:
    """Return the donors of a job's warm start."""
    with database.read() as session:
        return [(d.job, d.trial, round(d.distance, 2)) for d in read_job(session, job_id).donors]


def test_the_winners_of_the_nearest_come_first_then_their_second_best(database: Database, tmp_path: Path) -> None:
    far = tuned(database, tmp_path, replace(HERE, m=4096, batch_stride_a=None, batch_stride_c=None), B580)
    near = tuned(database, tmp_path, GemmProblem(256, 384, 1024), B580, first=4)
    sister = tuned(database, tmp_path, GemmProblem(512, 384, 1024), B570, first=8)
    other = tuned(database, tmp_path, GemmProblem(512, 384, 1024), PVC, first=12)
    mine = add_job(database, HERE, B580)
    configs = donors_for(database, mine, HERE, B580)
    found = donors(database, mine)
    assert [job for job, _, _ in found] == [near, far, sister, other] * 2
    assert [trial for _, trial, _ in found] == [1] * 4 + [0] * 4, "the faster of each first"
    assert [far for _, _, far in found[:4]] == [1.0, 3.0, 0.0, 0.0]
    assert configs
    for config in configs:
        assert isinstance(config, XeConfig)
        check(HERE, config, B580)  # as the same choices say them for this problem
    assert configs == donors_for(database, mine, HERE, B580), "a run that goes on begins with the same"


@pytest.mark.slow
def test_what_says_nothing_of_the_problem_is_left_out(database: Database, tmp_path: Path) -> None:
    reduces = (EpilogueStep(EpilogueKind.BETA, value=1.0),)
    stand_in = emulated_spec(_CPU, B580)
    for problem, spec in (
        (replace(HERE, dtype_a=DType.BF16, dtype_b=DType.BF16), B580),
        (GemmProblem(512, 384, 1024, transpose_b=True), B580),
        (replace(HERE, epilogue=reduces), B580),
        (replace(HERE, dynamic=True), B580),
        (HERE, stand_in),
    ):
        tuned(database, tmp_path, problem, spec)
    mine = add_job(database, HERE, B580)
    assert (donors_for(database, mine, HERE, B580), donors(database, mine)) == ([], [])
    theirs = add_job(database, replace(HERE, m=1024, batch_stride_a=None, batch_stride_c=None), stand_in)
    assert donors_for(database, theirs, replace(HERE, m=1024, batch_stride_a=None, batch_stride_c=None), stand_in)


def test_a_plain_epilogue_is_no_other_problem(database: Database, tmp_path: Path) -> None:
    relu = replace(HERE, epilogue=(EpilogueStep(EpilogueKind.RELU),))
    tuned(database, tmp_path, relu, B580)
    mine = add_job(database, HERE, B580)
    assert len(donors_for(database, mine, HERE, B580)) == 2


def test_of_one_job_a_few_are_taken(database: Database, tmp_path: Path) -> None:
    tuned(database, tmp_path, GemmProblem(1024, 384, 1024), B580, trials=7)
    mine = add_job(database, HERE, B580)
    donors_for(database, mine, HERE, B580)
    assert [trial for _, trial, _ in donors(database, mine)] == [6, 5, 4, 3]


def test_the_default_of_another_size_is_said_for_this_one() -> None:
    from tuner.search.warm_start import (
        Donor,
        fitted,
    )

    source = GemmProblem(1024, 768, 1024)
    (config,) = fitted([Donor(default_config(source, B580), source)], HERE, B580)
    assert isinstance(config, XeConfig)
    assert point_of(HERE, config)[:8] == point_of(source, default_config(source, B580))[:8]


def test_recorded_results_are_donors_after_those_of_jobs(database: Database, tmp_path: Path) -> None:
    far = GemmProblem(1024, 384, 1024)
    found = good(HERE, B580, 5)
    parameters = [parameters_of(config) for config in found]
    for problem, offset in ((HERE, 10.0), (far, 1.0)):
        tried = tuple(
            Tried(tuple(each.values()), Status.MEASURED, Times(offset + n)) for n, each in enumerate(parameters)
        )
        results = Results("gemm", "Arc B580", (problem.m, problem.n, problem.k), tuple(parameters[0]), tried)
        recorded = recording.check(results, Format.T4, problem, B580, "a file")
        recording.write(database, recorded)
        with database.write() as session:
            recording.add(session, recorded, COMMAND_LINE)
    tuned(database, tmp_path, far, B580)
    job_id = add_job(database, HERE, B580)
    chosen = donors_for(database, job_id, HERE, B580)
    assert set(found[:4]) <= set(chosen)
    with database.read() as session:
        said = read_job(session, job_id).donors
    assert [(donor.job is None, donor.distance) for donor in said] == [(False, 1.0)] * 2 + [(True, 0.0)] * 4
    assert [donor.trial for donor in said[2:]] == [0, 1, 2, 3]
    assert donors_for(database, job_id, HERE, B580) == chosen
    assert donors_for(database, add_job(database, HERE, _CPU), HERE, _CPU) == []
