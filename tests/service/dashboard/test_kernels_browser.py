"""Finding, downloading and comparing kernels in real Chromium."""

import hashlib
from collections.abc import Generator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Browser, expect

from db.migrate import upgrade
from db.session import Database
from hal.facts.xe import find
from service.app import create_app
from service.device_json import spec_to_json
from service.gemm_json import config_to_json
from service.settings import Settings
from tests.conformance.trial_samples import config
from tests.service import dashboard_rows as rows
from tests.service.dashboard.accessibility import obstacles
from tests.service.dashboard.chromium import opened, served
from tests.service.dashboard.test_dashboard_kernels import ISA, LONG
from tests.service.dashboard.test_dashboard_pages import HERE

pytestmark = pytest.mark.browser

BINARY = b"\x03\x02\x23\x07" * 300


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """The service with two kernels of a problem, all files of which are there."""
    folder: Path = tmp_path_factory.mktemp("kernels")
    settings = Settings(data_dir=folder, database_url=f"sqlite:///{folder / 'x.sqlite'}", scheduler=False)
    app = create_app(settings, lambda: [HERE])
    database: Database = app.state.context.database
    upgrade(database.engine)
    with database.write() as session:
        problem, gpu = rows.add_problem(session), rows.add_device(session, "b580", None)
        gpu.spec = spec_to_json(find("b580"))
        job = rows.add_job(session, problem, gpu)
        for number, text in enumerate((LONG, LONG.replace(b"i32 1", b"i32 7", 3))):
            kernel = rows.add_kernel(session, job, problem, number, {**rows.STAGES, "llvm.ll": text, "isa.json": ISA})
            kernel.config = config_to_json(config(number))
            rows.add_measured(session, job, number, 70.0 + 35.0 * number, kernel.id, "native")
    for data in (*rows.STAGES.values(), LONG, LONG.replace(b"i32 1", b"i32 7", 3), ISA, BINARY, b"{}"):
        app.state.context.artifacts.put(data)
    with served(app) as address:
        yield address


@pytest.mark.slow
def test_a_kernel_is_found_downloaded_and_compared(browser: Browser, address: str) -> None:
    with opened(browser, address, width=1000) as (page, complaints):
        page.locator("#pages").get_by_role("link", name="Kernels").click()
        page.fill("[name=m]", "512")
        page.get_by_label("Time is").select_option("measured")
        page.get_by_role("button", name="Filter").click()
        expect(page.locator("tbody tr")).to_have_count(2)
        assert page.url.endswith("/kernels?m=512&evidence=measured")
        assert obstacles(page) == []
        page.locator("tbody tr", has_text="70.00 µs").locator("th a").click()
        expect(page.locator(".zoom svg")).to_have_count(3)
        with page.expect_download() as saved:
            page.get_by_role("link", name="Download kernel.spv").click()
        assert hashlib.sha256(saved.value.path().read_bytes()).digest() == hashlib.sha256(BINARY).digest()
        assert obstacles(page) == []
        saved_as: dict[str, bytes] = {}
        for kind in ("SVG", "CSV", "PNG"):
            with page.expect_download() as saved:
                page.locator("#tiling-title ~ .chart-tools").get_by_text(kind).click()
            saved_as[kind] = saved.value.path().read_bytes()
        assert ElementTree.fromstring(saved_as["SVG"]).findtext("{http://www.w3.org/2000/svg}title")
        assert saved_as["CSV"].startswith(b"level,M (elements),N (elements),K (elements),how many")
        assert len(saved_as["PNG"]) > 10_000
        assert saved_as["PNG"].startswith(b"\x89PNG")
        page.locator("#stages .chip", has_text="xegpu.mlir").click()
        expect(page.locator(".stage")).to_have_count(2)
        page.get_by_role("link", name="Compare with").click()
        expect(page.locator("#cost")).to_have_text(
            "A is 1.50 times as fast as B: 35.00 µs less, both measured on a device."
        )
        expect(page.locator("#times canvas")).to_be_visible()
        page.locator("#texts").get_by_role("link", name="LLVM IR").click()
        expect(page.locator(".diff tr.new")).to_have_count(3)
        assert "stage=llvm.ll" in page.url
        assert obstacles(page) == []
        assert complaints == []


@pytest.mark.slow
def test_two_rows_are_ticked_to_compare_them(browser: Browser, address: str) -> None:
    with opened(browser, f"{address}/kernels", width=360) as (page, complaints):
        page.locator("tbody tr").first.wait_for()
        compare, ticks = page.get_by_role("button", name="Compare two"), page.locator(".tick")
        expect(compare).to_be_disabled()
        ticks.nth(0).check()
        expect(page.locator(".ticked")).to_contain_text("Tick one more of the kernels.")
        ticks.nth(1).check()
        compare.click()
        expect(page.locator("#cost")).to_contain_text("1.50 times as fast")
        page.go_back()
        page.locator("tbody th a").first.click()
        page.get_by_role("link", name="Its job").click()
        page.wait_for_url("**/jobs/*")
        expect(page.get_by_label("Compare trial 0")).to_be_hidden()  # a phone has no room for it
        page.set_viewport_size({"width": 1000, "height": 800})
        page.get_by_label("Compare trial 0").check()
        page.get_by_label("Compare trial 1").check()
        page.get_by_role("button", name="Compare two").click()
        expect(page.locator("#cost")).to_contain_text("1.50 times as fast")
        assert obstacles(page) == []
        assert complaints == []


@pytest.mark.slow
@pytest.mark.parametrize("width", [360, 800, 1600])
def test_the_pages_of_kernels_fit_every_width(browser: Browser, address: str, width: int) -> None:
    with opened(browser, f"{address}/kernels", width) as (page, complaints):
        first, second = (page.locator("tbody th a").nth(i).get_attribute("href") or "" for i in (0, 1))
        ids = [href.removeprefix("/kernels/") for href in (first, second)]
        for path in ("/kernels", first, f"{first}/stages/llvm.ll", f"/compare?kernel={ids[0]}&kernel={ids[1]}"):
            page.goto(address + path)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        assert complaints == []
