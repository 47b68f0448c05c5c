"""Pages of sets of shapes: what they say over a client, and a set made in Chromium."""

import csv
from collections.abc import Generator
from pathlib import Path
from uuid import UUID

import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import Browser, expect
from sqlalchemy import select

from db.migrate import upgrade
from db.queries import jobs
from db.schema.shape_set import ShapeSetCell, ShapeSetKernel, ShapeSetMember
from service.app import create_app
from service.http.context import Context
from service.settings import Settings
from tests.service import dashboard_rows as rows
from tests.service.dashboard.accessibility import obstacles
from tests.service.dashboard.chromium import opened, served
from tests.service.dashboard.test_dashboard_pages import HOSTILE, text_of
from tests.service.rest import invented_devices

BODY = {"csv": "m,n,k,weight,name\n16,96,64,3,qkv\n32,160,64,1,=down\n", "device": "b580"}


def test_without_sets_the_page_says_how_to_make_one(client: TestClient) -> None:
    assert "xetune tune --shapes" in client.get("/shapes").text


def test_a_set_tells_each_shape_with_its_evidence(client: TestClient, context: Context) -> None:
    made = client.post("/v1/shape-sets", json=BODY).json()
    with context.database.write() as session:
        job = jobs.get(session, UUID(made["shapes"][0]["job_id"]))
        assert job is not None
        rows.add_predicted(session, job, 0, 200.0)
        job.best_trial_id = rows.add_predicted(session, job, 1, 80.0).id
    assert f">{made['id'][:13]}<" in client.get("/shapes").text
    page = client.get(f"/shapes/{made['id']}").text
    text = text_of(page)
    assert "2.50x" in text
    assert "by the model" in text
    assert "waits for a worker" in text
    assert "Trials 2 of 50 Time" in text
    seen = page.split("seen=")[1].split('"')[0]
    assert client.get(f"/shapes/{made['id']}/live?seen={seen}").status_code == 204
    chart = client.get(f"/shapes/{made['id']}/charts/gains").json()
    assert [(s["evidence"], s["rows"][0][:4]) for s in chart["series"]] == [("predicted", [1, 2.5, 200.0, 80.0])]
    first, second = csv.DictReader(client.get(f"/shapes/{made['id']}/shapes.csv").text.splitlines())
    assert (first["gain"], first["time_evidence"], first["m"]) == ("2.5", "predicted", "16")
    assert (second["name"], second["gain"]) == ("'=down", "")
    with context.database.write() as session:
        rows.add_predicted(session, job, 2, 90.0).proposer = "other shape"
    text = text_of(client.get(f"/shapes/{made['id']}").text)
    assert "Trials 2 of 50 and 1 of other shapes' kernels, beyond the budget Time" in text
    assert client.get("/shapes/01970a3c-0000-7000-8000-000000000000").status_code == 404


def test_the_fewest_kernels_lead_to_their_binaries_and_the_others_are_held_against_them(
    client: TestClient, context: Context
) -> None:
    made = client.post("/v1/shape-sets", json=BODY).json()
    with context.database.write() as session:
        members = session.scalars(select(ShapeSetMember).order_by(ShapeSetMember.position)).all()
        found = [jobs.get(session, member.job_id) for member in members]
        stored = [rows.add_kernel(session, job, job.problem) for job in found if job is not None]
        for position, times in enumerate(((100.0, 200.0), (150.0, None))):
            kernel = ShapeSetKernel(
                set_id=UUID(made["id"]), position=position, member_id=members[0].id, config=rows.config(position)
            )
            session.add(kernel)
            session.flush()
            for member, of, time_us in zip(members, stored, times, strict=True):
                known = (
                    {"evidence": "predicted"} if time_us else {"evidence": "none", "reason": "rule registers: too many"}
                )
                cell = ShapeSetCell(kernel_id=kernel.id, member_id=member.id, time_us=time_us, **known)
                cell.content_hash = of.content_hash if position == 0 else None
                session.add(cell)
    page = client.get(f"/shapes/{made['id']}").text
    text = text_of(page)
    assert "1 of 2 kernels keeps each shape" in text
    fewest = page[page.index('id="kernels-title"') : page.index('id="matrix-title"')]
    assert [fewest.count(f'href="/kernels/{kernel.id}"') for kernel in stored] == [1, 1]
    matrix = text_of(page[page.index('id="matrix-title"') :])
    assert "1.00x 100.0 µs predicted 1.50x 150.0 µs predicted" in matrix
    assert "1.00x 200.0 µs predicted none" in matrix
    assert 'title="rule registers: too many"' in page


def test_names_of_shapes_are_text(client: TestClient) -> None:
    shape = {"problem": {"m": 16, "n": 96, "k": 64}, "name": HOSTILE}
    made = client.post("/v1/shape-sets", json={"shapes": [shape], "device": "b580"}).json()
    assert "<script>alert" not in client.get(f"/shapes/{made['id']}").text


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """The service as it is, without a worker."""
    folder: Path = tmp_path_factory.mktemp("shapes")
    settings = Settings(data_dir=folder, database_url=f"sqlite:///{folder / 'x.sqlite'}", scheduler=False)
    app = create_app(settings, invented_devices)
    upgrade(app.state.context.database.engine)
    with served(app) as address:
        yield address


@pytest.mark.browser
@pytest.mark.slow
def test_a_set_is_made_and_cancelled_in_the_browser(browser: Browser, site: str) -> None:
    with opened(browser, f"{site}/shapes", width=400) as (page, complaints):
        page.locator("[data-chooses=from]").select_option("csv")
        page.locator("[name=csv]").fill("m,n,k,weight\n16,96,64,3\n32,160,64,1\n")
        page.locator("[name=device]").select_option("b580")
        assert obstacles(page) == []
        page.get_by_role("button", name="Tune the set").click()
        expect(page.locator("h1")).to_contain_text("2 shapes on b580")
        expect(page.locator("#gains .plot, #gains .empty").first).to_be_visible()
        assert obstacles(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.on("dialog", lambda dialog: dialog.accept())
        page.get_by_role("button", name="Cancel").click()
        expect(page.locator("#set .summary .status").first).to_have_text("cancelled")
        assert complaints == []
