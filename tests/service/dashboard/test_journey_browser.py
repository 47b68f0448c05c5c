"""One journey through a service as it is started by hand, with a worker that tunes real kernels of this CPU."""

import hashlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.service.dashboard.accessibility import obstacles
from tests.service.dashboard.chromium import opened

pytestmark = [pytest.mark.browser, pytest.mark.slow]

_START_MS, _TUNE_MS = 120_000, 300_000
XETUNE = [sys.executable, "-m", "service.cli"]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a service of this test alone, on a port that was free."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = tmp_path_factory.mktemp("journey")
    own = {"XETUNE_DATA_DIR": str(folder), "XETUNE_PORT": str(port), "XETUNE_RATE_PER_S": "0"}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("XETUNE_")}
    return kept | own


@pytest.fixture(scope="module")
def address(environment: dict[str, str]) -> Generator[str]:
    """The address of `xetune serve` in a process of its own."""
    found = f"http://127.0.0.1:{environment['XETUNE_PORT']}"
    log = Path(environment["XETUNE_DATA_DIR"]) / "serve.log"
    with log.open("w") as out:
        process = subprocess.Popen([*XETUNE, "serve"], env=environment, stdout=out, stderr=subprocess.STDOUT)
        try:
            _wait_until_ready(found, process, log)
            yield found
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait_until_ready(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + _START_MS / 1000
    while time.monotonic() < end:
        assert process.poll() is None, log.read_text()
        try:
            if httpx.get(f"{address}/readyz").status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.2)
    raise AssertionError(f"the service was not ready in time: {log.read_text()}")


def test_a_job_is_tuned_its_kernel_found_saved_and_compared_and_a_schedule_made(
    browser: Browser, address: str, environment: dict[str, str]
) -> None:
    with opened(browser, address) as (page, complaints):
        _start_job(page)
        expect(page.locator("#summary .status")).to_have_text("succeeded", timeout=_TUNE_MS)
        expect(page.locator("#summary")).to_contain_text(re.compile("(measured interleaved|single measurement) on cpu"))
        expect(page.locator("#trials tbody tr").first).to_be_visible()
        job = page.url
        _compare_two(page)
        page.goto(address)
        page.locator("#pages").get_by_role("link", name="Kernels").click()
        page.fill("[name=m]", "48")
        page.get_by_label("Time is").select_option("measured")
        page.get_by_role("button", name="Filter").click()
        page.locator("tbody th a").first.click()
        expect(page.locator("h1")).to_contain_text("48x80x96")
        told = page.locator(".hash").first.inner_text()
        with page.expect_download() as saved:
            page.get_by_role("link", name="Download kernel.o").click()
        assert hashlib.sha256(saved.value.path().read_bytes()).hexdigest() == told
        assert obstacles(page) == []
        _make_schedule(page, address)
        assert complaints == []
        _ask_for_a_key(page, job, environment)


def _start_job(page: Page) -> None:
    for name, value in (("m", "48"), ("n", "80"), ("k", "96")):
        page.fill(f"#start-job [name='problem.{name}']", value)
    for name, value in (("trials", "4"), ("seconds", "120")):
        page.fill(f"#start-job [name='budget.{name}']", value)
    page.select_option("#start-job [name='problem.dtype_a']", "f32")
    cpu = page.locator('#start-job [name=device] option[value^="cpu-"]').first.get_attribute("value")
    page.select_option("#start-job [name=device]", cpu)
    page.get_by_role("button", name="Start tuning").click()
    page.wait_for_url("**/jobs/*")


def _compare_two(page: Page) -> None:
    ticks = page.locator("#trials .tick")
    if ticks.count() < 2:
        pytest.fail(f"fewer than two trials have a kernel: {page.locator('#trials').inner_text()}")
    ticks.nth(0).check()
    ticks.nth(1).check()
    page.get_by_role("button", name="Compare two").click()
    expect(page.locator("#cost")).to_contain_text(re.compile("times as fast as|Both take"))
    expect(page.locator("#times canvas")).to_be_visible(timeout=60_000)
    assert obstacles(page) == []


def _make_schedule(page: Page, address: str) -> None:
    page.goto(f"{address}/schedules")
    form = page.locator("#make form")
    form.locator("[name=name]").fill("every night")
    form.locator("[name=cron]").fill("30 2 * * mon-fri")
    expect(form.locator(".preview")).to_contain_text("At 02:30, Monday through Friday")
    form.get_by_role("button", name="Create the schedule").click()
    page.wait_for_url("**/schedules/*-*")
    expect(page.locator("h1")).to_contain_text("every night")


def _ask_for_a_key(page: Page, job: str, environment: dict[str, str]) -> None:
    """Once there is a key, what was open asks for one; one that may only read is not enough to start work."""
    read, tune = (_key(environment, scope) for scope in ("read", "tune"))
    page.goto(job)
    page.fill("main [name=key]", read)
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator("#summary")).to_be_visible()
    page.get_by_role("button", name="Run it again").click()
    expect(page.locator("#ask-key")).to_contain_text("this needs tune")
    page.fill("#ask-key [name=key]", tune)
    page.locator("#ask-key").get_by_role("button", name="Sign in").click()
    expect(page.locator("#ask-key")).not_to_be_visible()
    page.wait_for_url(lambda url: url != job)
    expect(page.locator("#summary .status")).to_be_visible()


def _key(environment: dict[str, str], scope: str) -> str:
    command = [*XETUNE, "keys", "create", scope, "--scope", scope]
    told = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    found = re.search(r"xetune_[\w-]+", told)
    assert found is not None, told
    return found[0]
