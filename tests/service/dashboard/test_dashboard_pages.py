"""Pages as text: their statements, the evidence beside them, and escaping of hostile input."""

import json
import re
import shlex
from collections.abc import Generator
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from codegen import DType, GemmProblem, Quantization
from db.queries import jobs, quarantines
from db.queries.cluster import heartbeats
from db.queries.results import predictions
from db.schema.job import Job
from db.schema.reuse import Reuse
from db.session import Database
from hal import DeviceKind, DeviceSpec
from hal.devices.listed import ListedDevice, Runtime
from service.api.jobs.schemas import JobBody
from service.app import create_app
from service.cli.main import main
from service.dashboard.assets import STATIC_FILES
from service.gemm_json import config_to_json
from service.schemas import to_problem
from service.settings import Settings
from tests.conformance.trial_samples import config
from tests.service import dashboard_rows as rows

HOSTILE = "<script>alert('1')</script> \" onmouseover=alert(2) &amp;"
HERE = ListedDevice(
    DeviceSpec("opencl-cpu", "A CPU", DeviceKind.CPU), Runtime.OPENCL, "0", runnable=True, targetable=False, note="n"
)


@pytest.fixture
def app(tmp_path: Path, sqlite_url: str) -> FastAPI:
    settings = Settings(data_dir=tmp_path, database_url=sqlite_url, scheduler=False, allowed_hosts="testserver")
    return create_app(settings, lambda: [HERE])


@pytest.fixture
def database(app: FastAPI) -> Database:
    return app.state.context.database


@pytest.fixture
def client(app: FastAPI) -> Generator[TestClient]:
    with TestClient(app) as client:
        yield client


def text_of(html: str) -> str:
    """Return the text of a page: without tags, with spaces collapsed."""
    return re.sub(r"\s+(?=,)|(?<=\s)\s+", "", unescape(re.sub(r"<[^>]+>", " ", html).replace("\n", " ")))


def test_an_empty_overview_says_what_to_do(client: TestClient) -> None:
    answer = client.get("/")
    assert answer.status_code == 200
    assert "xetune tune --m 512 --n 384 --k 1024" in answer.text
    assert "/v1/schedules" in answer.text
    assert "opencl-cpu" in text_of(answer.text)


def test_the_overview_shows_winners_what_runs_and_what_needs_attention(client: TestClient, database: Database) -> None:
    with database.write() as session:
        problem, gpu = rows.add_problem(session), rows.add_device(session, "b580", None)
        cpu = rows.add_device(session)
        emulated, predicted = rows.add_job(session, problem, cpu), rows.add_job(session, problem, gpu)
        kernel = rows.add_kernel(session, emulated, problem)
        fastest = rows.add_measured(session, emulated, 0, 1234.5, kernel.id)
        emulated.best_trial_id = rows.predict(session, fastest, 1000.0).id
        emulated.compared_default_us, emulated.compared_best_us = 2469.0, 1200.0
        predicted.best_trial_id = rows.add_predicted(session, predicted, 0, 88.25).id
        rows.add_job(session, problem, cpu, "running", cancel_requested=True)
        rows.add_job(session, problem, cpu, "failed", finished_at=datetime.now(UTC))
        rows.add_schedule(session)
        rows.add_schedule(session, "weekly", enabled=False)
        quarantines.begin(
            session, host="lab-7", slug="b580", reason="device-unusable: it hung", job_id=None, seconds=60
        )
    seen = text_of(client.get("/").text)
    turns = "2.06x as fast as the default default 2.469 ms, best 1.200 ms, interleaved"
    assert f"1.200 ms 335.5 GFLOP/s measured interleaved on opencl-cpu-as-b580 · DPAS emulated {turns}" in seen
    assert re.search(r"88.25 µs 4,563 GFLOP/s predicted \(xe-1\) the default was not beaten · [\w-]+ · ", seen)
    assert "cancelling" in seen
    assert "1 job is running with nobody working on it" in seen
    assert "failed: internal: the disk is full See why" in seen
    assert "waiting and none is running" not in seen, "one is running"
    assert "b580 on lab-7 gets no jobs: device-unusable: it hung" in seen
    assert "2026-03-02 01:00:00 UTC" in seen
    assert "paused" in seen
    gains = client.get("/charts/gains").json()
    assert [(s["name"], s["evidence"]) for s in gains["series"]] == [("measured, DPAS emulated", "emulated")]
    assert gains["series"][0]["rows"][0][:4] == [0.402653, 2.0575, 2469.0, 1200.0]


