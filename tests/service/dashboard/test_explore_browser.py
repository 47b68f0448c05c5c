"""Chart of trials in Chromium."""

from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from db.migrate import upgrade
from db.session import Database
from service.app import create_app
from service.settings import Settings
from tests.service import dashboard_rows as rows
from tests.service.dashboard.accessibility import obstacles
from tests.service.dashboard.chromium import opened, served
from tests.service.rest import invented_devices

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[str, Database]]:
    """The service as it is."""
    folder: Path = tmp_path_factory.mktemp("site")
    settings = Settings(data_dir=folder, database_url=f"sqlite:///{folder / 'x.sqlite'}", scheduler=False)
    app = create_app(settings, invented_devices)
    database: Database = app.state.context.database
    upgrade(database.engine)
    with served(app) as address:
        yield address, database


def _seen(page: Page) -> tuple[dict[str, str], list[str], str]:
    """Return the form's values, the legend's entries and the chart's note."""
    expect(page.locator("figure canvas")).to_be_visible()
    fields = {s.get_attribute("name") or "": s.input_value() for s in page.locator("form.filters select").all()}
    return fields, page.locator(".legend li").all_inner_texts(), page.locator(".chart-note").inner_text()


@pytest.mark.slow
def test_a_view_is_made_by_choosing_and_its_address_restores_it(browser: Browser, site: tuple[str, Database]) -> None:
    address, database = site
    with database.write() as session:
        problem = rows.add_problem(session, 96, 160, 224)
        job = rows.add_job(session, problem, rows.add_device(session, "explored"))
        rows.add_history(session, job, rows.add_kernel(session, job, problem).id, 60)
    with opened(browser, f"{address}/jobs/{job.id}") as (page, complaints):
        page.get_by_role("link", name="Other axes, colours and filters").click()
        for name, choice in (("x", "block n"), ("y", "trial"), ("colour", "outcome"), ("where", "block m=128")):
            page.select_option(f"[name={name}] >> visible=true", choice)
        with page.expect_navigation():
            page.get_by_role("button", name="Show").click()
        fields, legend, note = _seen(page)
        assert (fields["x"], fields["y"], fields["colour"]) == ("block n", "trial", "outcome")
        assert "rejected" in " ".join(legend)
        assert "whose block m is 128" in note
        assert obstacles(page) == []
        kept = page.url
        assert complaints == []
    with opened(browser, kept) as (page, complaints):
        assert _seen(page) == (fields, legend, note)
        with page.expect_navigation():
            page.get_by_role("link", name="Remove: block m is 128").click()
        assert "block m" not in _seen(page)[2]
        assert complaints == []
