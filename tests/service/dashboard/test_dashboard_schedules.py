"""Pages of schedules: what they say over a client, and a schedule made in Chromium."""

from collections.abc import Generator
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from playwright.sync_api import Browser, expect

from db.migrate import upgrade
from service.api.schedules.firing import fire_due
from service.app import create_app
from service.http.context import Context
from service.settings import Settings
from tests.service.dashboard.accessibility import obstacles
from tests.service.dashboard.chromium import opened, served
from tests.service.dashboard.test_dashboard_pages import HOSTILE, text_of
from tests.service.rest import BODY, Clock, invented_devices

NIGHTLY = {"name": "nightly", "cron": "30 2 * * mon-fri", "timezone": "Europe/Warsaw", "job": BODY}


def test_without_schedules_the_page_says_how_to_make_one(client: TestClient) -> None:
    assert "xetune schedules create refresh" in client.get("/schedules").text


def test_the_list_tells_what_is_started_and_when(client: TestClient, context: Context, clock: Clock) -> None:
    client.post("/v1/schedules", json=NIGHTLY)
    client.post("/v1/schedules", json=NIGHTLY | {"name": HOSTILE, "cron": "0 13 * * *", "timezone": "UTC"})
    clock.step(hours=1)
    fire_due(context)
    page = client.get("/schedules")
    assert "<script>alert" not in page.text
    text = text_of(page.text)
    assert "tunes 512x384x1024 f16" in text
    assert "Thu 5 March 2026, 02:30 CET" in text
    assert "created" in text


def test_a_long_name_is_cut_in_lists_and_whole_on_its_page(client: TestClient) -> None:
    name = "x" * 200
    made = client.post("/v1/schedules", json=NIGHTLY | {"name": name}).json()
    for path in ("/schedules", "/"):
        html = client.get(path).text
        assert f'title="{name}">{"x" * 57}...</a>' in html
        assert f">{name}<" not in html
    assert f"<h1>{name} " in client.get(f"/schedules/{made['id']}").text
    assert client.post("/v1/schedules", json=NIGHTLY | {"name": f"{name}x"}).status_code == 422


def test_a_schedule_tells_its_next_times_and_its_history(client: TestClient, context: Context, clock: Clock) -> None:
    nights = {"hours": "22:00-06:00", "missed": {"policy": "all", "most": 3}}
    made = client.post("/v1/schedules", json=NIGHTLY | nights).json()
    clock.step(days=1)
    fire_due(context)
    text = text_of(client.get(f"/schedules/{made['id']}").text)
    assert "Fri 6 March 2026, 02:30 CET" in text
    assert "Europe/Warsaw, only 22:00-06:00" in text
    assert "the newest 3 get a run each" in text
    assert "2026-03-05 01:30:00 UTC" in text
    client.post(f"/v1/schedules/{made['id']}/pause")
    assert "nothing comes due until it is resumed" in client.get(f"/schedules/{made['id']}").text
    assert client.get("/schedules/01970a3c-0000-7000-8000-000000000000").status_code == 404


def test_a_preview_has_five_times_over_the_change_of_clocks_or_what_is_wrong(client: TestClient, clock: Clock) -> None:
    clock.step(days=23)  # two days before summer time
    text = text_of(client.get("/schedules/preview?cron=0 4 * * *&timezone=Europe/Warsaw").text)
    assert "Sat 28 March 2026, 04:00 CET" in text
    assert "Sun 29 March 2026, 04:00 CEST" in text
    assert text.startswith(" At 04:00, Europe/Warsaw. Next due times:")
    assert text.count(", 04:00") == 5
    assert "got 2" in client.get("/schedules/preview?cron=1 2").text
    assert "IANA" in client.get("/schedules/preview?cron=1 2 * * *&timezone=Moon").text
    assert "never comes due" in client.get("/schedules/preview?cron=0 0 30 2 *").text
    assert "never comes due" in client.get("/schedules/preview?cron=0 12 * * *&hours=20:00-06:00").text
    assert "20:00-06:00, got &#39;night&#39;" in client.get("/schedules/preview?cron=0 1 * * *&hours=night").text