def test_jobs_that_nobody_takes_are_told(client: TestClient, database: Database) -> None:
    with database.write() as session:
        problem, device = rows.add_problem(session), rows.add_device(session)
        rows.add_job(session, problem, device, "queued", created_at=datetime.now(UTC))
    assert "Needs attention" not in client.get("/").text
    with database.write() as session:
        rows.add_job(session, problem, device, "queued")
    told = "1 job is waiting and none is running: no worker"
    assert f"{told} says that it is there" in text_of(client.get("/").text)
    with database.write() as session:
        heartbeats.note(session, "worker", "w1", host="lab-7", version="1", now=datetime.now(UTC))
    assert f"{told} has a device for it" in text_of(client.get("/").text)


def test_the_live_part_of_the_overview_says_nothing_while_nothing_is_new(
    client: TestClient, database: Database
) -> None:
    (news,) = re.findall(r"/now\?seen=(\w+)", client.get("/").text)
    assert client.get(f"/now?seen={news}").status_code == 204
    with database.write() as session:
        rows.add_job(session, rows.add_problem(session), rows.add_device(session), "running")
    answer = client.get(f"/now?seen={news}")
    assert answer.status_code == 200
    assert answer.headers["hx-trigger"] == "news"
    assert "512x384x1024" in answer.text
    assert "<html" not in answer.text


def test_jobs_are_listed_by_filters_a_page_at_a_time(client: TestClient, database: Database) -> None:
    with database.write() as session:
        small, large = rows.add_problem(session), rows.add_problem(session, 640, 96, 2048)
        gpu, cpu = rows.add_device(session, "b580", None), rows.add_device(session)
        for number in range(60):
            rows.add_job(session, small, cpu, "queued" if number % 2 else "failed")
        rows.add_job(session, large, gpu)
    html = client.get("/jobs").text
    assert html.count('data-label="Problem"') == 50
    (following,) = re.findall(r'rel="next" href="([^"]+)"', html)
    assert client.get(unescape(following)).text.count('data-label="Problem"') == 11
    assert client.get("/jobs?device=b580").text.count('data-label="Problem"') == 1
    assert client.get("/jobs?m=640&n=96&k=2048").text.count('data-label="Problem"') == 1
    assert client.get("/jobs?status=queued&dtype=f16").text.count('data-label="Problem"') == 30
    assert "No job matches" in client.get("/jobs?m=7").text
    for odd in ("?k=" + "9" * 5000, "?status=%00"):
        assert 'data-label="Problem"' not in client.get(f"/jobs{odd}").text, "what cannot be meant is not left out"
    assert client.get("/jobs?m=").text.count('data-label="Problem"') == 50


def test_a_job_shows_best_speed_up_proof_and_times_against_the_best(client: TestClient, database: Database) -> None:
    with database.write() as session:
        problem = rows.add_problem(session)
        job = rows.add_job(session, problem, rows.add_device(session))
        kernel = rows.add_kernel(session, job, problem)
        for number, median_us in enumerate((3000.0, 1500.0, 2000.0)):
            rows.add_measured(session, job, number, median_us, kernel.id)
        rows.add_predicted(session, job, 3, 10.0)
        rows.add_trial(session, job, 4, "timed_out")
        rows.add_trial(session, job, 5, "rejected")
        rows.add_trial(session, job, 6, "rejected", reason="refused by rule block2d-pitch: 998 bytes")
        jobs.update_best(session, job.id)
    html = client.get(f"/jobs/{job.id}").text
    seen = text_of(html)
    single = "2.00x default 3.000 ms, best 1.500 ms, single measurements"
    assert single in seen, "a prediction is not the best of measured times"
    assert single in text_of(client.get("/jobs").text), "a job has one gain wherever it is shown"
    assert "2.00x as fast as the default default 3.000 ms, best 1.500 ms, single" in text_of(client.get("/").text)
    assert "Time single measurement on opencl-cpu-as-b580 · DPAS emulated" in seen
    assert "Spread 1.425 ms to 1.650 ms" in seen
    assert "12 of 64 tiles of C in the simulator largest error 0.0011, tolerance 0.0124" in seen
    assert "7 of 20 trials" in seen
    assert "2 rejected rule block2d-pitch trial 5 1 timed out no answer after n s trial 4" in seen
    order = re.findall(r'data-label="Trial"[^>]*><div><a[^>]*>(\d+)', html)
    assert order == ["1", "2", "0", "3", "4", "5", "6"], "same evidence together, fastest first, the rest by number"
    against = re.findall(r'data-label="Against best"[^>]*>(?:<div>([\d.]+x)</div>)?', html)
    assert against == ["1.00x", "1.33x", "2.00x", ""], "a predicted time is not held against a measured one"
    assert f'href="/kernels/{kernel.id}"' in html
    assert client.get(f"/jobs/{job.id}?by=not+recorded").text.count('data-label="Trial"') == 7
    failed = client.get(f"/jobs/{job.id}?outcome=failed").text
    assert re.findall(r'data-label="Trial"[^>]*><div><a[^>]*>(\d+)', failed) == ["4", "5", "6"]


