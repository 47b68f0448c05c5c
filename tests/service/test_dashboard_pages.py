"""The pages as text: what they say, with which evidence, and that nothing hostile gets through."""

import re
from collections.abc import Generator
from html import unescape
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from db import jobs, predictions
from db.migrate import upgrade
from db.models import JobImport
from db.session import Database
from hal import DeviceKind, DeviceSpec
from hal.listed import Backend, ListedDevice
from service.app import create_app
from service.convert import config_to_json
from service.dashboard.assets import STATIC_FILES
from service.dashboard.chart import HistoryPoint
from service.dashboard.evidence import measured, predicted
from service.dashboard.judged import MAX_PAIRS, judged_chart
from service.settings import Settings
from tests.conformance.trial_samples import config
from tests.service import dashboard_rows as rows

HOSTILE = "<script>alert('1')</script> \" onmouseover=alert(2) &amp;"
HERE = ListedDevice(
    DeviceSpec("opencl-cpu", "A CPU", DeviceKind.CPU), Backend.OPENCL, "0", runnable=True, targetable=False, note="n"
)


@pytest.fixture
def app(tmp_path: Path) -> FastAPI:
    url = f"sqlite:///{tmp_path / 'x.sqlite'}"
    settings = Settings(data_dir=tmp_path, database_url=url, scheduler=False, allowed_hosts="testserver")
    app = create_app(settings, lambda: [HERE])
    upgrade(app.state.context.database.engine)
    return app


@pytest.fixture
def database(app: FastAPI) -> Database:
    return app.state.context.database


@pytest.fixture
def client(app: FastAPI) -> Generator[TestClient]:
    with TestClient(app) as client:
        yield client


def text_of(html: str) -> str:
    """What a reader sees, roughly: without tags, spaces folded."""
    return re.sub(r"\s+(?=,)|(?<=\s)\s+", "", unescape(re.sub(r"<[^>]+>", " ", html).replace("\n", " ")))


def test_an_empty_overview_says_what_to_do(client: TestClient) -> None:
    answer = client.get("/")
    assert answer.status_code == 200
    assert "xetune tune --m 512 --n 384 --k 1024" in answer.text
    assert "/v1/schedules" in answer.text
    assert "opencl-cpu" in text_of(answer.text)


def test_the_overview_shows_jobs_with_their_evidence_and_schedules(client: TestClient, database: Database) -> None:
    with database.write() as session:
        problem, gpu = rows.add_problem(session), rows.add_device(session, "b580", None)
        cpu = rows.add_device(session)
        emulated, predicted = rows.add_job(session, problem, cpu), rows.add_job(session, problem, gpu)
        kernel = rows.add_kernel(session, emulated, problem)
        fastest = rows.add_measured(session, emulated, 0, 1234.5, kernel.id)
        emulated.best_trial_id = rows.predict(session, fastest, 1000.0).id
        predicted.best_trial_id = rows.add_predicted(session, predicted, 0, 88.25).id
        rows.add_job(session, problem, cpu, "running", cancel_requested=True)
        rows.add_schedule(session)
        rows.add_schedule(session, "weekly", enabled=False)
    seen = text_of(client.get("/").text)
    assert "1.234 ms measured on opencl-cpu-as-b580 · DPAS emulated 1 of 20" in seen
    assert "88.25 µs predicted (xe-1) 1 of 20" in seen
    assert "cancelling" in seen
    assert "2026-03-02 01:00:00 UTC" in seen
    assert "paused" in seen


def test_a_job_shows_best_speed_up_proof_and_ranks(client: TestClient, database: Database) -> None:
    with database.write() as session:
        problem = rows.add_problem(session)
        job = rows.add_job(session, problem, rows.add_device(session))
        kernel = rows.add_kernel(session, job, problem)
        for number, median_us in enumerate((3000.0, 1500.0, 2000.0)):
            rows.add_measured(session, job, number, median_us, kernel.id)
        rows.add_predicted(session, job, 3, 10.0)
        rows.add_trial(session, job, 4, "timed_out")
        jobs.update_best(session, job.id)
    html = client.get(f"/jobs/{job.id}").text
    seen = text_of(html)
    assert "2.00x default (trial 0): 3.000 ms, emulated" in seen, "a prediction is not the best of measured times"
    assert "1.500 ms 268.4 GFLOP/s measured on opencl-cpu-as-b580 · DPAS emulated" in seen
    assert "12 of 64 tiles of C in the simulator largest error 0.0011, tolerance 0.0124" in seen
    assert "5 of 20 trials" in seen
    assert "no answer after 20 s" in seen
    order = re.findall(r'data-label="Trial"[^>]*><div>(\d+)', html)
    assert order == ["1", "2", "0", "3", "4"], "same evidence together, fastest first, those without a time last"
    assert f'href="/kernels/{kernel.id}"' in html


