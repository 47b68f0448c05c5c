"""The pages in real Chromium."""

import random
import threading
from collections.abc import Generator
from pathlib import Path
from typing import Literal
from uuid import UUID

import pytest
from playwright.sync_api import Browser, expect
from sqlalchemy.orm import Session

from codegen import Activation, DType, Gate, GemmProblem, Quantization
from codegen.problem.epilogue_text import parse_epilogue
from db.migrate import upgrade
from db.queries import jobs
from db.queries.results import predictions
from db.session import Database
from db.values import utc_now
from service.api.jobs.defaults import TRIALS
from service.app import create_app
from service.cluster.local import LocalExecutor
from service.gemm_json import problem_from_json
from service.jobs.job_runs import ClaimedJob, JobEnd
from service.settings import Settings
from tests.service import dashboard_rows as rows
from tests.service.cluster.job_loop import run_jobs
from tests.service.dashboard.accessibility import obstacles
from tests.service.dashboard.chromium import opened, served
from tests.service.rest import invented_devices

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[str, Database]]:
    """The service as it is, without a worker."""
    folder: Path = tmp_path_factory.mktemp("site")
    app = create_app(
        Settings(data_dir=folder, database_url=f"sqlite:///{folder / 'x.sqlite'}", scheduler=False), invented_devices
    )
    database: Database = app.state.context.database
    upgrade(database.engine)
    with served(app) as address:
        yield address, database


@pytest.mark.slow
def test_a_trial_that_ends_appears_without_a_reload(browser: Browser, site: tuple[str, Database]) -> None:
    address, database = site
    with database.write() as session:
        problem = rows.add_problem(session, 96, 160, 224)
        job = rows.add_job(session, problem, rows.add_device(session, "live-device"), "running")
        kernel = rows.add_kernel(session, job, problem)
        rows.add_history(session, job, kernel.id, 3)
    with opened(browser, f"{address}/jobs/{job.id}") as (page, complaints):
        expect(page.locator("#trials tbody tr")).to_have_count(3)
        page.evaluate("window.sameDocument = true")
        with database.write() as session:
            rows.add_measured(session, job, 3, 777.0, kernel.id)
            jobs.update_best(session, job.id)
        expect(page.locator("#trials tbody tr")).to_have_count(4)
        expect(page.locator("#summary")).to_contain_text("777.0 µs")
        assert page.evaluate("window.sameDocument") is True
        page.on("dialog", lambda dialog: dialog.accept())
        page.locator("#cancel").click()
        expect(page.locator("#summary .status")).to_have_text("cancelling")
        expect(page.locator("#summary h2").first).to_be_focused()  # the button is disabled
        assert complaints == []


@pytest.mark.slow
def test_the_chart_is_read_by_keyboard_has_a_table_and_saves(browser: Browser, site: tuple[str, Database]) -> None:
    address, database = site
    with database.write() as session:
        problem = rows.add_problem(session, 64, 128, 192)
        job = rows.add_job(session, problem, rows.add_device(session, "tip-device"))
        rows.add_history(session, job, rows.add_kernel(session, job, problem).id, 40)
    with opened(browser, f"{address}/jobs/{job.id}", width=400) as (page, complaints):
        chart = page.locator("#history")
        expect(chart.locator("canvas")).to_be_visible()
        with page.expect_download() as untouched:
            chart.locator("[data-picture]").click()
        chart.locator(".plot").focus()
        page.keyboard.press("ArrowRight")
        expect(chart.locator(".readout")).to_contain_text("Trial: 0 · Time: 7.780 ms")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("End")
        expect(chart.locator(".readout")).to_contain_text("Configuration: block")
        chart.locator("[data-table]").click()
        expect(chart.locator(".chart-table tbody tr").first).to_contain_text("DPAS emulated")
        with page.expect_download() as picture:
            chart.locator("[data-picture]").click()
        assert picture.value.suggested_filename == "time-of-each-trial-64x128x192-f16-f32-nn-on-tip-device.png"
        assert picture.value.path().read_bytes().startswith(b"\x89PNG")
        assert picture.value.path().read_bytes() == untouched.value.path().read_bytes(), "no point stands out"
        with page.expect_download() as saved:
            chart.locator("a[download]").click()
        assert saved.value.suggested_filename == "time-of-each-trial-64x128x192-f16-f32-nn-on-tip-device.csv"
        lines = saved.value.path().read_text().splitlines()
        assert lines[0] == "series,evidence,Trial,Time (µs),Low (µs),High (µs),Rate (GFLOP/s),Configuration"
        assert lines[1].startswith('"trials, measured, DPAS emulated",emulated,0,')
        page.keyboard.press("Enter")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert complaints == []