def test_a_failed_trial_says_why_and_a_reused_one_whose_time_it_has(client: TestClient, database: Database) -> None:
    with database.write() as session:
        problem, gpu = rows.add_problem(session), rows.add_device(session, "b580", None)
        before, job = rows.add_job(session, problem, gpu), rows.add_job(session, problem, gpu)
        kernel = rows.add_kernel(session, before, problem)
        source = rows.add_measured(session, before, 7, 80.0, kernel.id, "native")
        taken = rows.add_measured(session, job, 0, 80.0, kernel.id, "native")
        session.add(Reuse(trial_id=taken.id, source_trial_id=source.id, scale=2.0))
        rows.add_measured(session, job, 2, 100.0, kernel.id, "native")
        jobs.set_best(session, job.id, 2)
        rows.add_trial(session, job, 1, "wrong_result", proposer="gp")
    seen = text_of(client.get(f"/jobs/{job.id}/trials/1").text)
    assert "largest error 3.1 is above the tolerance 0.0124 in work-group (3, 0)" in seen
    assert "Chosen by gp" in seen
    html = client.get(f"/jobs/{job.id}/trials/0").text
    assert f'href="/jobs/{before.id}/trials/7"' in html
    assert "Not measured in this job" in text_of(html)
    assert "Now 160.0 µs is expected" in text_of(html)
    listed = text_of(client.get(f"/jobs/{job.id}").text)
    assert "reused from trial 7 of an earlier job ; now 160.0 µs expected" in listed
    assert "1.60x" in listed  # of the 100 µs that the best takes now
    for number in ("3", "x", "-1", "9" * 5000):
        assert client.get(f"/jobs/{job.id}/trials/{number}").status_code == 404


def test_the_winner_is_the_one_measured_again_interleaved(client: TestClient, database: Database) -> None:
    with database.write() as session:
        problem = rows.add_problem(session)
        kept, won = (rows.add_job(session, problem, rows.add_device(session, f"gpu{i}", None)) for i in range(2))
        for job, winner, again_us in ((kept, 0, 2900.0), (won, 2, 1450.0)):
            kernel = rows.add_kernel(session, job, problem)
            for number, median_us in enumerate((3000.0, 1500.0, 2000.0)):
                rows.add_measured(session, job, number, median_us, kernel.id, "native")
            jobs.set_best(session, job.id, winner)
            jobs.set_comparison(session, job.id, default_us=2900.0, best_us=again_us)
    html = client.get(f"/jobs/{kept.id}").text
    told = "1.00x the default was not beaten default 2.900 ms, best 2.900 ms, interleaved"
    single = "Its trial 3.000 ms 2.850 ms to 3.300 ms, single"
    assert "Result 2.900 ms 138.8 GFLOP/s" in text_of(html)
    assert f"Time measured interleaved on gpu0 {single}" in text_of(html)
    assert told in text_of(html)
    assert "Against the winner" in html, "rows may be below the winner's own single measurement"
    note = client.get(f"/jobs/{kept.id}/charts/history").json()["note"]
    assert note.endswith("interleaved at the end, the default took 2.900 ms, the best 2.900 ms")
    seen = text_of(client.get(f"/jobs/{won.id}").text)
    assert "Result 1.450 ms" in seen
    assert "Time measured interleaved on gpu1" in seen
    assert "2.00x default 2.900 ms, best 1.450 ms, interleaved" in seen
    for path in ("/jobs", "/"):
        shown = text_of(client.get(path).text)
        assert "1.450 ms" in shown
        assert "default 2.900 ms, best 1.450 ms, interleaved" in shown
        assert "2.000 ms" not in shown, "the winner's first time is not the reported_times"
    assert "not beaten" not in seen