def test_the_winner_is_the_one_measured_again_in_turns(client: TestClient, database: Database) -> None:
    with database.write() as session:
        problem = rows.add_problem(session)
        kept, won = (rows.add_job(session, problem, rows.add_device(session, f"gpu{i}", None)) for i in range(2))
        for job, winner, again_us in ((kept, 0, 2900.0), (won, 2, 1450.0)):
            kernel = rows.add_kernel(session, job, problem)
            for number, median_us in enumerate((3000.0, 1500.0, 2000.0)):
                rows.add_measured(session, job, number, median_us, kernel.id, "native")
            jobs.set_best(session, job.id, winner)
            jobs.set_comparison(session, job.id, default_us=2900.0, best_us=again_us)
    seen = text_of(client.get(f"/jobs/{kept.id}").text)
    assert "Best time 3.000 ms" in seen
    assert "1.00x the default was not beaten default (trial 0): 3.000 ms" in seen
    seen = text_of(client.get(f"/jobs/{won.id}").text)
    assert "Best time 2.000 ms" in seen
    assert "2.00x default (trial 0): 3.000 ms" in seen
    assert "not beaten" not in seen


def test_predicted_is_shown_against_measured_where_both_are_known(client: TestClient, database: Database) -> None:
    with database.write() as session:
        problem, gpu = rows.add_problem(session), rows.add_device(session, "b580", None)
        asked, there = rows.add_job(session, problem, gpu), rows.add_job(session, problem, gpu)
        kernel = rows.add_kernel(session, there, problem)
        for number, time_us in enumerate((100.0, 200.0, 300.0)):
            rows.add_predicted(session, asked, number, time_us)
        jobs.update_best(session, asked.id)
    html = client.get(f"/jobs/{asked.id}").text
    assert "Predicted against measured" not in html
    assert "predicted (xe-1)" in text_of(html)
    with database.write() as session:
        session.add(JobImport(job_id=there.id, origin=HOSTILE))
        for number, median_us in ((0, 900.0), (1, 250.0)):
            rows.add_measured(session, there, number, median_us, kernel.id, "native")
        predictions.judge(session, problem.id, "b580")
        jobs.update_best(session, there.id)
    html = client.get(f"/jobs/{asked.id}").text
    seen = text_of(html)
    assert "Predictions were off by x5.12 (median of 2); 1 of 2 in their interval." in seen
    assert html.count("<circle") - html.count('cy="7"') == 2 * 2, "in the history and against the prediction"
    assert 'data-tip="Trial 0: predicted 100.0 µs, measured 900.0 µs, 9.00 times"' in html
    assert f'href="/jobs/{there.id}"' in html
    assert "measured on b580 by <script>" in seen
    assert "<script>alert" not in html
    assert "Best time 250.0 µs" in seen, "corrected by what was measured"
    order = re.findall(r'<td data-label="Rank".*?<div>(\d+)</div></td>\s*<th data-label="Trial"[^>]*><div>(\d+)', html)
    assert order == [("1", "1"), ("2", "0"), ("1", "2")], "measured ones first; the third is predicted"
    assert "imported from &lt;script&gt;" in client.get(f"/jobs/{there.id}").text
    assert "250.0 µs measured on b580 by" in text_of(client.get("/").text)
    assert "measured on b580 by" in text_of(client.get(f"/kernels/{kernel.id}").text)


def test_pairs_of_times_are_placed_on_equal_axes_and_the_slowest_are_left_out() -> None:
    def point(number: int, predicted_us: float, measured_us: float) -> HistoryPoint:
        foreseen = predicted(predicted_us, predicted_us / 2, predicted_us * 2, "xe-1", 1000)
        time = measured(measured_us, measured_us, measured_us, "native", "b580", 1000)
        return HistoryPoint(number, "measured", time, foreseen, measured_us / predicted_us)

    assert judged_chart([]) is None
    chart = judged_chart([point(0, 10.0, 10.0), point(1, 1000.0, 1000.0), point(2, 100.0, 500.0)])
    assert chart is not None
    assert [(p.number, p.inside) for p in chart.pairs] == [(0, True), (2, False), (1, True)]
    assert all(abs(p.x + p.y - 100) < 0.02 for p in chart.pairs if p.ratio == 1)
    assert chart.pairs[1].y < 100 - chart.pairs[1].x, "slower than predicted is above the diagonal"
    assert (chart.off_by, chart.inside, chart.count, chart.left_out) == (1.0, 2, 3, 0)
    many = judged_chart([point(n, 10.0, 10.0 + n) for n in range(MAX_PAIRS + 7)])
    assert many is not None
    assert (len(many.pairs), many.left_out, many.pairs[-1].number) == (MAX_PAIRS, 7, MAX_PAIRS - 1)


