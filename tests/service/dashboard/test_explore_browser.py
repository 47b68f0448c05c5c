"""Chart of trials in Chromium."""

from collections.abc import Generator
from pathlib import Path
from typing import Literal

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


_LABELS = """async (width) => {
  const { option } = await import("/static/charts/chart_option.js");
  const { colours } = await import("/static/charts/colours.js");
  const categories = [...Array(13)].map((_, i) => `2026-10-${i + 10}`);
  const x = { name: "", unit: "", scale: "category", column: 0, categories };
  const y = { name: "Trials", unit: "", scale: "linear", column: 1, categories: [], low: 0, high: 1 };
  return option({ kind: "xy", x, y, columns: [] }, [], colours(), width).xAxis.axisLabel.interval + 1;
}"""

_CONTRAST = """async () => {
  const { colours, heat, readable } = await import("/static/charts/colours.js");
  const of = colours();
  const luminance = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map((v) => Number(v) / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  return [...Array(21)].map((_, i) => {
    const [a, b] = [heat(of, i / 20), readable(of, i / 20)].map(luminance);
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  });
}"""


def test_dates_along_an_axis_do_not_touch(browser: Browser, site: tuple[str, Database]) -> None:
    with opened(browser, f"{site[0]}/session") as (page, _):
        steps = {width: page.evaluate(_LABELS, width) for width in (320, 1300)}
    # Ten letters of 7 pixels and a gap of 12, in 13 places of an area of 212 and of 1,172 pixels.
    assert steps == {320: 6, 1300: 1}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_times_on_a_heat_map_are_readable(
    browser: Browser, site: tuple[str, Database], theme: Literal["light", "dark"]
) -> None:
    with opened(browser, f"{site[0]}/session") as (page, _):
        page.emulate_media(color_scheme=theme)
        contrasts = page.evaluate(_CONTRAST)
    assert min(contrasts) >= 4.5