def test_a_job_says_what_ended_it_and_that_its_winner_was_not_measured_interleaved(
    client: TestClient, database: Database
) -> None:
    with database.write() as session:
        problem, gpu = rows.add_problem(session), rows.add_device(session, "b580", None)
        over, running, kept = (rows.add_job(session, problem, gpu, s) for s in ("succeeded", "running", "succeeded"))
        for job, times_us in ((over, (90.0, 60.0)), (running, (90.0, 60.0)), (kept, (90.0, 95.0))):
            kernel = rows.add_kernel(session, job, problem)
            for number, median_us in enumerate(times_us):
                rows.add_measured(session, job, number, median_us, kernel.id, "native")
            jobs.update_best(session, job.id)
            jobs.set_stop(session, job.id, "seconds")
    single = "not measured interleaved with the default: the least of single trials"
    seen, before, default = (text_of(client.get(f"/jobs/{job.id}").text) for job in (over, running, kept))
    assert ": the time budget is spent" in seen
    assert "1.50x default 90.00 µs, best 60.00 µs, single measurements" in seen
    assert single in seen
    assert "seconds of its budget" not in before, "it goes on: what ended an earlier run is not its end"
    assert single not in before
    assert single not in default, "the default is not held against itself"


def test_predicted_is_shown_against_measured_where_both_are_known(client: TestClient, database: Database) -> None:
    with database.write() as session:
        problem, gpu = rows.add_problem(session), rows.add_device(session, "b580", None)
        asked, there = rows.add_job(session, problem, gpu), rows.add_job(session, problem, gpu)
        kernel = rows.add_kernel(session, there, problem)
        for number, time_us in enumerate((100.0, 200.0, 300.0)):
            rows.add_predicted(session, asked, number, time_us)
        jobs.update_best(session, asked.id)
    html = client.get(f"/jobs/{asked.id}").text
    assert "charts/judged" not in html
    assert "predicted (xe-1)" in text_of(html)
    with database.write() as session:
        session.get_one(Job, there.id).origin = HOSTILE
        for number, median_us in ((0, 900.0), (1, 250.0)):
            rows.add_measured(session, there, number, median_us, kernel.id, "native")
        predictions.judge(session, problem.id, "b580")
        jobs.update_best(session, there.id)
    html = client.get(f"/jobs/{asked.id}").text
    seen = text_of(html)
    assert f"/jobs/{asked.id}/charts/judged" in html
    chart = client.get(f"/jobs/{asked.id}/charts/judged").json()
    assert chart["note"] == "Off by 5.12x (median of 2); 1 of 2 within the interval."
    measured, equal = chart["series"]
    assert (measured["evidence"], equal["mark"]) == ("measured", "limit")
    assert [row[:4] for row in measured["rows"]] == [[0, 100.0, 900.0, 9.0], [1, 200.0, 250.0, 1.25]]
    assert f'href="/jobs/{there.id}/trials/0"' in html
    assert "measured on b580 by <script>" in seen
    assert "<script>alert" not in html
    assert "Result 250.0 µs" in seen, "corrected by what was measured"
    order = re.findall(r'data-label="Trial"[^>]*><div><a[^>]*>(\d+)', html)
    assert order == ["1", "0", "2"], "measured ones first; the third is predicted"
    assert "imported from &lt;script&gt;" in client.get(f"/jobs/{there.id}").text
    assert "250.0 µs 1,611 GFLOP/s single measurement on b580 by" in text_of(client.get("/").text)
    assert "single measurement on b580 by" in text_of(client.get(f"/kernels/{kernel.id}").text)


def test_a_kernel_with_wrong_numbers_says_so(client: TestClient, database: Database) -> None:
    with database.write() as session:
        problem = rows.add_problem(session)
        job = rows.add_job(session, problem, rows.add_device(session))
        kernel = rows.add_kernel(session, job, problem)
        rows.add_trial(session, job, 0, "wrong_result", kernel.id)
        rows.add_trial(session, job, 1, "wrong_result", max_error=None)
    html = client.get(f"/kernels/{kernel.id}").text
    told = "wrong numbers, found in 12 of 64 tiles of C in the simulator"
    assert "No time. wrong result largest error 3.1 is above the tolerance 0.0124" in text_of(html)
    assert f"{told} largest error 3.1, above the tolerance 0.0124" in text_of(html)
    for page in (html, client.get(f"/jobs/{job.id}?outcome=wrong_result").text):
        assert "proof-wrong" in page
        assert "proof-simulator" not in page, "the mark of a proof is not that of wrong numbers"
    assert told in text_of(client.get(f"/jobs/{job.id}/trials/0").text)
    assert f"Correctness {told} Chosen by" in text_of(client.get(f"/jobs/{job.id}/trials/1").text)


