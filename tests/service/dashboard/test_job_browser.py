"""The page of a job in a browser: its charts brush together, and it is short on a phone."""

import pytest
from fastapi import FastAPI
from playwright.sync_api import Browser, expect

from db.queries import jobs
from tests.service import dashboard_rows as rows
from tests.service.dashboard.chromium import opened, served
from tests.service.dashboard.test_dashboard_pages import app

__all__ = ["app"]
pytestmark = pytest.mark.browser
_SCREENS, _SCREEN_PX = 10, 800


@pytest.mark.slow
def test_a_selection_in_the_history_filters_the_other_charts(app: FastAPI, browser: Browser) -> None:
    with app.state.context.database.write() as session:
        problem = rows.add_problem(session)
        job = rows.add_job(session, problem, rows.add_device(session))
        rows.add_history(session, job, rows.add_kernel(session, job, problem).id, 60)
        jobs.update_best(session, job.id)
    with served(app) as url, opened(browser, f"{url}/jobs/{job.id}", height=2400) as (page, complaints):
        expect(page.locator("#importance canvas")).to_be_visible()
        expect(page.locator("#history canvas")).to_be_visible()
        box = page.locator("#history .plot").bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + 300, box["y"] + 60)
        page.mouse.down()
        page.mouse.move(box["x"] + 600, box["y"] + 300, steps=4)
        page.mouse.up()
        expect(page.locator(".brush")).to_contain_text("Selected: trial ")
        expect(page.locator("#stages .chart-note")).to_contain_text("selected trials")
        assert "where=trial" in (page.locator("#importance [data-table]").get_attribute("href") or "")
        page.locator(".brush button").click()
        expect(page.locator(".brush")).to_be_hidden()
        expect(page.locator("#stages .chart-note")).not_to_contain_text("selected")
        page.set_viewport_size({"width": 360, "height": _SCREEN_PX})
        for name in ("history", "failures", "importance", "heat", "stages", "parallel"):
            page.locator(f"#{name}").scroll_into_view_if_needed()
        assert page.evaluate("document.documentElement.scrollHeight") < _SCREENS * _SCREEN_PX
        assert page.evaluate("document.documentElement.scrollWidth") == 360
        assert complaints == []
