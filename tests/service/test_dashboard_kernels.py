"""The pages of kernels as text: the list and its filters, a kernel, two compared."""

import json

from fastapi import FastAPI
from fastapi.testclient import TestClient

from db.session import Database
from hal.xe import find
from service.convert import config_to_json, spec_to_json
from tests.conformance.trial_samples import config
from tests.service import dashboard_rows as rows
from tests.service.test_dashboard_pages import app, client, database, text_of

__all__ = ["app", "client", "database"]

LONG = b"".join(b"%%%d = add i32 1, 2\n" % number for number in range(500))
LOOP = {"is_loop": True, "dpas": 128, "sends": {"loads": 32, "prefetches": 20}, "loaded_bytes_per_dpas": 384.0}
CODE = {"kernel": "gemm", "grf_count": 256, "threads_per_eu": 4, "spill_bytes": 64, "instructions": 584, "k_loop": LOOP}
ISA = json.dumps({"chip": "bmg", "compiler": "26.27", "options": "", "kernels": [CODE]}).encode()


def test_an_empty_list_says_what_to_do(client: TestClient) -> None:
    assert "xetune tune --m 512" in client.get("/kernels").text
    assert "No kernel is so" in client.get("/kernels?m=3").text


def test_kernels_are_found_by_problem_device_and_evidence(client: TestClient, database: Database) -> None:
    with database.write() as session:
        problem, small = rows.add_problem(session), rows.add_problem(session, 64, 96, 128)
        gpu, cpu = rows.add_device(session, "b580", None), rows.add_device(session)
        on_gpu, on_cpu = rows.add_job(session, problem, gpu), rows.add_job(session, small, cpu)
        measured, emulated = rows.add_kernel(session, on_gpu, problem), rows.add_kernel(session, on_cpu, small)
        foreseen, untimed = rows.add_kernel(session, on_gpu, problem, 1), rows.add_kernel(session, on_gpu, problem, 2)
        rows.add_measured(session, on_gpu, 0, 70.0, measured.id, "native")
        rows.add_measured(session, on_cpu, 0, 1500.0, emulated.id)
        rows.add_predicted(session, on_gpu, 1, 88.0).kernel_id = foreseen.id
        rows.add_trial(session, on_gpu, 2, "wrong_result", untimed.id)
    ids = {"measured": measured.id, "emulated": emulated.id, "predicted": foreseen.id, "none": untimed.id}
    for evidence, kernel_id in ids.items():
        html = client.get(f"/kernels?evidence={evidence}").text
        assert [each for each in ids.values() if f'href="/kernels/{each}"' in html] == [kernel_id]
    html = client.get("/kernels?m=64&n=96&k=128&dtype=f16&device=opencl-cpu-as-b580").text
    assert f"/kernels/{emulated.id}" in html
    assert f"/kernels/{measured.id}" not in html
    seen = text_of(client.get("/kernels").text)
    assert "1.500 ms 1.425 ms to 1.650 ms" in seen
    assert "measured on opencl-cpu-as-b580 · DPAS emulated" in seen
    for words in ("m=x&evidence=guessed&before=last", "device=%00&dtype=%00", "m=999999999999"):
        assert client.get(f"/kernels?{words}").status_code == 200


def test_a_long_list_has_pages_that_hold_every_kernel_once(client: TestClient, database: Database) -> None:
    with database.write() as session:
        problem = rows.add_problem(session)
        job = rows.add_job(session, problem, rows.add_device(session))
        ids = sorted(str(rows.add_kernel(session, job, problem, number, {}).id) for number in range(53))
    first = client.get("/kernels").text
    second = client.get(f"/kernels?before={ids[3]}").text
    assert f'href="/kernels?before={ids[3]}"' in first
    assert [i for i in ids if f"/kernels/{i}" in first] == ids[3:]
    assert [i for i in ids if f"/kernels/{i}" in second] == ids[:3]
    assert "Next page" not in second


def test_a_kernel_shows_how_it_splits_its_work_its_code_and_where_it_comes_from(
    client: TestClient, app: FastAPI, database: Database
) -> None:
    with database.write() as session:
        problem, gpu = rows.add_problem(session), rows.add_device(session, "b580", None)
        gpu.spec = spec_to_json(find("b580"))
        job = rows.add_job(session, problem, gpu)
        kernel = rows.add_kernel(session, job, problem, files={"isa.json": ISA, "llvm.ll": LONG})
        kernel.config = config_to_json(config(3))
        slow, slower, other = (rows.add_kernel(session, job, problem, number) for number in (1, 2, 3))
        rows.add_measured(session, job, 0, 70.0, kernel.id, "native")
        rows.add_measured(session, job, 1, 90.0, slower.id, "native")
        rows.add_measured(session, job, 2, 80.0, slow.id, "native")
        rows.add_measured(session, job, 3, 60.0, other.id)
    for data in (ISA, LONG):
        app.state.context.artifacts.put(data)
    html = client.get(f"/kernels/{kernel.id}").text
    seen = text_of(html)
    block = config(3).matmul.block
    assert f"A work-group computes {block.m} x {block.n} of C, and goes through K in steps of {block.k}" in seen
    assert 'role="img" aria-label="A work-group computes' in html
    assert "DPAS 8 16 16" in seen
    assert "for bmg by ocloc 26.27" in seen
    assert "registers of a thread 256" in seen
    assert "spilled by a thread 64 B" in seen
    assert "K loop: loaded for a DPAS 384 B" in seen
    assert f'href="/jobs/{job.id}/trials/0"' in html
    others = html[html.index('id="others-title"') :]
    assert 0 < others.index(f'"/kernels/{slow.id}"') < others.index(f'"/kernels/{slower.id}"')
    assert str(other.id) not in others, "a time with DPAS emulated is not held against one measured on the device"
    assert "100 more lines" in seen
    assert "%499 =" not in seen
    seen = text_of(client.get(f"/kernels/{kernel.id}/stages/llvm.ll?from=480").text)
    assert "From line 480 of 500" in seen
    assert "%499 =" in seen
    assert client.get(f"/kernels/{kernel.id}/stages/llvm.ll?from=many").status_code == 200
    assert client.get(f"/kernels/{kernel.id}/stages/kernel.spv").status_code == 404