def test_a_proof_by_machine_code_is_shown_wherever_the_kernel_is(client: TestClient, database: Database) -> None:
    """The proof of a GPU that is absent: everywhere with its own mark and words, and never as one on the device."""
    by_code: dict[str, Any] = {"proof_kind": "machine_code", "proof_checked": 24, "proof_total": 96}
    with database.write() as session:
        problem = rows.add_problem(session)
        job = rows.add_job(session, problem, rows.add_device(session, "b580", None))
        kernel = rows.add_kernel(session, job, problem)
        rows.predict(session, rows.add_trial(session, job, 0, "predicted", kernel.id, **by_code), 120.0)
        rows.predict(session, rows.add_trial(session, job, 1, "predicted"), 150.0)
        rows.add_trial(session, job, 2, "wrong_result", **by_code)
        jobs.update_best(session, job.id)
    told = "24 of 96 tiles of C as machine code, without the GPU"
    page = client.get(f"/jobs/{job.id}").text
    assert f"Correctness {told} largest error 0.0011, tolerance 0.0124" in text_of(page)
    assert page.count("proof-machine_code") == 2, "of the best, and in its row"
    assert "12 of 64 tiles of C in the simulator" in text_of(page)
    assert f"wrong numbers, found in {told}" in text_of(client.get(f"/jobs/{job.id}?outcome=wrong_result").text)
    for path in (f"/jobs/{job.id}/trials/0", f"/kernels/{kernel.id}", "/kernels"):
        html = client.get(path).text
        assert told in text_of(html), path
        assert "proof-machine_code" in html, path
        assert "on the device" not in text_of(html), path
    assert ".proof-machine_code::before" in client.get("/static/styles/parts.css").text


def test_a_proof_by_the_simulator_says_why_machine_code_was_not_executed(
    client: TestClient, database: Database
) -> None:
    with database.write() as session:
        problem = rows.add_problem(session)
        job = rows.add_job(session, problem, rows.add_device(session, "b580", None))
        kernel = rows.add_kernel(session, job, problem)
        trial = rows.add_trial(session, job, 0, "predicted", kernel.id, proof_refusal="not known: opcode foo")
        rows.predict(session, trial, 120.0)
        jobs.update_best(session, job.id)
    for path in (f"/jobs/{job.id}", f"/kernels/{kernel.id}"):
        assert "machine code not executed: not known: opcode foo" in text_of(client.get(path).text), path
    evidence = client.get(f"/v1/kernels/{kernel.id}").json()["evidence"]
    assert evidence["proof"]["refusal"] == "not known: opcode foo"


def test_a_failed_trial_can_be_tried_again_and_leads_to_its_neighbours(client: TestClient, database: Database) -> None:
    with database.write() as session:
        job = rows.add_job(session, rows.add_problem(session, 72, 136, 200), rows.add_device(session, "b580", None))
        for number in range(3):
            rows.add_trial(session, job, number, "compile_failed")
    pages = [unescape(client.get(f"/jobs/{job.id}/trials/{number}").text) for number in range(3)]
    assert ["Trial before" in page for page in pages] == [False, True, True]
    assert ["Trial after" in page for page in pages] == [True, True, False]
    (config,) = re.findall(r'<code id="config-json">(.*?)</code>', pages[1], re.DOTALL)
    assert json.loads(config) == rows.config(1)
    (command,) = re.findall(r'<code id="compile">(.*?)</code>', pages[1])
    assert command.startswith("xetune compile --m 72 --n 136 --k 200")
    assert command.endswith("--device b580 --config config.json -o again")


@pytest.mark.parametrize(
    ("query", "first", "last"),
    [("", 249, 0), ("?sort=number", 0, 249),
     *(pytest.param(*case, marks=pytest.mark.slow) for case in (
        ("?sort=-time", 0, 249), ("?sort=-number", 249, 0), ("?sort=nonsense", 249, 0), ("?after=~x~", 249, 0),
        ("?sort=number&after=" + "9" * 5000, 0, 249)))],
)  # fmt: skip
@pytest.mark.slow
def test_trials_are_sorted_and_paged_by_the_database(
    client: TestClient, database: Database, query: str, first: int, last: int
) -> None:
    with database.write() as session:
        problem = rows.add_problem(session)
        job = rows.add_job(session, problem, rows.add_device(session), budget=250)
        kernel = rows.add_kernel(session, job, problem)
        for number in range(250):
            rows.add_measured(session, job, number, 1000.0 - number, kernel.id)
    shown: list[int] = []
    address: str | None = f"/jobs/{job.id}{query}"
    while address is not None:
        html = client.get(address).text
        shown += map(int, re.findall(r'data-label="Trial"[^>]*><div><a[^>]*>(\d+)', html))
        following = re.findall(r'rel="next" href="([^"]+)"', html)
        address = f"/jobs/{job.id}{unescape(following[0])}" if following else None
    assert (shown[0], shown[-1]) == (first, last)
    assert sorted(shown) == list(range(250)), "every one once"


