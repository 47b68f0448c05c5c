"""Lookups answer from the first of five sources that has a result, and state the source and its confidence."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest
from fastapi.testclient import TestClient

from codegen import GemmProblem, XeConfig
from codegen.artifact.toolchain import toolchain_versions
from db.schema.job import Job
from db.schema.kernel import Kernel
from db.schema.trial import Measurement, Trial
from db.session import Database
from hal import DeviceSpec, find
from service.api.kernels.lookup.schemas import LookupOut
from service.gemm_json import config_from_json
from service.http.context import Context
from service.schemas import to_body
from tests.service.jobs.test_warm_start import good, tuned
from tests.service.rest import jobs_of
from tuner.model.xe import MODEL_VERSION

HERE = GemmProblem(512, 384, 1024)
B580 = find("b580")
Look = Callable[..., LookupOut]


@pytest.fixture
def look(client: TestClient) -> Look:
    """Look a problem up over REST."""

    def ask(problem: GemmProblem = HERE, device: str = "b580", **more: object) -> LookupOut:
        answer = client.post("/v1/kernels/lookup", json={"problem": _body(problem), "device": device} | more)
        assert answer.status_code == 200, answer.text
        return LookupOut.model_validate(answer.json())

    return ask


def _body(problem: GemmProblem) -> dict[str, object]:
    return to_body(problem).model_dump(mode="json")


def tuned_now(database: Database, folder: Path, problem: GemmProblem = HERE, spec: DeviceSpec = B580) -> UUID:
    """Add a job whose results have the installed versions."""
    job_id = tuned(database, folder, problem, spec)
    with database.write() as session:
        for kernel in session.query(Kernel):
            kernel.toolchain = dict[str, object](toolchain_versions())
        for row in session.query(Measurement):
            row.p10_us, row.p90_us = row.median_us * 0.99, row.median_us * 1.01
            row.min_us = row.p10_us
    return job_id


def test_the_best_of_a_cancelled_job_is_told_as_such(context: Context, look: Look, tmp_path: Path) -> None:
    job_id = tuned_now(context.database, tmp_path / "artifacts")
    assert look().confidence.value == 0.95  # and is kept in memory
    with context.database.write() as session:
        job = session.get(Job, job_id)
        assert job is not None
        job.status, job.cancel_requested, job.lease_until = "cancelled", True, None
        job.worker, job.finished_at = None, context.now()
    found = look()
    assert (found.source, found.confidence.level, found.confidence.value) == ("exact", "high", 0.85)
    assert found.confidence.reasons[1] == (
        f"-0.10 job {job_id} was cancelled: the best of the part of the search that was done"
    )
    nearby = look(GemmProblem(544, 384, 1024))
    assert nearby.source == "nearest"
    assert any("was cancelled" in reason for reason in nearby.confidence.reasons)


def test_tuned_for_this_very_problem_is_exact(context: Context, look: Look, tmp_path: Path) -> None:
    job_id = tuned_now(context.database, tmp_path / "artifacts")
    found = look()
    assert (found.source, found.stale, found.next) == ("exact", [], [])
    assert found.kernel is not None
    assert found.time is not None
    assert (found.kernel.job, found.time.kind, found.time.value) == (job_id, "measured", 49.0)
    assert (found.confidence.level, found.confidence.value) == ("high", 0.95)
    assert found.time_text.startswith("49 us for this problem: measured, single measurement")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"xetune-codegen": "0" * 16}, "generator 0000000000000000 then, "),
        ({"llvmlite": "0.1"}, "compiler llvmlite 0.1 then, "),
    ],
)
def test_of_other_versions_it_is_stale_and_says_of_which(
    context: Context, look: Look, tmp_path: Path, change: dict[str, str], said: str
) -> None:
    tuned_now(context.database, tmp_path / "artifacts")
    with context.database.write() as session:
        for kernel in session.query(Kernel):
            kernel.toolchain = dict[str, object](toolchain_versions()) | change
    found = look()
    assert found.source == "stale"
    assert [why.startswith(said) for why in found.stale] == [True]
    assert (found.kernel is not None, found.confidence.level, found.confidence.value) == (True, "medium", 0.65)
    assert found.next[0].body["device"] == "b580"


def test_of_another_driver_it_is_stale_and_a_valid_one_comes_first(
    context: Context, look: Look, tmp_path: Path
) -> None:
    here = next(d.spec for d in context.devices.all() if d.spec.id == "opencl-cpu")
    from hal import emulated_spec

    spec = emulated_spec(here, B580)
    old = tuned_now(context.database, tmp_path / "artifacts", spec=replace(spec))
    with context.database.write() as session:
        for row in session.query(Measurement):
            row.driver = "an older one"
    found = look(device=spec.id)
    assert (found.source, found.stale) == ("stale", ["driver an older one then, 2026.2 now"])
    valid = tuned_now(context.database, tmp_path / "artifacts", spec=spec)
    with context.database.write() as session:
        for row in session.query(Measurement).join(Trial, Trial.id == Measurement.trial_id):
            if session.get_one(Trial, row.trial_id).job_id == valid:
                row.driver, row.p90_us, row.median_us = "2026.2", row.p90_us * 3, row.median_us * 3
    found = look(device=spec.id)
    assert found.kernel is not None
    assert (found.source, found.kernel.job) == ("exact", valid), "although the stale time is less"
    assert old != valid


def test_wide_old_and_predicted_times_are_trusted_less(context: Context, look: Look, tmp_path: Path) -> None:
    tuned_now(context.database, tmp_path / "artifacts")
    with context.database.write() as session:
        for row in session.query(Measurement):
            row.p90_us = row.median_us * 1.5
            row.measured_at = context.now() - timedelta(days=400)
    found = look()
    assert found.confidence.value == pytest.approx(0.95 - 0.15 - 0.05)
    assert len(found.confidence.reasons) == 3


def test_the_nearest_tuned_problem_gives_its_choices_and_never_its_time(
    context: Context, look: Look, tmp_path: Path
) -> None:
    near, far = GemmProblem(512, 384, 1536), GemmProblem(512, 768, 1024)
    tuned_now(context.database, tmp_path / "artifacts", far)
    job_id = tuned_now(context.database, tmp_path / "artifacts", near)
    found = look()
    assert (found.source, found.kernel, found.launch) == ("nearest", None, None)
    assert found.elsewhere is not None
    assert (found.elsewhere.job, found.elsewhere.problem.k) == (job_id, 1536)
    assert found.elsewhere.time is not None
    assert found.elsewhere.time.value == 49.0
    assert found.time is not None
    assert (found.time.kind, found.time.label) == ("predicted", MODEL_VERSION), "of this problem nothing is measured"
    assert "for 512x384x1536 f16->f32 NN it was 49 us, measured" in found.time_text
    config = config_from_json(found.model_dump(mode="json")["config"])
    assert isinstance(config, XeConfig)
    from codegen.xe.rules import check

    check(HERE, config, B580)
    assert found.confidence.level == "medium"


def test_nothing_of_another_device_or_class_is_nearest(context: Context, look: Look, tmp_path: Path) -> None:
    tuned_now(context.database, tmp_path / "artifacts", spec=find("b570"))
    tuned_now(context.database, tmp_path / "artifacts", GemmProblem(512, 384, 1536, transpose_b=True))
    found = look()
    assert (found.source, found.elsewhere) == ("heuristic", None)


def test_farther_problems_are_ranked_by_the_model(context: Context, look: Look, tmp_path: Path) -> None:
    far = GemmProblem(512, 384, 8192)
    tuned_now(context.database, tmp_path / "artifacts", far)
    found = look()
    assert (found.source, found.confidence.level) == ("model", "low")
    assert found.time is not None
    assert (found.time.kind, found.kernel) == ("predicted", None)


def test_with_nothing_at_all_it_is_the_default_and_says_so(look: Look) -> None:
    found = look()
    assert (found.source, found.confidence.level, found.kernel) == ("heuristic", "low", None)
    assert found.time is not None
    assert found.time.kind == "predicted"
    cpu = look(device="cpu-fake-2c")
    assert (cpu.source, cpu.time) == ("heuristic", None)
    assert cpu.time_text.startswith("unknown here")


@pytest.mark.parametrize(
    ("tune", "stale", "queued"),
    [("never", False, False), ("on_miss", False, True), ("on_miss", True, False), ("on_stale", True, True)],
)
def test_a_lookup_queues_a_job_where_it_is_asked_to(
    context: Context, look: Look, tmp_path: Path, tune: str, stale: bool, queued: bool
) -> None:
    if stale:
        tuned(context.database, tmp_path / "artifacts", HERE, B580)  # by a toolchain of no versions
    before = {job.id for job in jobs_of(context.database)}
    found = look(tune=tune)
    assert found.source == ("stale" if stale else "heuristic")
    after = {job.id for job in jobs_of(context.database)} - before
    assert after == ({found.job} if queued else set())
    again = look(tune=tune)
    assert again.job == found.job, "the same work is queued once"


@pytest.mark.slow
def test_a_dynamic_kernel_is_served_with_the_launch_of_the_sizes_asked_for(
    context: Context, look: Look, tmp_path: Path
) -> None:
    from codegen.pipeline import compile_gemm
    from codegen.workers.cache import CompileCache

    source = GemmProblem(512, 384, 1024, dynamic=True)
    tuned_now(context.database, tmp_path / "artifacts", source)
    (_, best) = good(source, B580, 2)
    made = compile_gemm(source, best, B580)
    CompileCache(context.settings.cache_dir).put(made, B580)
    with context.database.write() as session:
        for kernel in session.query(Kernel):
            kernel.content_hash = made.content_hash if config_from_json(kernel.config) == best else kernel.content_hash
    found = look(GemmProblem(640, 384, 1024, dynamic=True))
    assert found.source == "nearest"
    assert found.kernel is not None
    assert found.kernel.problem.m == 512
    launch = found.model_dump(mode="json")["launch"]
    values = {p["scalar"]: p["value"] for p in launch["steps"][0]["parameters"] if p.get("scalar")}
    assert values["m"] == 640
    block = best.matmul.block
    assert found.model_dump(mode="json")["config"]["matmul"]["threads"]["m"] == -(-640 // block.m)
    assert (
        launch["steps"][0]["global_size"] != found.kernel.model_dump(mode="json")["launch"]["steps"][0]["global_size"]
    )
    unaligned = look(GemmProblem(640, 385, 1023, dynamic=True))
    assert (unaligned.kernel, unaligned.launch) == (None, None), "what it relies on does not hold: it is not served"
