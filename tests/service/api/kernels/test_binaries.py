"""Native binaries of kernels: built, served beside SPIR-V, rebuilt for a new driver; Intel's driver takes them."""

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from codegen import GemmArtifact, GemmProblem
from codegen.backend import compile_kernel
from db.queries.cluster import leases
from db.queries.results import kernels, trials
from hal import SimulatedDevice, find
from hal.driver.simulated_gpus import SIMULATED_GPUS
from service.api.kernels.binaries import builder
from service.api.schedules.firing import fire_due
from service.http.context import Context
from service.jobs.store import DbTrialStore
from service.jobs.tuning import Tuning
from service.jobs.worker import Worker
from service.schemas import to_body
from tests.codegen.xe.isa.fake_ocloc import elf, fake_ocloc, real_ocloc
from tests.conformance.trial_samples import artifact, predicted
from tests.hal.driver.real_driver import real_driver
from tests.service.api.hostcode.host_code import build, run_under_driver
from tests.service.api.hostcode.test_under_driver import need_headers
from tests.service.cli.both_transports import Run, both
from tests.service.cli.conftest import one_database, run
from tests.service.rest import Clock, post_job, row_of
from tuner.backend import tuning_for

__all__ = ["one_database", "run"]
NEW, OLD = "echo 26.31.40000", "echo 26.27.39122"
EXAMPLES = Path(__file__).resolve().parents[4] / "examples"
PROBLEM = GemmProblem(96, 64, 128)


def stored(client: TestClient, context: Context, made: GemmArtifact) -> UUID:
    """Store a kernel of a job and return its id."""
    job = post_job(client, problem=to_body(made.problem).model_dump(mode="json"))
    with context.database.write() as session:
        leases.claim(session, job, "worker", 60.0)
    store = DbTrialStore(context.database, context.artifacts, job, "worker")
    store.begin(0, made.config)
    store.end(0, replace(predicted(0), kernel_hash=made.content_hash), made)
    with context.database.write() as session:
        row = row_of(session, job)
        row.status, row.finished_at, row.worker, row.lease_until = "succeeded", context.now(), None, None
        row.best_trial_id = trials.list_page(session, job)[0].id
        return kernels.list_page(session, limit=1)[0].id


def default(problem: GemmProblem = PROBLEM) -> GemmArtifact:
    """Compile the default of a problem for the B580."""
    spec = find("b580")
    made = compile_kernel(problem, tuning_for(spec).default(problem, spec), spec)
    assert isinstance(made, GemmArtifact)
    return made


@pytest.fixture
def ocloc(tmp_path: Path, context: Context) -> Path:
    """A compiler of the old version in the service's data folder."""
    folder = context.settings.ocloc_dir
    folder.mkdir(parents=True)
    return fake_ocloc(folder, version=OLD, compile="echo built it; mkdir binary; cp " + _binary(tmp_path))


def _binary(folder: Path) -> str:
    (folder / "zebin").write_bytes(elf())
    return f"{folder / 'zebin'} binary/kernel_bmg.bin"


def work(client: TestClient, context: Context, *ids: str) -> list[dict[str, Any]]:
    """Run jobs as a worker does, and return them."""
    tuning = Tuning(
        context.database,
        context.artifacts,
        context.settings.cache_dir,
        build_binary=builder(context.settings, context.artifacts),
    )
    worker = Worker(context.database, context.settings, threading.Event())
    for each in ids:
        assert worker.run_one(UUID(each), tuning.run)
    return [client.get(f"/v1/jobs/{each}").json() for each in ids]


def upgrade(ocloc: Path, version: str = NEW) -> None:
    """Replace the compiler by one of another version."""
    ocloc.write_text(ocloc.read_text().replace(OLD, version))


