"""Each page fits three widths in both themes, and a phone shows it in less than ten screens."""

from collections.abc import Generator
from pathlib import Path
from typing import Literal

import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import Browser, expect

from db.migrate import upgrade
from service.app import create_app
from service.settings import Settings
from tests.service.dashboard import every_page
from tests.service.dashboard.accessibility import obstacles
from tests.service.dashboard.chromium import opened, served
from tests.service.rest import invented_devices

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SCREEN, MOST_SCREENS = 800, 10


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[str, dict[str, str]]]:
    """A service with rows for every page: its address, and those of the pages."""
    folder: Path = tmp_path_factory.mktemp("site")
    url = f"sqlite:///{folder / 'x.sqlite'}"
    settings = Settings(
        data_dir=folder, database_url=url, scheduler=False, rate_per_s=0, allowed_hosts="127.0.0.1,testserver"
    )
    app = create_app(settings, invented_devices)
    upgrade(app.state.context.database.engine)
    pages = every_page.fill(TestClient(app), app.state.context.database)
    with served(app) as address:
        yield address, pages


@pytest.mark.parametrize(
    ("width", "theme"), [(360, "light"), (360, "dark"), (800, "light"), (800, "dark"), (1400, "light"), (1400, "dark")]
)
def test_every_page_fits(
    browser: Browser, site: tuple[str, dict[str, str]], width: int, theme: Literal["light", "dark"]
) -> None:
    address, pages = site
    wrong: list[str] = []
    with opened(browser, address, width, SCREEN) as (page, complaints):
        page.emulate_media(color_scheme=theme)
        for name, path in pages.items():
            page.goto(address + path)
            for figure in page.locator("figure[data-chart]").all():
                figure.scroll_into_view_if_needed()
                expect(figure.locator(".loading")).to_have_count(0)
            wide, high = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
            if wide > width:
                wrong.append(f"{name}: {wide} px wide")
            if width == 360 and high >= MOST_SCREENS * SCREEN:
                wrong.append(f"{name}: {high / SCREEN:.1f} screens")
            if name != "reference":  # drawn by Swagger UI
                wrong += [f"{name}: {obstacle}" for obstacle in obstacles(page)]
        wrong += [said for said in complaints if "404" not in said]
    assert wrong == []
