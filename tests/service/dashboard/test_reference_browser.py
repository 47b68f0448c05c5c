"""The reference of the API in real Chromium, without any other host."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Route, expect

from db.migrate import upgrade
from service.app import create_app
from service.settings import Settings
from tests.service.dashboard.chromium import opened, served
from tests.service.rest import invented_devices

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.mark.parametrize("width", [360, 1400])
def test_an_operation_is_shown_with_samples_and_nothing_is_loaded_from_elsewhere(
    browser: Browser, tmp_path: Path, width: int
) -> None:
    settings = Settings(data_dir=tmp_path, database_url=f"sqlite:///{tmp_path / 'x.sqlite'}", scheduler=False)
    app = create_app(settings, invented_devices)
    upgrade(app.state.context.database.engine)
    elsewhere: list[str] = []

    def stay(route: Route) -> None:
        if route.request.url.startswith(address):
            route.continue_()
        else:
            elsewhere.append(route.request.url)
            route.abort()

    with served(app) as address, opened(browser, f"{address}/devices", width=width) as (page, complaints):
        page.route("**/*", stay)
        page.get_by_role("link", name="API reference").click()
        operation = page.locator("#operations-jobs-create_job")
        expect(operation).to_contain_text("/v1/jobs")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page.evaluate("document.documentElement.scrollHeight") < 10 * 800
        operation.get_by_role("button").first.click()
        expect(operation.locator(".sample").first).to_contain_text("curl -sS -X POST")
        expect(operation.locator(".sample").last).to_contain_text("client.create_job(models.JobBody")
        operation.get_by_role("button", name="Copy curl").click()
        expect(operation.get_by_role("button", name="Copy curl")).to_have_text(re.compile("Copied|Selected"))
        page.emulate_media(color_scheme="dark")
        expect(page.locator("html")).to_have_class("js dark-mode")
        assert [said for said in complaints if "clipboard" not in said.lower()] == []
    assert [url for url in elsewhere if not url.startswith("data:")] == []
