"""Every view of results fits a terminal of 80 columns, with long names and wide numbers."""

import json
from uuid import UUID

import pytest
from fastapi.testclient import TestClient
from rich.cells import cell_len
from sqlalchemy import select
from sqlalchemy.orm import Session

from codegen import GemmProblem
from codegen.problem.epilogue_text import parse_epilogue
from db.queries import jobs
from db.queries.cluster import coordinators
from db.schema.job import Job
from db.schema.kernel import Artifact
from db.schema.recording import RecordedTrial, Recording
from db.schema.target import Problem
from db.schema.trial import Trial
from service.device_json import spec_to_json
from service.http.context import Context
from tests.service import dashboard_rows as rows
from tests.service.api.records.test_records import RECORD
from tests.service.cli.both_transports import Run
from tests.tuner.space.cpu.cpus import RAPIDS

WIDTH = 80
WALL = dict.fromkeys(("propose_s", "compile_s", "wait_s", "verify_s", "measure_s", "compare_s"), 12345.6)
DEVICE = "cpu-intel-xeon-platinum-8592-plus-at-a-very-long-name-f6m207-128c"
KERNEL = "gemm_with_a_long_kernel_name_bias_gelu_and_residual"
NAME = "attention projection of the third and last decoder layer"
PROBLEM = GemmProblem(
    131072, 28672, 131080, epilogue=parse_epilogue("alpha=0.5, bias:column, gelu, add:f16, clip=0..6, reduce:row")
)


@pytest.fixture
def filled(
    one_database: None, spaced_ids: None, client: TestClient, context: Context, monkeypatch: pytest.MonkeyPatch
) -> dict[str, str]:
    """Rows for every view, and their short ids by noun."""
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    with context.database.write() as session:
        problem = rows.add_problem(session, problem=PROBLEM)
        device = rows.add_device(session, DEVICE, None)
        device.spec = spec_to_json(RAPIDS)
        job = rows.add_job(session, problem, device, total_s=123456.0, device_restarts=12, **WALL)
        kernels = [rows.add_kernel(session, job, problem, number) for number in range(2)]
        for number, (kernel, median_us) in enumerate(zip(kernels, (123456789.1, 98765432.1), strict=True)):
            rows.predict(session, rows.add_measured(session, job, number, median_us, kernel.id, "native"), 1e9)
        for number, status in enumerate(rows.FAILURES, start=2):
            rows.add_trial(session, job, number, status)
        rows.add_predicted(session, job, 9, 987654321.0)
        job.compared_default_us, job.compared_best_us = 123456789.1, 98765432.1
        jobs.update_best(session, job.id)
        rows.add_job(session, problem, device, "running", worker="host.of.a.long.name.example:123456789")
        rows.add_job(session, problem, device, "failed", error=f"internal: {'/a/rather/long/path' * 6}: no space left")
        schedule = rows.add_schedule(session, NAME)
        binary = rows.add_job(session, problem, device, "succeeded")
        binary.kernel_id = kernels[0].id
        built = {"sha256": rows.sha256("zebin"), "size": 123456789, "media_type": "application/octet-stream"}
        named = {"kernel_id": kernels[0].id, "name": "kernel.bmg.26.27.39122.zebin"}
        session.add(Artifact(**named, chip="bmg", driver="26.27.39122", **built))
        recording = _add_recording(session, problem.id, device.id)
        whole = {"job": job.id, "kernel": kernels[1].id, "schedule": schedule.id, "binary": binary.id}
        whole["recording"] = recording.id
        coordinators.acquire(session, "cluster", "host.of.a.long.name.example:123456789", 3600.0)
    many = {"config": {f"a_long_parameter_{i}": 1234567 for i in range(8)}, "time_us": 123456789.25}
    names = {"kernel": KERNEL, "driver": "25.18.33578.15-1234567~24.04"}
    record = RECORD | many | {"kernel": names["kernel"], "device": {**RECORD["device"], "driver": names["driver"]}}
    stored = client.post("/v1/records", json={"records": [record]}).json()
    whole["record"] = UUID(stored["records"][0]["id"])
    csv = f'm,n,k,weight,name\n8192,28672,14336,123456,"{NAME}"\n'
    made = client.post("/v1/shape-sets", json={"csv": csv, "device": "b580"}).json()
    whole["set"] = UUID(made["id"])
    return {noun: str(one)[:18] for noun, one in whole.items()}


def _add_recording(session: Session, problem_id: int, device_id: int) -> Recording:
    recording = Recording(
        problem_id=problem_id,
        device_id=device_id,
        format="t4",
        digest=rows.sha256("recording"),
        origin="a laboratory of a long name",
        named="Intel(R) Data Center GPU Max 1550 of that laboratory",
        label="native",
        complete=True,
    )
    session.add(recording)
    session.flush()
    for number in range(3):
        failed = {"status": "rejected", "reason": f"the work-group is too large for {NAME}"}
        timed = {
            "status": "measured",
            "time_us": 123456789.25,
            "min_us": 1.0,
            "p10_us": 2.0,
            "p90_us": 2e8,
            "samples": 30,
        }
        config = rows.config(number)
        tried = {"number": number, "config": config, "config_hash": rows.sha256(f"config {number}")}
        session.add(RecordedTrial(recording_id=recording.id, **tried, **(failed if number == 2 else timed)))
    return recording