def test_the_live_parts_are_those_of_the_page(client: TestClient, database: Database) -> None:
    with database.write() as session:
        problem = rows.add_problem(session)
        job = rows.add_job(session, problem, rows.add_device(session), "running")
        kernel = rows.add_kernel(session, job, problem)
        rows.add_measured(session, job, 0, 100.0, kernel.id)
        rows.add_trial(session, job, 1, "pending")
    page, parts = client.get(f"/jobs/{job.id}").text, client.get(f"/jobs/{job.id}/live").text
    for part in ("summary", "outcomes", "asked", "trials"):
        assert f'id="{part}"' in page
        assert f'id="{part}"' in parts
    assert "hx-swap-oob" not in page
    assert parts.count("hx-swap-oob") == 3
    assert "<html" not in parts
    assert 'id="cancel"' in parts
    (seen,) = re.findall(r"live\?seen=(\w+)", page)
    assert client.get(f"/jobs/{job.id}/live?seen={seen}").status_code == 204
    with database.write() as session:
        rows.add_measured(session, job, 2, 90.0, kernel.id)
    assert client.get(f"/jobs/{job.id}/live?seen={seen}").headers["hx-trigger"] == "news"


def test_a_job_that_ended_without_a_trial_says_so_once(client: TestClient, database: Database) -> None:
    with database.write() as session:
        job = rows.add_job(session, rows.add_problem(session), rows.add_device(session), "cancelled")
    html = client.get(f"/jobs/{job.id}").text
    assert "The job ended without a trial." in html
    assert "data-chart" not in html
    assert "needs a time of trial 0" not in html
    assert "No trials yet" in client.get(f"/jobs/{job.id}/charts/failures").json()["empty"]


def test_the_stages_of_a_job_add_up(client: TestClient, database: Database) -> None:
    with database.write() as session:
        job = rows.add_job(session, rows.add_problem(session), rows.add_device(session))
        for name, seconds in {
            "total_s": 23.25,
            "propose_s": 2.0,
            "compile_s": 30.0,
            "wait_s": 4.5,
            "verify_s": 1.5,
            "measure_s": 6.0,
            "compare_s": 3.5,
            "device_restarts": 0,
        }.items():
            setattr(job, name, seconds)
        rows.add_predicted(session, job, 0, 25.0)
    chart = client.get(f"/jobs/{job.id}/charts/stages").json()
    assert chart["series"][0]["rows"][-3:] == [["waiting", 4.5], ["other", 5.75], ["compiling", 30.0]]
    assert chart["note"].startswith("23.2 s in all")


def test_a_job_shows_the_restrictions_of_its_device(client: TestClient, database: Database) -> None:
    with database.write() as session:
        problem, device = rows.add_problem(session), rows.add_device(session)
        job, other = rows.add_job(session, problem, device), rows.add_job(session, problem, device)
        told: list[dict[str, object]] = [{"name": "no-grf-256", "check": "gemm-registers-256", "reason": HOSTILE}]
        jobs.set_restrictions(session, job.id, told)
    html = client.get(f"/jobs/{job.id}").text
    assert "128 registers only, since gemm-registers-256 of xetune doctor failed: <" in text_of(html)
    assert "<script>alert" not in html
    assert "xetune doctor" not in client.get(f"/jobs/{other.id}").text


