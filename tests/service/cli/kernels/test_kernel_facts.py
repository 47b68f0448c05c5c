"""xetune kernels show: what is known of a kernel."""

import json
import re

import pytest
from fastapi.testclient import TestClient

from codegen import GemmProblem
from db.queries import jobs
from db.schema.job import Job
from db.schema.kernel import Kernel
from db.schema.target import Problem
from service.http.context import Context
from service.text.short_ids import short_ids
from tests.service import dashboard_rows as rows
from tests.service.cli.both_transports import Run, both

CODE = {"kernel": "gemm", "grf_count": 128, "threads_per_eu": 8, "spill_bytes": 2048, "slm_bytes": 0}
REPORT = {"chip": "bmg", "compiler": "26.27", "options": "", "kernels": [CODE]}
ISA = json.dumps(REPORT).encode()


@pytest.fixture
def tuned(one_database: None, spaced_ids: None, context: Context) -> tuple[Job, Kernel]:
    """A job with the time of its winner, and the kernel of that."""
    with context.database.write() as session:
        problem = rows.add_problem(session, problem=GemmProblem(64, 96, 128))
        job = rows.add_job(session, problem, rows.add_device(session, "b580", None))
        default, kernel = (rows.add_kernel(session, job, problem, n, {"isa.json": ISA}) for n in range(2))
        rows.add_measured(session, job, 0, 90.0, default.id, "native")
        rows.add_measured(session, job, 1, 70.0, kernel.id, "native")
        jobs.update_best(session, job.id)
        jobs.set_comparison(session, job.id, default_us=91.0, best_us=72.5)
    context.artifacts.put(ISA)
    return job, kernel


def test_a_kernel_shows_its_time_proof_code_and_origin(run: Run, tuned: tuple[Job, Kernel]) -> None:
    job, kernel = tuned
    (status, shown, errors), there = both(run, "kernels", "show", "last")
    assert (status, shown) == there[:2], errors
    seen = " ".join(shown.split())
    for said in (
        f"kernel {kernel.id} 64x96x128 f16->f32 NN on b580 config block",
        "time 72.5 us, measured, interleaved; native on b580",
        "numbers simulator: 12 of 64 tiles of C",
        "launch gemm, 512 x 4 x 1 work-items in groups of 128 x 1 x 1",
        "code gemm: 128 registers, 8 threads per EU, spilled 2 KiB a thread; counted, for bmg by ocloc 26.27",
        "UTC here for b580 tools llvmlite 0.50.1, xdsl 0.74.0",
        f"job {job.id} SHA-256 {kernel.content_hash} of its SPIR-V",
        f"isa.json {len(ISA)} ",
        f"xetune kernels host-code {short_ids([kernel.id])[kernel.id]} pyopencl",
    ):
        assert said in seen, seen


def test_a_kernel_is_shown_as_json_with_the_report_on_its_code(
    run: Run, tuned: tuple[Job, Kernel], client: TestClient
) -> None:
    kernel_id = str(tuned[1].id)
    status, shown, errors = run("kernels", "show", kernel_id[:18], "--json")
    assert status == 0, errors
    document = json.loads(shown)
    assert document.pop("isa") == REPORT
    assert set(document.pop("files")) == {"isa.json", "kernel.json", "kernel.spv"}
    assert document == client.get(f"/v1/kernels/{kernel_id}").json()


def test_a_kernel_without_a_time_or_code_says_why(run: Run, tuned: tuple[Job, Kernel], context: Context) -> None:
    with context.database.write() as session:
        job = session.merge(tuned[0])
        failed = rows.add_kernel(
            session, job, session.get_one(Problem, job.problem_id), 5, {"isa.json": b"of another form"}
        )
        rows.add_trial(session, job, 5, "wrong_result", failed.id, reason="largest error 3.1")
        failed.withdrawn, failed.withdrawn_at, failed.origin = "wrong results", failed.created_at, "the lab"
    context.artifacts.put(b"of another form")
    status, shown, errors = run("kernels", "show", str(failed.id))
    assert status == 0, errors
    seen = " ".join(shown.split())
    assert "time none, wrong_result: largest error 3.1" in seen
    assert "UTC: wrong results" in seen
    assert "UTC by the lab for b580" in seen
    assert "registers" not in seen


def test_a_measured_kernel_shows_how_it_was_predicted(run: Run, one_database: None, job: str) -> None:
    listed = json.loads(run("kernels", "list", "--all", "--json")[1])["kernels"]
    seen = [" ".join(run("kernels", "show", kernel["id"])[1].split()) for kernel in listed]
    assert all("measured, single measurement; native by the lab on b580" in each for each in seen), seen
    assert any(re.search(r"model predicted [0-9.]+ us .* by \S+; measured is 2.00 times that", each) for each in seen)


def test_no_kernel_has_an_unknown_id(run: Run, tuned: tuple[Job, Kernel]) -> None:
    status, shown, error = run("kernels", "show", "ffffffff")
    assert (status, shown, error.count("\n")) == (2, "", 1)
    assert "`xetune kernels list` lists them" in error