def test_a_kernel_with_wrong_numbers_says_so(client: TestClient, database: Database) -> None:
    with database.write() as session:
        problem = rows.add_problem(session)
        job = rows.add_job(session, problem, rows.add_device(session))
        kernel = rows.add_kernel(session, job, problem)
        rows.add_trial(session, job, 0, "wrong_result", kernel.id)
    seen = text_of(client.get(f"/kernels/{kernel.id}").text)
    assert "none wrong result largest error 3.1 is above the tolerance 0.0124" in seen
    assert "12 of 64 tiles of C in the simulator largest error 3.1, tolerance 0.0124" in seen


@pytest.mark.parametrize(
    ("query", "first"),
    [("", "249"), ("?sort=-time", "0"), ("?sort=number", "0"), ("?sort=-number", "249"), ("?sort=number&page=3", "200"),
     ("?sort=number&page=99", "200"), ("?sort=number&page=-1", "0"), ("?sort=number&page=x", "0"),
     ("?sort=nonsense", "249"), ("?page=" + "9" * 5000, "249")],
)  # fmt: skip
def test_trials_are_sorted_and_paged_on_the_server(
    client: TestClient, database: Database, query: str, first: str
) -> None:
    with database.write() as session:
        problem = rows.add_problem(session)
        job = rows.add_job(session, problem, rows.add_device(session), budget=250)
        kernel = rows.add_kernel(session, job, problem)
        for number in range(250):
            rows.add_measured(session, job, number, 1000.0 - number, kernel.id)
    html = client.get(f"/jobs/{job.id}{query}").text
    shown = re.findall(r'data-label="Trial"[^>]*><div>(\d+)', html)
    assert shown[0] == first
    assert len(shown) == (50 if first == "200" else 100)
    assert "Page" in text_of(html)


def test_the_live_parts_are_those_of_the_page(client: TestClient, database: Database) -> None:
    with database.write() as session:
        problem = rows.add_problem(session)
        job = rows.add_job(session, problem, rows.add_device(session), "running")
        kernel = rows.add_kernel(session, job, problem)
        rows.add_measured(session, job, 0, 100.0, kernel.id)
        rows.add_trial(session, job, 1, "pending")
    page, parts = client.get(f"/jobs/{job.id}").text, client.get(f"/jobs/{job.id}/live").text
    assert re.findall(r'data-part="(\w+)"', parts) == re.findall(r'data-part="(\w+)"', page) == [
        "summary", "chart", "trials",
    ]  # fmt: skip
    assert "<html" not in parts
    assert 'data-seen="0"' in page, "trial 1 goes on"
    assert 'data-active="yes"' in parts
    assert 'id="cancel"' in parts


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
    assert "measured on opencl-cpu-as-b580 · DPAS emulated" in seen
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
    assert f"4x 512x384x1024 s8,u8->f16 NT dynamic deterministic + {steps} kernel for b580" in seen
    assert "Kernel 1 clear of workspace" in seen
    assert "Kernel 2 gemm of A, B, workspace, m=512" in seen
    assert "512 x 4 x 16 work-items in general 128 * ceil(n / 96) x ceil(m / 128) x 4 * batch" in seen
    assert "Kernel 3 finish of workspace, C, scale" in seen
    assert "B by lanes block2d-pitch: rows of B are 1001 bytes apart" in seen
    assert "7 workspace scratch f32" in seen
    assert "C inout, f16, 512 x 384, rows 400 elements apart, matrices 204800 apart" in seen
    assert "B input, u8, 384 x 1024, one for all of the batch" in seen
    assert f"epilogue {steps}" in seen
    assert "strategy prefetch l2 distance 6" in seen
    assert "strategy k unroll 1" in seen
    seen = text_of(client.get(f"/jobs/{job.id}").text)
    assert "Launch of the best clear, then gemm, then finish A by 2-D blocks B by lanes block2d-pitch" in seen
    assert f"epilogue {steps}" in seen
    assert f"+ {steps}" in text_of(client.get("/").text)


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


def test_pages_allow_only_our_own_files(client: TestClient) -> None:
    answer = client.get("/")
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
