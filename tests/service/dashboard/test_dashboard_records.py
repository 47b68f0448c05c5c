"""Pages of records of other tuners."""

from pathlib import Path

import httpx
import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import Browser, expect

from db.migrate import upgrade
from service.app import create_app
from service.settings import Settings
from tests.service.api.records.test_records import RECORD, store
from tests.service.dashboard.accessibility import obstacles
from tests.service.dashboard.chromium import opened, served
from tests.service.dashboard.test_dashboard_pages import HOSTILE, text_of
from tests.service.rest import invented_devices


def test_without_records_the_page_says_how_to_store_one(client: TestClient) -> None:
    assert "xetune records push triton" in client.get("/records").text


def test_records_are_listed_and_filtered(client: TestClient) -> None:
    first, second = store(
        client, {}, {"kernel": "other", "device": {"pci_id": "E20B"}, "time_us": None, "versions": {}}
    )
    page = client.get("/records").text
    assert page.index(second[:13]) < page.index(first[-12:])
    text = text_of(page)
    for said in ("b60", "25.18.33578.15", "triton 3.8.0", "41.50 µs", '"BLOCK_M": 64', "b580", "not stated"):
        assert said in text
    for address, found, left_out in (
        ("/records?kernel=other", second, first),
        ("/records?device=Intel(R) Arc(TM) Pro B60 Graphics", first, second),
        ("/records?tuner=helion", None, first),
    ):
        page = client.get(address).text
        assert found is None or found in page
        assert left_out not in page
        assert 'href="/records">All records' in page
    assert "before (in the address): expected an id of this list" in client.get("/records?before=x").text


def test_a_record_is_shown_with_its_history_and_its_times_are_called_stated(client: TestClient) -> None:
    times = {"p10_us": 40.0, "p90_us": 43.0, "samples": 30, "origin": HOSTILE, "document": {"key": [512, HOSTILE]}}
    old, new = store(client, {}, times | {"config": {"BLOCK_M": 32}})
    page = client.get(f"/records/{new}")
    assert HOSTILE not in page.text
    text = text_of(page.text)
    for said in ("matmul by triton on b60", "PCI id 8086:E211", "not measured or verified here", "30 samples"):
        assert said in text
    assert f'href="/records/{old}"' in page.text
    assert client.get("/records/none").status_code == 404
    assert client.get(f"/records/{old[:-1]}0").status_code in (200, 404)


@pytest.mark.browser
@pytest.mark.slow
def test_a_record_is_deleted_in_the_browser(tmp_path: Path, browser: Browser) -> None:
    settings = Settings(data_dir=tmp_path, database_url=f"sqlite:///{tmp_path / 'x.sqlite'}", scheduler=False)
    app = create_app(settings, invented_devices)
    upgrade(app.state.context.database.engine)
    with served(app) as url, opened(browser, f"{url}/records", width=400) as (page, complaints):
        answer = httpx.post(f"{url}/v1/records", json={"records": [RECORD]}).json()
        page.reload()
        assert obstacles(page) == []
        page.get_by_role("link", name=answer["records"][0]["id"][:13]).click()
        expect(page.locator("h1")).to_contain_text(RECORD["kernel"])
        assert obstacles(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.on("dialog", lambda dialog: dialog.accept())
        page.get_by_role("button", name="Delete").click()
        expect(page.locator("main")).to_contain_text("No record yet")
        assert complaints == []