def test_a_binary_is_built_once_and_offered_with_its_log(client: TestClient, context: Context, ocloc: Path) -> None:
    kernel = stored(client, context, artifact(0))
    path = f"/v1/kernels/{kernel}/binaries"
    assert client.get(path).json() == {"binaries": []}
    made = client.post(path)
    assert made.status_code == 201, made.text
    found = made.json()
    assert (found["chip"], found["driver"], found["stale"]) == ("bmg", "26.27.39122", [])
    assert found["name"] == "kernel-bmg-26.27.39122.zebin"
    assert client.get(found["href"]).content == elf()
    assert client.get(found["log_href"]).text == "built it"
    assert client.post(path).status_code == 200
    assert client.get(path).json()["binaries"] == [found]
    assert client.get(f"/v1/kernels/{kernel}").json()["binaries"] == [found]
    events = client.get("/v1/audit?action=binary.build").json()["events"]
    assert [(e["subject"], e["outcome"]) for e in events] == [(str(kernel), "done")]


def test_a_lookup_offers_a_binary_from_the_next_answer_on(client: TestClient, context: Context, ocloc: Path) -> None:
    kernel = stored(client, context, default())
    asked = {"m": 96, "n": 64, "k": 128, "device": "b580"}

    def offered() -> list[str]:
        found = client.get("/v1/kernels", params=asked).json()["kernel"]
        assert found["id"] == str(kernel)
        return [each["driver"] for each in found["binaries"]]

    assert offered() == []
    client.post(f"/v1/kernels/{kernel}/binaries")
    assert offered() == ["26.27.39122"]


@pytest.mark.parametrize("method", ["GET", "POST", "batch"])
def test_a_lookup_compares_binaries_with_the_driver_of_the_caller(
    client: TestClient, context: Context, ocloc: Path, method: str
) -> None:
    kernel = stored(client, context, default())
    client.post(f"/v1/kernels/{kernel}/binaries")
    upgrade(ocloc)
    client.post(f"/v1/kernels/{kernel}/binaries")

    def offered(driver: str | None) -> list[tuple[str, list[str]]]:
        said, size = {} if driver is None else {"driver": driver}, {"m": 96, "n": 64, "k": 128}
        if method == "GET":
            answer = client.get("/v1/kernels", params=size | {"device": "b580"} | said)
        elif method == "batch":
            unknown = {"m": 96, "n": 64, "k": 128, "transpose_a": True}
            asked = {"problems": [unknown, size], "device": ["cpu", "b580"]} | said
            answer = client.post("/v1/kernels/lookup/batch", json=asked)
            return [(each["driver"], each["stale"]) for each in answer.json()["answers"][1]["kernel"]["binaries"]]
        else:
            answer = client.post("/v1/kernels/lookup", json={"problem": size, "device": "b580"} | said)
        assert answer.status_code == 200, answer.text
        return [(each["driver"], each["stale"]) for each in answer.json()["kernel"]["binaries"]]

    new, old = "26.31.40000", "26.27.39122"
    for _ in range(2):  # the second time from the cache of answers
        assert offered(None) == [(new, []), (old, [])]
        assert offered(old) == [(old, []), (new, [f"driver {new} then, {old} now"])]
        assert offered(new) == [(new, []), (old, [f"driver {old} then, {new} now"])]
    assert [stale for _, stale in offered("1.2.3")] == [
        [f"driver {new} then, 1.2.3 now"],
        [f"driver {old} then, 1.2.3 now"],
    ]


def test_after_a_change_of_the_driver_stale_binaries_are_rebuilt(
    client: TestClient, context: Context, ocloc: Path
) -> None:
    kernel = stored(client, context, artifact(0))
    other = stored(client, context, artifact(1, GemmProblem(112, 64, 128, transpose_b=True)))
    client.post(f"/v1/kernels/{kernel}/binaries")
    assert client.post("/v1/binaries/rebuild").json()["jobs"] == []
    upgrade(ocloc)
    (old,) = client.get(f"/v1/kernels/{kernel}/binaries?driver=1.9.40000").json()["binaries"]
    assert old["stale"] == ["driver 26.27.39122 then, 1.9.40000 now"]
    asked = client.post("/v1/binaries/rebuild")
    assert asked.status_code == 202, asked.text
    (job,) = asked.json()["jobs"]
    assert asked.json() == {"driver": "26.31.40000", "jobs": [job], "left": 0}
    assert client.post("/v1/binaries/rebuild").json()["jobs"] == [job]  # it is queued already
    assert len(client.get(f"/v1/kernels/{kernel}/binaries").json()["binaries"]) == 1
    (done,) = work(client, context, job)
    assert (done["status"], done["kind"], done["error"], done["counts"]) == ("succeeded", "binary", None, {})
    assert [each["id"] for each in client.get("/v1/jobs?kind=binary").json()["jobs"]] == [job]
    assert client.post("/v1/binaries/rebuild").json()["jobs"] == []
    new, old = client.get(f"/v1/kernels/{kernel}/binaries?driver=1.9.40000").json()["binaries"]
    assert (new["driver"], new["stale"]) == ("26.31.40000", [])
    assert old["stale"]
    first, _ = client.get(f"/v1/kernels/{kernel}/binaries?driver=26.27.39122.14").json()["binaries"]
    assert (first["driver"], first["stale"]) == ("26.27.39122", [])
    assert client.get(f"/v1/kernels/{other}/binaries").json()["binaries"] == []  # none was asked for