def test_a_job_can_be_asked_for_again(
    client: TestClient, database: Database, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with database.write() as session:
        problem = rows.add_problem(session, problem=rows.RICH)
        job = rows.add_job(session, problem, rows.add_device(session), seed=7)
        job.search, job.budget_no_gain, job.reuse = "tpe", 30, False
    html = client.get(f"/jobs/{job.id}").text
    (cli,) = re.findall(r'<code id="cli">(.*?)</code>', html)
    (body,) = re.findall(r'data-body="([^"]+)"', html)
    asked = JobBody.model_validate_json(unescape(body))
    assert to_problem(asked.problem) == rows.RICH
    assert (asked.search, asked.budget.no_gain, asked.reuse, asked.seed) == ("tpe", 30, False, 7)
    words = shlex.split(unescape(cli))
    assert words[:5] == ["xetune", "tune", "512", "384", "1024"]
    assert {"--search", "--no-gain", "--again", "--seed", "--epilogue", "--dynamic", "--ldc"} <= set(words)
    monkeypatch.setattr("sys.argv", [*words, "--nonsense"])
    with pytest.raises(SystemExit):
        main()
    assert "--nonsense" in capsys.readouterr().err, "every option before it is known"


@pytest.mark.parametrize("status", ["queued", "running", "succeeded", "failed", "cancelled"])
def test_a_job_without_trials_has_a_page(client: TestClient, database: Database, status: str) -> None:
    with database.write() as session:
        job = rows.add_job(session, rows.add_problem(session), rows.add_device(session), status)
    answer = client.get(f"/jobs/{job.id}")
    assert answer.status_code == 200
    assert ('id="cancel"' in answer.text) == (status in ("queued", "running"))
    assert ("the disk is full" in answer.text) == (status == "failed")


def test_a_kernel_shows_launch_stages_and_downloads(client: TestClient, app: FastAPI, database: Database) -> None:
    with database.write() as session:
        problem = rows.add_problem(session)
        job = rows.add_job(session, problem, rows.add_device(session))
        kernel = rows.add_kernel(session, job, problem)
        rows.add_measured(session, job, 0, 1500.0, kernel.id)
    for name, data in rows.STAGES.items():
        if name != "xegpu.mlir":
            app.state.context.artifacts.put(data)
    html = client.get(f"/kernels/{kernel.id}").text
    seen = text_of(html)
    for name in (*rows.STAGES, "kernel.spv", "kernel.json"):
        assert f'href="/v1/kernels/{kernel.id}/artifacts/{name}"' in html
    assert "512 x 4 x 1 work-items in general 128 * ceil(n / 96)" in seen
    assert "128 x 1 x 1 work-items" in seen
    assert "-cl-intel-256-GRF-per-thread" in seen
    assert "single measurement on opencl-cpu-as-b580 · DPAS emulated" in seen
    assert "768.0 KiB" in seen
    assert "xdsl 0.74.0" in seen
    assert "&lt;b&gt;&amp;" in html, "the text of a stage is escaped"
    assert "The file xegpu.mlir is gone or damaged" in seen
    assert html.index("XeTile") < html.index("XeGPU") < html.index("LLVM IR")


def test_a_kernel_of_several_steps_shows_them_with_epilogue_strategy_and_memory_paths(
    client: TestClient, database: Database
) -> None:
    with database.write() as session:
        problem = rows.add_problem(session, problem=rows.RICH)
        job = rows.add_job(session, problem, rows.add_device(session))
        kernel = rows.add_kernel(session, job, problem)
        kernel.manifest, kernel.config = rows.RICH_MANIFEST, config_to_json(config(3))
        rows.add_measured(session, job, 0, 1500.0, kernel.id)
        jobs.update_best(session, job.id)
    seen = text_of(client.get(f"/kernels/{kernel.id}").text)
    steps = "scale:row, beta=0.5, bias:column:f16, gelu_tanh, add:bf16:ld=400, clip=-1..6, reduce:row"
    assert (
        f"4x 512x384x1024 s8,u8->f16 NT gate silu:interleaved=64 dynamic deterministic + {steps} kernel for b580"
        in seen
    )
    assert "Kernel 1 clear of workspace" in seen
    assert "Kernel 2 gemm of A, B, workspace, m=512" in seen
    assert "512 x 4 x 16 work-items in general 128 * ceil(n / 96) x ceil(m / 128) x 4 * batch" in seen
    assert "Kernel 3 finish of workspace, C, scale" in seen
    assert "B by lanes block2d-pitch: rows of B are 1001 bytes apart" in seen
    assert "7 workspace scratch f32" in seen
    assert "C inout, f16, 512 x 384, rows 400 elements apart, matrices 204800 apart" in seen
    assert "B input, u8, 768 x 1024, one for all of the batch" in seen
    assert f"gate silu:interleaved=64 epilogue {steps}" in seen
    assert "strategy prefetch l2 distance 6" in seen
    assert "strategy k unroll 1" in seen
    seen = text_of(client.get(f"/jobs/{job.id}").text)
    assert "Launch clear, then gemm, then finish A by 2-D blocks B by lanes block2d-pitch" in seen
    assert f"epilogue {steps}" in seen
    assert f"+ {steps}" in text_of(client.get("/").text)


def test_quantised_weights_are_shown_and_found_by_their_type(client: TestClient, database: Database) -> None:
    problem = GemmProblem(64, 96, 320, dtype_b=DType.U4, quantization=Quantization(32, DType.BF16, zeros=True))
    with database.write() as session:
        job = rows.add_job(session, rows.add_problem(session, problem=problem), rows.add_device(session))
    seen = text_of(client.get(f"/jobs/{job.id}").text)
    assert "64x96x320 f16,u4:32:bf16:zeros->f32 NN" in seen
    assert "B input, u4, 40 x 96 words of 8 elements" in seen
    assert "B scale input, bf16, 10 x 96" in seen
    assert "B zero input, u4, 2 x 96 words of 8 elements" in seen
    assert "--dtype-b u4" in seen
    assert "--quantization 32:bf16:zeros" in seen
    assert str(job.id) in client.get("/jobs?dtype=u4").text
    assert str(job.id) not in client.get("/jobs?dtype=s4").text


def test_rows_of_another_version_have_pages(client: TestClient, database: Database) -> None:
    with database.write() as session:
        problem = rows.add_problem(session)
        job = rows.add_job(session, problem, rows.add_device(session))
        kernel = rows.add_kernel(session, job, problem)
        problem.definition = {"m": 512, "shape": "round"}
        kernel.manifest, kernel.config = {"steps": [3], "arguments": 7}, {"strategy": [1]}
        job.best_trial_id = rows.add_measured(session, job, 0, 1500.0, kernel.id).id
    for path in ("/", f"/jobs/{job.id}", f"/kernels/{kernel.id}"):
        answer = client.get(path)
        assert answer.status_code == 200
        assert '{"m":512,"shape":"round"}' in text_of(answer.text)
    assert "not readable by this version; tune the problem again" in text_of(answer.text)


def test_hostile_text_is_shown_and_never_markup(client: TestClient, database: Database) -> None:
    with database.write() as session:
        problem, device = rows.add_problem(session), rows.add_device(session, HOSTILE, None)
        job = rows.add_job(session, problem, device, "failed", error=HOSTILE)
        kernel = rows.add_kernel(session, job, problem, files={HOSTILE: b"x"})
        kernel.manifest = {"kernel": HOSTILE, "arguments": [{"name": HOSTILE}], "build_options": {HOSTILE: HOSTILE}}
        kernel.toolchain = {HOSTILE: HOSTILE}
        job.best_trial_id = rows.add_measured(session, job, 0, 10.0, kernel.id, "native").id
        rows.add_trial(session, job, 1, "rejected", reason=HOSTILE)
        rows.add_trial(session, job, 2, "crashed", config={"matmul": {"loop_order": "<b>&"}, HOSTILE: HOSTILE})
        schedule = rows.add_schedule(session, HOSTILE)
        schedule.timezone = schedule.cron = HOSTILE
    for path in ("/", f"/jobs/{job.id}", f"/jobs/{job.id}/live", f"/kernels/{kernel.id}", "/jobs/<script>alert(1)"):
        html = client.get(path).text
        assert "<script>alert" not in html, path
        assert "&lt;script&gt;alert" in html, path
        assert not re.search(r'"\s*onmouseover=', html), path


@pytest.mark.parametrize("path", ["/", "/docs", "/fleet"])
def test_pages_allow_only_our_own_files(client: TestClient, path: str) -> None:
    answer = client.get(path)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert not re.search(
        r"<script(?![^>]*\bsrc=\"/static/)|<style|\sstyle=|\son\w+=|https?://(?!testserver)", answer.text
    )
    for address in re.findall(r'(?:src|href)="(/static/[^"]+)"', answer.text):
        assert client.get(address).status_code == 200


def test_every_static_file_is_served_with_its_type_and_no_other(client: TestClient) -> None:
    types = {".css": "text/css", ".js": "javascript", ".svg": "image/svg+xml"}
    for name, path in STATIC_FILES.items():
        assert types[path.suffix] in client.get(f"/static/{name}").headers["content-type"]
    assert client.get("/static/../routes.py").status_code == 404
    assert client.get("/static/%2e%2e%2froutes.py").status_code == 404


@pytest.mark.parametrize("path", ["/jobs/nope", "/kernels/nope", "/jobs/01970a3c-0000-7000-8000-000000000000/live"])
def test_what_is_not_there_is_a_page_with_a_way_back(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert "text/html" in answer.headers["content-type"]
    assert 'href="/"' in answer.text


def test_a_database_that_is_not_migrated_is_told_in_a_page(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'empty.sqlite'}"
    app = create_app(Settings(data_dir=tmp_path, database_url=url, scheduler=False, allowed_hosts="testserver"), list)
    with TestClient(app) as client:
        answer = client.get("/")
    assert answer.status_code == 503
    assert "xetune db upgrade" in answer.text