@pytest.mark.slow
def test_the_form_shows_what_is_wrong_beside_it(browser: Browser, site: tuple[str, Database]) -> None:
    address, _ = site
    with opened(browser, address, width=360, height=500) as (page, complaints):
        page.fill("[name='problem.m']", "0")
        page.press("[name='problem.m']", "Enter")
        expect(page.locator("#start-error")).to_contain_text("M:")
        expect(page.locator("#start-error")).to_be_in_viewport(ratio=1)
        expect(page.locator("[name='problem.m']")).to_be_focused()
        expect(page.locator("[name='problem.m']")).to_be_in_viewport(ratio=1)
        assert complaints == []
        page.fill("[name='problem.m']", "999999999999")
        page.click("text=Start tuning")
        expect(page.locator("#start-error")).to_contain_text("16777216")
        expect(page.locator("[name='problem.m']")).to_have_attribute("aria-invalid", "true")


@pytest.mark.slow
def test_the_form_asks_for_all_that_the_reproduction_of_a_job_shows(
    browser: Browser, site: tuple[str, Database]
) -> None:
    address, database = site
    with opened(browser, address) as (page, _):
        for name, value in (("m", "48"), ("n", "80"), ("k", "96")):
            page.fill(f"[name='problem.{name}']", value)
        page.select_option("[name='problem.dtype_c']", "f16")
        page.locator("#start-job").get_by_text("More").click()
        page.fill("[name='problem.batch']", "3")
        page.check("[name='problem.transpose_b']")
        page.fill("[name='problem.epilogue']", "alpha=half, bias:column")
        page.select_option("[name='problem.gate.activation']", "gelu_tanh")
        page.fill("[name='problem.gate.interleave']", "16")
        page.select_option("[name='problem.dtype_b']", "u4")
        page.fill("[name='problem.quantization']", "32 : f32 : zero = 3")
        page.select_option("[name=search]", "random")
        page.fill("[name=seed]", "7")
        page.select_option("[name=device]", "b580")
        page.locator("#start-job").get_by_text("More").click()
        page.click("text=Start tuning")
        expect(page.locator("#start-error")).to_contain_text(
            "step 1, 'alpha=half': expected a number after '=', got 'half'"
        )
        expect(page.locator("[name='problem.epilogue']")).to_be_focused()
        expect(page.locator("[name='problem.epilogue']")).to_have_attribute("aria-invalid", "true")
        page.fill("[name='problem.epilogue']", "alpha=0.5, bias:column:f16, clip=-1..6, add:ld=96")
        page.click("text=Start tuning")
        page.wait_for_url("**/jobs/*")
        told = page.locator("section:has(> #again-title)").inner_text()
    with database.read() as session:
        job = jobs.get(session, UUID(page.url.rsplit("/", 1)[-1]))
        assert job is not None
        problem = problem_from_json(job.problem.definition)
        method = job.search
    epilogue = parse_epilogue("alpha=0.5, bias:column:f16, clip=-1..6, add:ld=96")
    gate = Gate(Activation.GELU_TANH, 16)
    assert problem == GemmProblem(
        *(48, 80, 96),
        batch=3,
        dtype_b=DType.U4,
        dtype_c=DType.F16,
        transpose_b=True,
        epilogue=epilogue,
        gate=gate,
        quantization=Quantization(32, DType.F32, 3),
    )
    assert (job.seed, method, job.budget_trials) == (7, "random", TRIALS)
    for words in (
        "--batch 3",
        "--layout nt",
        "--gate gelu_tanh:interleaved=16",
        "--dtype-b u4",
        "--quantization 32:f32:zero=3",
        "--search random",
        "--seed 7",
        "clip=-1..6",
    ):
        assert words in told


@pytest.mark.slow
def test_a_job_is_started_in_the_browser_and_watched_until_it_ends(
    browser: Browser, site: tuple[str, Database], tmp_path: Path
) -> None:
    address, database = site
    halfway = threading.Event()

    def tune(job: ClaimedJob, _stop: threading.Event) -> JobEnd:
        if job.spec.problem.m != 224:  # of another test
            return JobEnd.CANCELLED
        for number, median_us in enumerate((900.0, 700.0, 450.0)):
            with database.write() as session:
                row = jobs.get(session, job.id)
                assert row is not None
                kernel = rows.add_kernel(session, row, row.problem, number)
                rows.add_measured(session, row, number, median_us, kernel.id, "native")
                jobs.update_best(session, job.id)
            if number == 0:
                assert halfway.wait(60), "the page never showed the first trial"
        return JobEnd.SUCCEEDED

    settings = Settings(data_dir=tmp_path, database_url=str(database.engine.url))
    here = LocalExecutor(here=lambda: {"cpu-fake-2c"})
    with opened(browser, address) as (page, complaints):
        page.fill("[name='problem.m']", "224")
        page.select_option("[name=device]", "cpu-fake-2c")
        page.fill("[name='budget.trials']", "3")
        page.click("text=Start tuning")
        page.wait_for_url("**/jobs/*")
        expect(page.locator("#summary .status")).to_have_text("queued")
        thread = threading.Thread(target=lambda: run_jobs(database, settings, lambda _database, _executor: tune, here))
        thread.start()
        expect(page.locator("#trials tbody tr")).to_have_count(1)
        expect(page.locator("#summary .status")).to_have_text("running")
        halfway.set()
        expect(page.locator("#summary .status")).to_have_text("succeeded")
        expect(page.locator("#summary")).to_contain_text("450.0 µs")
        expect(page.locator("#summary")).to_contain_text("2.00x")
        expect(page.locator("#history .chart-note")).to_have_text("3 of 3 trials have a time")
        assert page.locator("#summary[hx-get]").count() == 0, "it looks no more"
        thread.join()
        page.get_by_role("link", name="Best kernel", exact=True).click()
        page.wait_for_url("**/kernels/*")
        assert complaints == []