def test_rebuilds_keep_the_limit_of_active_jobs(client: TestClient, context: Context, ocloc: Path) -> None:
    kernel = stored(client, context, artifact(0))
    client.post(f"/v1/kernels/{kernel}/binaries")
    upgrade(ocloc)
    object.__setattr__(context, "settings", context.settings.model_copy(update={"max_active_jobs": 1}))
    post_job(client)
    assert client.post("/v1/binaries/rebuild").json()["rule"] == "active-jobs"


@pytest.mark.parametrize("by_hand", [False, True])
@pytest.mark.slow
def test_a_schedule_of_stale_results_rebuilds_binaries(
    client: TestClient, context: Context, clock: Clock, ocloc: Path, by_hand: bool
) -> None:
    kernel = stored(client, context, artifact(0))
    client.post(f"/v1/kernels/{kernel}/binaries")
    upgrade(ocloc)
    body = {"name": "nightly", "cron": "0 * * * *", "stale": {"devices": ["b50"], "binaries": 5}}
    made = client.post("/v1/schedules", json=body).json()
    assert len(client.get(f"/v1/kernels/{kernel}/binaries").json()["binaries"]) == 1
    clock.step(hours=1)
    if by_hand:
        client.post(f"/v1/schedules/{made['id']}/run")
    else:
        fire_due(context)
    (job,) = client.get("/v1/jobs?kind=binary").json()["jobs"]
    queued = client.get(f"/v1/audit?subject={job['id']}").json()["events"]
    assert [event["actor"] for event in queued] == ["local" if by_hand else "schedule"]
    work(client, context, job["id"])
    drivers = [each["driver"] for each in client.get(f"/v1/kernels/{kernel}/binaries").json()["binaries"]]
    assert drivers == ["26.31.40000", "26.27.39122"]
    assert client.get("/v1/audit?action=binary.build").json()["events"][0]["actor"] == "worker"