VIEWS = (
    "jobs list",
    "jobs show {job}",
    "jobs show {binary}",
    "kernels list --all",
    "kernels find",
    "kernels binaries {kernel}",
    "kernels files {kernel}",
    "kernels show {kernel}",
    "shapes list",
    "shapes show {set}",
    "shapes show last",
    "shapes presets",
    "shapes presets llama-3-8b",
    "schedules list",
    "schedules show {schedule}",
    "schedules next last",
    "schedules history {schedule}",
    "records list",
    "records show {record}",
    "audit list",
    "devices list",
    "devices show b580",
    "recordings list",
    "recordings show {recording}",
    "cluster show",
    "doctor --no-kernels",
    "keys list",
    "toolchain list",
    "explain 8192 28672 14336 --device b580 --dtype bf16 --epilogue bias:column,gelu,clip=0..6",
)


RECORD_PROBLEM = json.dumps(RECORD["problem"])


def test_a_found_record_fits_80_columns(run: Run, filled: dict[str, str]) -> None:
    asked = ("--tuner", RECORD["tuner"], "--kernel", KERNEL, "--problem", RECORD_PROBLEM)
    status, out, err = run("records", "find", *asked, "--device", "8086:E211")
    assert status == 0, err
    assert [line for line in (out + err).splitlines() if cell_len(line) > WIDTH] == []


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_fits_80_columns(run: Run, filled: dict[str, str], view: str) -> None:
    status, out, err = run(*view.format(**filled).split())
    assert status == 0, err
    wide = [line for line in out.splitlines() if cell_len(line) > WIDTH and " " in line.strip()]  # no word is broken
    assert wide == []


def test_records_are_shown_and_deleted_by_short_ids(run: Run, filled: dict[str, str]) -> None:
    listed = run("records", "list")[1]
    assert filled["record"][:13] in listed
    assert filled["record"] not in listed
    shown = json.loads(run("records", "show", "last", "--json")[1])
    assert shown == json.loads(run("records", "show", filled["record"][:13], "--json")[1])
    assert run("records", "delete", "last")[1] == f"record {shown['id']} is deleted\n"
    assert run("records", "show", "last")[0] != 0


def test_the_last_kernel_is_the_last_that_won(run: Run, filled: dict[str, str], context: Context) -> None:
    with context.database.write() as session:
        job = session.scalars(select(Job).where(Job.best_trial_id.is_not(None))).one()
        won = str(session.get_one(Trial, job.best_trial_id).kernel_id)
        rows.add_kernel(session, job, session.get_one(Problem, job.problem_id), 7)  # compiled later, and not chosen
    last = run("kernels", "files", "last", "--json")
    assert last[0] == 0
    assert last == run("kernels", "files", won, "--json")


def test_a_schedule_is_named_or_said_by_its_id(run: Run, filled: dict[str, str]) -> None:
    by_name = run("schedules", "next", NAME)
    assert by_name[0] == 0
    assert by_name == run("schedules", "next", filled["schedule"]) == run("schedules", "next", "last")
    assert "no schedule 'weekly'; `xetune schedules list` lists" in run("schedules", "next", "weekly")[2]


def test_keys_are_said_by_short_ids_too(run: Run, filled: dict[str, str]) -> None:
    for name in ("first", "second"):
        assert run("keys", "create", name, "--scope", "read")[0] == 0
    second, first = json.loads(run("keys", "list", "--json")[1])["keys"]
    listed = run("keys", "list")[1]
    assert first["id"][:8] in listed
    assert first["id"] not in listed
    assert run("keys", "revoke", "last")[1] == f"key second ({second['prefix']}) is revoked\n"
    assert "2 ids begin with" in run("keys", "revoke", first["id"][:4])[2]
    assert run("keys", "revoke", first["id"][:18])[1] == f"key first ({first['prefix']}) is revoked\n"
    assert "no key in use is named 'ffff'" in run("keys", "revoke", "ffff")[2]


def test_a_job_of_a_native_binary_says_what_it_builds(run: Run, filled: dict[str, str]) -> None:
    shown = run("jobs", "show", filled["binary"])[1]
    assert "builds the native binary of kernel" in shown
    assert "kernel.bmg.26.27.39122.zebin" in shown.replace("\n", "").replace(" ", "")
    kinds = {job["id"][:18]: job["kind"] for job in json.loads(run("jobs", "list", "--json")[1])["jobs"]}
    assert [job_id for job_id, kind in kinds.items() if kind == "binary"] == [filled["binary"]]
    assert "native binary" in run("jobs", "list")[1]


def test_a_listed_set_has_its_device_and_date_in_lines_of_their_own(run: Run, filled: dict[str, str]) -> None:
    lines = [line.strip() for line in run("shapes", "list")[1].splitlines()]
    assert "b580" in lines
    assert any(line.endswith("UTC") for line in lines)


def test_a_coordinator_and_its_holder_are_whole_lines(run: Run, filled: dict[str, str]) -> None:
    shown = run("cluster", "show")[1].splitlines()
    assert shown[0] == "coordinator cluster"
    assert shown[1].split() == ["holder", "host.of.a.long.name.example:123456789"]
    assert shown[3] == "it reaches no devices of other machines"


def test_long_names_are_whole(run: Run, filled: dict[str, str]) -> None:
    keys = run("keys", "create", NAME, "--scope", "read")
    assert keys[0] == 0
    out = run("keys", "list")[1]
    assert all(cell_len(line) <= WIDTH for line in out.splitlines())
    assert all(word in out for word in NAME.split())