@pytest.mark.slow
def test_a_failed_trial_is_followed_from_the_first_page_to_its_reason(
    browser: Browser, site: tuple[str, Database]
) -> None:
    address, database = site
    with database.write() as session:
        job = rows.add_job(
            session, rows.add_problem(session, 72, 136, 200), rows.add_device(session, "fails"), "failed"
        )
        job.finished_at = utc_now()
        rows.add_trial(session, job, 0, "compile_failed")
        rows.add_trial(session, job, 1, "wrong_result")
    with opened(browser, address) as (page, complaints):
        page.locator(".attention li", has_text="72x136x200").get_by_role("link").click()
        page.locator("#outcomes").get_by_role("row", name="stage llvm").get_by_role("link").click()
        expect(page.locator("#reason")).to_have_text("stage llvm: spills 12 registers")
        page.go_back()
        page.locator("#outcomes").get_by_role("link", name="wrong result").click()
        expect(page.locator("#trials tbody tr")).to_have_count(1)
        expect(page.locator("#trials tbody tr")).to_contain_text("largest error 3.1")
        assert complaints == []


@pytest.mark.slow
def test_the_theme_is_kept_and_there_before_the_page_is(browser: Browser, site: tuple[str, Database]) -> None:
    address, _ = site
    with opened(browser, f"{address}/jobs") as (page, complaints):
        button = page.locator("#theme")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(246, 247, 249)"
        button.click()
        button.click()
        assert page.evaluate("document.documentElement.dataset.theme") == "dark"
        page.goto(f"{address}/problems")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(15, 18, 22)"
        expect(page.locator("#theme")).to_have_attribute("aria-label", "Theme: dark. Change it")
        page.locator("#theme").click()
        assert page.evaluate("localStorage.getItem('theme')") is None
        assert complaints == []


def add_everything(session: Session) -> list[str]:
    """Rows of every kind; gives the addresses of the pages that show them."""
    gpu = rows.add_device(session, "b60", None)
    problem = rows.add_problem(session, 520, 392, 1032)
    done, running = rows.add_job(session, problem, gpu, budget=80), rows.add_job(session, problem, gpu, "running")
    draw = random.Random(5)
    kernel = rows.add_kernel(session, done, problem)
    for number in range(60):
        if number % 6 == 5:
            rows.add_trial(session, done, number, draw.choice(list(rows.FAILURES)))
        elif number % 7 == 3:
            rows.add_predicted(session, done, number, 800 * draw.lognormvariate(0, 0.3))
        else:
            trial = rows.add_measured(session, done, number, 900 * draw.lognormvariate(0, 0.3), kernel.id, "native")
            rows.predict(session, trial, 900.0)
    predictions.judge(session, problem.id, "b60")
    done.compared_default_us, done.compared_best_us = 990.0, 500.0
    jobs.update_best(session, done.id)
    rows.add_trial(session, running, 0, "pending")
    rows.add_schedule(session, "of all")
    of_job = f"/jobs/{done.id}"
    return [
        *("/", "/jobs", of_job, f"/jobs/{running.id}", f"{of_job}/trials/5", f"{of_job}/charts/history?as=table"),
        *("/problems", f"/problems/{problem.key[:16]}/on/b60", "/devices", "/devices/b60", "/jobs/none"),
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("width", "theme"), [(360, "light"), (820, "dark"), (1600, "light")])
def test_every_page_fits_and_keeps_nobody_out(
    browser: Browser, tmp_path: Path, width: int, theme: Literal["light", "dark"]
) -> None:
    app = create_app(
        Settings(data_dir=tmp_path, database_url=f"sqlite:///{tmp_path / 'x.sqlite'}", scheduler=False, rate_per_s=0),
        invented_devices,
    )
    database: Database = app.state.context.database
    upgrade(database.engine)
    with database.write() as session:
        pages = add_everything(session)
    with served(app) as address, opened(browser, address, width=width) as (page, complaints):
        page.emulate_media(color_scheme=theme)
        for path in pages:
            page.goto(address + path)
            for figure in page.locator("figure[data-chart]").all():
                figure.scroll_into_view_if_needed()
                expect(figure.locator(".loading")).to_have_count(0)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
            assert obstacles(page) == [], path
        told = [text for text in complaints if "404" not in text]  # what is not there is told so, by intention
        assert told == []