def test_a_form_says_what_is_stored(client: TestClient) -> None:
    problem = {
        "m": 77,
        "n": 96,
        "k": 160,
        "epilogue": [{"kind": "clip", "value": -1, "high": 6}, {"kind": "add", "ld": 400}],
    }
    made = client.post("/v1/schedules", json=NIGHTLY | {"name": HOSTILE, "job": BODY | {"problem": problem}}).json()
    page = client.get(f"/schedules/{made['id']}/edit")
    assert "<script>alert" not in page.text
    assert 'name="job.problem.m" type="number" min="1" max="16777216" step="1" value="77"' in page.text
    assert 'value="clip=-1..6, add:ld=400"' in page.text
    assert '<option value="b580" selected>' in page.text
    assert client.get("/schedules/none/edit").status_code == 404


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """The service as it is, without a worker."""
    folder: Path = tmp_path_factory.mktemp("schedules")
    settings = Settings(data_dir=folder, database_url=f"sqlite:///{folder / 'x.sqlite'}", scheduler=False)
    app: FastAPI = create_app(settings, invented_devices)
    upgrade(app.state.context.database.engine)
    with served(app) as address:
        yield address


@pytest.mark.browser
@pytest.mark.slow
def test_a_schedule_is_made_paused_run_and_deleted_in_the_browser(browser: Browser, site: str) -> None:
    with opened(browser, f"{site}/schedules", width=400) as (page, complaints):
        form = page.locator("form[data-json='/v1/schedules']")
        expect(form.locator(".preview li")).to_have_count(5)
        form.locator("[name=cron]").fill("0 0 30 2 *")
        expect(form.locator(".preview")).to_contain_text("never comes due")
        form.locator("[name=cron]").fill("15 4 * * *")
        expect(form.locator(".preview li").first).to_contain_text("04:15")
        form.get_by_role("button", name="Create the schedule").click()
        expect(form.locator("[data-wrong]")).to_contain_text("Name:")
        form.locator("[name=name]").fill("refresh")
        form.locator("[data-chooses=work]").select_option("stale")
        expect(form.locator("[name='job.problem.m']")).to_be_hidden()
        form.locator("[name='stale.devices']").fill("b580, opencl-cpu")
        form.locator("[data-chooses=missed]").select_option("all")
        assert obstacles(page) == []
        form.get_by_role("button", name="Create the schedule").click()
        expect(page.locator("h1")).to_contain_text("tunes stale results of b580, opencl-cpu again")
        expect(page.locator("main")).to_contain_text("the newest 3 get a run each")
        page.get_by_role("button", name="Pause refresh").click()
        expect(page.locator(".summary .status")).to_have_text("paused")
        expect(page.get_by_role("button", name="Resume refresh")).to_be_focused()
        page.get_by_role("button", name="Run now: refresh").click()
        expect(page.get_by_role("table")).to_contain_text("nothing to do")
        expect(page.get_by_role("button", name="Run now: refresh")).to_be_focused()
        assert obstacles(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.on("dialog", lambda dialog: dialog.accept())
        page.get_by_role("button", name="Delete").click()
        expect(page.locator("main")).to_contain_text("No schedule yet")
        assert complaints == []


@pytest.mark.browser
@pytest.mark.slow
def test_a_schedule_of_a_set_of_shapes_is_made_in_the_browser(browser: Browser, site: str) -> None:
    with opened(browser, f"{site}/schedules", width=400) as (page, complaints):
        form = page.locator("form[data-json='/v1/schedules']")
        form.locator("[name=name]").fill("layers")
        form.locator("[data-chooses=work]").select_option("shapes")
        expect(form.locator("[name='job.problem.m']")).to_be_hidden()
        form.locator("[name='shapes.text']").fill("m=16")
        form.locator("[name='shapes.device']").select_option("b580")
        assert obstacles(page) == []
        form.get_by_role("button", name="Create the schedule").click()
        expect(form.locator("[data-wrong]")).to_contain_text("line 1")
        expect(form.locator("[name='shapes.text']")).to_have_attribute("aria-invalid", "true")
        form.locator("[data-chooses=from]").select_option("preset")
        form.locator("[name='shapes.preset']").fill("llama-3-8b@tokens=16")
        form.get_by_role("button", name="Create the schedule").click()
        expect(page.locator("h1")).to_contain_text("tunes the layers of llama-3-8b@tokens=16 on b580")
        page.get_by_role("button", name="Run now: layers").click()
        page.get_by_role("link", name="set of shapes", exact=True).click()
        expect(page.locator("h1")).to_contain_text("llama-3-8b@tokens=16")
        page.go_back()
        page.on("dialog", lambda dialog: dialog.accept())
        page.get_by_role("button", name="Delete").click()
        expect(page.locator("main")).to_contain_text("No schedule yet")
        assert [said for said in complaints if "400" not in said] == []  # the refusal was meant
