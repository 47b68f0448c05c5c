"""Pages on their way, empty, out of date and refused, in Chromium: each says so, and goes on when it can."""

import re
from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from db.migrate import upgrade
from service.app import create_app
from service.settings import Settings
from tests.service.dashboard.accessibility import obstacles
from tests.service.dashboard.chromium import opened, served
from tests.service.rest import invented_devices

pytestmark = [pytest.mark.browser, pytest.mark.slow]

_WAIT_MS = 30_000
_REASONS = {
    401: "needs an API key that works",
    404: "no longer has it",
    429: "gets too many requests",
    500: "answered 500",
    503: "cannot reach its database",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """A service that has done nothing yet."""
    folder: Path = tmp_path_factory.mktemp("states")
    settings = Settings(data_dir=folder, database_url=f"sqlite:///{folder / 'x.sqlite'}", scheduler=False)
    app = create_app(settings, invented_devices)
    upgrade(app.state.context.database.engine)
    with served(app) as address:
        yield address


def _look(page: Page) -> None:
    page.evaluate("document.body.dispatchEvent(new Event('look'))")


def _in_both_themes(page: Page) -> None:
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        assert obstacles(page) == []


def test_a_chart_that_is_on_its_way_says_so(browser: Browser, site: str) -> None:
    with opened(browser, f"{site}/devices") as (page, complaints):
        held: list[Route] = []
        page.route("**/charts/gains", lambda route: held.append(route))
        page.goto(site)
        figure = page.locator("#gains")
        figure.scroll_into_view_if_needed()
        expect(figure.locator(".loading")).to_have_text("Loading")
        _in_both_themes(page)
        expect(figure.locator(".loading")).to_be_visible()
        held[0].continue_()
        expect(figure.locator(".empty")).to_contain_text("No job has measured", timeout=_WAIT_MS)
        assert complaints == []


def test_a_chart_that_is_refused_says_why_and_can_be_tried_again(browser: Browser, site: str) -> None:
    with opened(browser, f"{site}/devices") as (page, _):
        answers: list[int] = [0]

        def answer(route: Route) -> None:
            route.fulfill(status=answers[0], json={}) if answers[0] else route.abort()

        page.route("**/charts/gains", answer)
        page.goto(site)
        figure = page.locator("#gains")
        figure.scroll_into_view_if_needed()
        expect(figure.locator(".error")).to_contain_text("does not answer", timeout=_WAIT_MS)
        for status, reason in _REASONS.items():
            answers[0] = status
            figure.get_by_role("button", name="Try again").click()
            expect(figure.locator(".error")).to_contain_text(reason, timeout=_WAIT_MS)
        _in_both_themes(page)
        page.unroute("**/charts/gains")
        figure.get_by_role("button", name="Try again").click()
        expect(figure.locator(".empty")).to_be_visible(timeout=_WAIT_MS)


def test_a_page_that_cannot_be_brought_up_to_date_says_since_when_and_why(browser: Browser, site: str) -> None:
    with opened(browser, site) as (page, _):
        stale = page.locator("#stale")
        expect(stale).to_be_hidden()
        answers: list[int] = [0]

        def answer(route: Route) -> None:
            route.fulfill(status=answers[0], json={}) if answers[0] else route.abort()

        page.route("**/now?*", answer)
        _look(page)
        expect(stale).to_contain_text(
            re.compile(r"since \d\d:\d\d:\d\d UTC: the service does not answer"), timeout=_WAIT_MS
        )
        _in_both_themes(page)
        for status, reason in _REASONS.items():
            answers[0] = status
            _look(page)
            expect(stale).to_contain_text(reason, timeout=_WAIT_MS)
            assert stale.get_by_role("button", name="Sign in").count() == (status == 401)
        page.unroute("**/now?*")
        _look(page)
        expect(stale).to_be_hidden(timeout=_WAIT_MS)


def test_an_action_that_is_refused_says_why_and_may_be_sent_again(browser: Browser, site: str) -> None:
    with opened(browser, f"{site}/schedules") as (page, _):
        form = page.locator("#make form")
        form.locator("[name=name]").fill("nightly")
        refusal = {
            "title": "Too Many Requests",
            "detail": "at most 10 requests a second",
            "status": 429,
            "rule": "rate",
        }
        page.route("**/v1/schedules", lambda route: route.fulfill(status=429, json=refusal))
        form.get_by_role("button", name="Create the schedule").click()
        expect(form.locator("[data-wrong]")).to_have_text("at most 10 requests a second (rule rate)")
        page.unroute("**/v1/schedules")
        wrong = {"field": "cron", "message": "expected five fields", "rule": "value"}
        invalid = {"title": "Invalid", "detail": "invalid request", "status": 422, "errors": [wrong]}
        page.route("**/v1/schedules", lambda route: route.fulfill(status=422, json=invalid))
        form.get_by_role("button", name="Create the schedule").click()
        expect(form.locator("[data-wrong]")).to_have_text("Minute hour day month weekday: expected five fields")
        expect(form.locator("[name=cron]")).to_be_focused()
        page.unroute("**/v1/schedules")
        page.route("**/v1/schedules", lambda route: route.abort())
        form.get_by_role("button", name="Create the schedule").click()
        expect(form.locator("[data-wrong]")).to_contain_text("The service does not answer")
        _in_both_themes(page)
        page.route("**/schedules/preview?*", lambda route: route.abort())
        form.locator("[name=cron]").fill("15 4 * * *")
        expect(form.locator(".preview .error")).to_contain_text("cannot be told now", timeout=_WAIT_MS)
        page.unroute("**/schedules/preview?*")
        form.locator("[name=cron]").fill("15 5 * * *")
        expect(form.locator(".preview li").first).to_contain_text("05:15", timeout=_WAIT_MS)


def test_pages_without_anything_say_what_to_do(browser: Browser, site: str) -> None:
    told = {
        "/": "No job yet",
        "/jobs": "No job yet",
        "/problems": "No problem was tuned yet",
        "/kernels": "No kernel was made yet",
        "/shapes": "No set yet",
        "/schedules": "No schedule yet",
        "/explore": "No problem was tuned yet",
    }
    with opened(browser, site) as (page, complaints):
        for path, text in told.items():
            page.goto(site + path)
            expect(page.locator(".empty").first).to_contain_text(text)
            expect(page.locator(".empty pre").first).to_contain_text("xetune")
        _in_both_themes(page)
        assert complaints == []


def test_a_filter_waits_until_it_is_sent_and_the_next_page_has_the_focus(browser: Browser, site: str) -> None:
    with opened(browser, f"{site}/jobs") as (page, complaints):
        page.get_by_label("Status").focus()
        for _ in range(3):
            page.keyboard.press("ArrowDown")
        expect(page.get_by_label("Status")).to_have_value("succeeded")
        expect(page.get_by_label("Status")).to_be_focused()
        assert page.url == f"{site}/jobs"
        page.keyboard.press("Tab")
        page.get_by_role("button", name="Filter").press("Enter")
        page.wait_for_url(f"{site}/jobs?status=succeeded")
        assert complaints == []


def test_the_menu_of_a_phone_is_used_by_keyboard(browser: Browser, site: str) -> None:
    with opened(browser, f"{site}/jobs", width=360) as (page, complaints):
        menu, first = page.get_by_role("button", name="Menu"), page.locator("#pages a").first
        expect(first).to_be_hidden()
        menu.press("Enter")
        expect(first).to_be_focused()
        page.keyboard.press("Escape")
        expect(first).to_be_hidden()
        expect(menu).to_be_focused()
        menu.click()
        expect(first).to_be_visible()
        expect(menu).to_be_focused()
        assert complaints == []