def test_what_cannot_be_built_is_refused_by_name(
    client: TestClient, context: Context, ocloc: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = stored(client, context, artifact(0))
    path = f"/v1/kernels/{kernel}/binaries"
    client.post(path)
    fake_ocloc(ocloc.parent, version=NEW, compile="echo 'error: no'; exit 3")
    assert client.post(path).json()["rule"] == "isa"
    (failed,) = work(client, context, *client.post("/v1/binaries/rebuild").json()["jobs"])
    assert (failed["status"], "error: no" in failed["error"]) == ("failed", True)
    retried = client.post(f"/v1/jobs/{failed['id']}/retry")
    assert (retried.status_code, retried.json()["rule"]) == (409, "retry-kind")
    fake_ocloc(ocloc.parent, version=NEW, undefined="missing_builtin")
    assert "missing_builtin" in client.post(path).json()["detail"]
    ocloc.unlink()
    monkeypatch.setenv("PATH", "")
    for where in (path, "/v1/binaries/rebuild"):
        answer = client.post(where)
        assert (answer.status_code, answer.json()["rule"]) == (409, "ocloc")
    assert client.post(f"/v1/kernels/{UUID(int=3)}/binaries").status_code in (404, 409)


@pytest.mark.slow
def test_the_command_line_builds_lists_and_rebuilds(
    one_database: None, run: Run, client: TestClient, context: Context, ocloc: Path
) -> None:
    kernel = str(stored(client, context, artifact(0)))
    assert "Build one" in run("kernels", "binaries", kernel)[1]
    for arguments in (("binaries", kernel, "--build", "--driver", "26.31.1"), ("rebuild-binaries",)):
        local, served = both(run, "kernels", *arguments)
        assert local == served
    assert "26.27.39122" in run("kernels", "binaries", kernel, "--build")[1]
    assert "0 jobs queued for driver 26.27.39122, 0 left" in run("kernels", "rebuild-binaries")[1]


@pytest.mark.slow
def test_the_command_line_compares_binaries_of_a_lookup(
    one_database: None, run: Run, client: TestClient, context: Context, ocloc: Path
) -> None:
    kernel = stored(client, context, default())
    client.post(f"/v1/kernels/{kernel}/binaries")
    asked = ("find", "--m=96", "--n=64", "--k=128", "--device=b580")
    name = "native binary: kernel-bmg-26.27.39122.zebin"
    assert f"{name}, driver 26.27.39122\n" in run("kernels", *asked)[1]
    local, served = both(run, "kernels", *asked, "--driver", "26.31.1")
    assert local == served
    assert f"{name}, driver 26.27.39122 then, 26.31.1 now" in " ".join(local[1].split())


@pytest.mark.slow
def test_the_driver_builds_and_launches_the_served_binary_without_compiling(
    client: TestClient, context: Context, app: FastAPI
) -> None:
    driver, compiler = real_driver(), real_ocloc()
    context.settings.ocloc_dir.parent.mkdir(parents=True, exist_ok=True)
    context.settings.ocloc_dir.symlink_to(compiler.path.parent)
    made = default()
    kernel = stored(client, context, made)
    answer = client.post(f"/v1/kernels/{kernel}/binaries")
    assert answer.status_code == 201, answer.text
    binary = client.get(answer.json()["href"]).content
    assert answer.json()["driver"] == driver.version
    b580, other = SIMULATED_GPUS[0], next(gpu for gpu in SIMULATED_GPUS if gpu.row == "a770")
    with SimulatedDevice(driver, b580) as device:
        accepted = device.accept(replace(made.launch, binary=binary), 60)
        compiled = device.accept(made.launch, 60)
    assert [each.kernel for each in accepted.kernels] == [each.kernel for each in compiled.kernels]
    assert accepted.kernels[0].spill_bytes == compiled.kernels[0].spill_bytes
    with SimulatedDevice(driver, other) as device, pytest.raises(Exception, match="refused the native binary"):
        device.accept(replace(made.launch, binary=binary), 60)


@pytest.mark.slow
def test_the_example_launches_the_binary_with_level_zero_and_falls_back_to_spirv(tmp_path: Path) -> None:
    driver, compiler = real_driver(), real_ocloc()
    made = default()
    spirv, step = made.stage("spirv").data, made.launch.steps[0]
    for name, data in (("kernel.spv", spirv), ("cut.zebin", b"\x7fELF")):
        (tmp_path / name).write_bytes(data)
    (tmp_path / "kernel.zebin").write_bytes(compiler.compile(spirv, "bmg", made.launch.build_options))
    (tmp_path / "example.cpp").write_text((EXAMPLES / "level_zero_binary.cpp").read_text())
    b580 = SIMULATED_GPUS[0]
    loader = Path(driver.interpreter(b580).command[2]) / "libze_loader.so.1"
    need_headers()
    program = build(tmp_path / "example.cpp", "-Wl,--unresolved-symbols=ignore-in-shared-libs", loader)
    groups = [size // local for size, local in zip(step.global_size, step.local_size, strict=True)]
    numbers = [*step.local_size, *groups, *(argument.nbytes for argument in made.launch.arguments)]
    for file, source in (("kernel.zebin", "native binary"), ("cut.zebin", "SPIR-V")):
        done = run_under_driver(driver, b580, program, file, "kernel.spv", step.kernel, *map(str, numbers))
        assert done.stdout == f"launched gemm on Intel(R) Graphics [0xe20b] from its {source}\n", done.stderr
