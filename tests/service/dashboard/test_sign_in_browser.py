"""Signing in with real Chromium: the form, the cookie that scripts do not see, a change with it, and out again."""

from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from db.migrate import upgrade
from service.app import create_app
from service.http.context import Context
from service.settings import Settings
from tests.service import dashboard_rows as rows
from tests.service.api.keys.test_keys import make_key
from tests.service.dashboard.accessibility import obstacles
from tests.service.dashboard.chromium import opened, served
from tests.service.rest import invented_devices

pytestmark = pytest.mark.browser


@pytest.fixture
def site(tmp_path: Path) -> Generator[tuple[str, str]]:
    """The address of a service that asks for a key, and the key."""
    settings = Settings(data_dir=tmp_path, database_url=f"sqlite:///{tmp_path / 'x.sqlite'}", scheduler=False)
    app = create_app(settings, invented_devices)
    context: Context = app.state.context
    upgrade(context.database.engine)
    key = make_key(context, "tune")
    with served(app) as address:
        yield address, key


@pytest.mark.slow
def test_one_signs_in_starts_a_job_and_signs_out(browser: Browser, site: tuple[str, str]) -> None:
    address, key = site
    with opened(browser, f"{address}/?from=test") as (page, _):
        page.fill("[name=key]", "xetune_wrong")
        page.click("main button")
        expect(page.locator("#sign-in-error")).to_contain_text("not an API key")
        page.fill("[name=key]", key)
        page.click("main button")
        expect(page.locator("#start-job")).to_be_visible()
        assert page.url == f"{address}/?from=test"
        assert page.evaluate("document.cookie") == ""
        page.select_option("[name=device]", "opencl-cpu")
        page.select_option("[name=target]", "b580")
        page.click("text=Start tuning")
        page.wait_for_url("**/jobs/*")
        page.goto(address)
        page.click("text=Sign out")
        expect(page.locator("[name=key]")).to_be_visible()
        assert page.context.cookies() == []


@pytest.mark.slow
def test_an_action_that_the_key_is_not_for_asks_for_another(browser: Browser, tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, database_url=f"sqlite:///{tmp_path / 'x.sqlite'}", scheduler=False)
    app = create_app(settings, invented_devices)
    context: Context = app.state.context
    upgrade(context.database.engine)
    reading, tuning = make_key(context, "read", "reader"), make_key(context, "tune", "tuner")
    with context.database.write() as session:
        job = rows.add_job(session, rows.add_problem(session), rows.add_device(session), "running")
    with served(app) as address, opened(browser, f"{address}/jobs/{job.id}") as (page, _):
        page.fill("[name=key]", reading)
        page.click("main button")
        page.on("dialog", lambda dialog: dialog.accept())
        page.click("#cancel")
        expect(page.locator("#ask-key")).to_contain_text("is for read, this needs tune")
        expect(page.locator("#ask-key h2")).to_have_text("This needs another API key")
        page.locator("#ask-key [name=key]").fill("hello")
        page.locator("#ask-key").get_by_role("button", name="Sign in").click()
        expect(page.locator("#ask-key-error")).to_contain_text("that is not an API key")
        page.locator("#ask-key [name=key]").fill(tuning)
        page.locator("#ask-key").get_by_role("button", name="Sign in").click()
        expect(page.locator("#summary .status")).to_have_text("cancelling")


@pytest.mark.slow
def test_what_was_typed_stays_and_is_sent_when_the_key_is_given(browser: Browser, tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, database_url=f"sqlite:///{tmp_path / 'x.sqlite'}", scheduler=False)
    app = create_app(settings, invented_devices)
    context: Context = app.state.context
    upgrade(context.database.engine)
    with served(app) as address, opened(browser, address) as (page, complaints):
        for name, value in (("m", "77"), ("n", "96"), ("k", "160")):
            page.fill(f"[name='problem.{name}']", value)
        page.select_option("[name=device]", "b580")
        tuning = make_key(context, "tune", "made meanwhile")
        expect(page.locator("#stale")).to_contain_text("needs an API key that works")
        page.click("text=Start tuning")
        expect(page.locator("#ask-key h2")).to_have_text("API key required")
        assert obstacles(page) == []
        page.locator("#ask-key [name=key]").fill(tuning)
        page.locator("#ask-key").get_by_role("button", name="Sign in").click()
        page.wait_for_url("**/jobs/*")
        expect(page.locator("h1")).to_contain_text("77x96x160")
        expect(page.get_by_role("button", name="Sign out")).to_be_visible()
        assert [said for said in complaints if "401" not in said] == []  # the refusals were meant
