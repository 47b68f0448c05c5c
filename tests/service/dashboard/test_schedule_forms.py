"""Forms that change schedules keep every field that the user did not edit, to the last digit."""

import json
import re
from collections.abc import Generator, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from playwright.sync_api import Browser, Locator, Page, expect

from db.migrate import upgrade
from service.api.jobs.schemas import JobBody
from service.api.schedules.schemas import StaleBody
from service.api.shapes.schemas import ShapeSetBody
from service.app import create_app
from service.dashboard.forms import hundredths
from service.settings import Settings
from tests.service.dashboard.accessibility import obstacles
from tests.service.dashboard.chromium import opened, served
from tests.service.rest import invented_devices

WHOLE = {
    "problem": {
        "m": 77,
        "n": 96,
        "k": 160,
        "batch": 3,
        "dtype_a": "bf16",
        "dtype_b": "u4",
        "dtype_c": "bf16",
        "transpose_b": True,
        "lda": 192,
        "ldc": 128,
        "batch_stride_b": 0,
        "alignment": 128,
        "deterministic": True,
        "epilogue": [{"kind": "alpha", "value": 0.5}, {"kind": "bias", "axis": "column"}, {"kind": "gelu"}],
        "gate": {"activation": "silu", "interleave": 32},
        "quantization": {"group": 32, "scale": "f32", "zero": 8},
    },
    "device": "b580",
    "budget": {"trials": 33, "seconds": 90.123456789, "no_gain": 12, "roofline": 0.07},
    "seed": 9,
    "search": "nsga2",
    "objective": "time-memory",
    "reuse": False,
    "warm_start": False,
}
SET = {
    "text": "m=1,16 n=4096 k=4096 weight=32\nm=8 n=96 k=160",
    "device": "b580",
    "common": {"dtype_a": "bf16", "dtype_b": "bf16", "transpose_b": True, "epilogue": "bias:column", "gate": "gelu"}
    | {"quant": "w4a16:64:zeros"},
    "budget": {"trials": 60, "seconds": 900, "no_gain": 9},
    "within": 0.123456789,
    "seed": 2**53 - 1,
    "search": "random",
    "objective": "time",
    "reuse": False,
}
GIVEN = {
    "shapes": [{"problem": {"m": 5, "n": 96, "k": 160, "lda": 192}, "weight": 2.5, "name": "qkv"}],
    "device": "b580",
}
TABLE = {"csv": "m,n,k,weight,name\r\n5,96,160,0.1,qkv\r\n", "device": "b580", "within": 0.0}
STALE = {
    "most_jobs": 4,
    "binaries": 6,
    "devices": ["b580", "opencl-cpu"],
    "budget": {"trials": 7, "seconds": 0.05, "no_gain": 7, "roofline": 0.0001234567},
}
BARE = {"problem": {"m": 77, "n": 96, "k": 160}}
WHEN = {"cron": "15 4 * * sat", "timezone": "Europe/Warsaw", "misfire_grace_s": 777}
SCHEDULES = {
    "job": WHEN | {"job": WHOLE},
    "bare": WHEN | {"job": BARE, "missed": {"policy": "once", "most": 7}},
    "shapes": WHEN | {"shapes": SET, "missed": {"policy": "all", "most": 7}},
    "given": WHEN | {"shapes": GIVEN},
    "table": WHEN | {"shapes": TABLE},
    "model": WHEN | {"shapes": {"preset": "llama-3-8b@tokens=16", "target": "b580"}},
    "stale": WHEN | {"hours": "02:00-05:30", "stale": STALE, "missed": {"policy": "once"}},
}


class Form(HTMLParser):
    """The form of a page that sends JSON: its stored value and the names of its fields."""

    stored: str | None = None

    def __init__(self, html: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "form" and "data-json" in given:
            self.stored = given.get("data-stored")
        if tag in ("input", "select", "textarea") and (name := given.get("name")):
            self.names.add(name)


def leaves(schema: dict[str, object], defs: dict[str, object], path: str) -> Iterator[str]:
    """Yield the paths of a request's fields."""
    found = re.search(r"#/\$defs/(\w+Body)", json.dumps({k: v for k, v in schema.items() if k in ("$ref", "anyOf")}))
    if found is None or found[1] in ("QuantizationBody", "EpilogueStepBody"):  # one field has it as text
        yield path
        return
    inner = defs[found[1]]
    assert isinstance(inner, dict)
    for name, of in inner["properties"].items():
        yield from leaves(of, defs, f"{path}.{name}")


def same(found: dict[str, object]) -> dict[str, object]:
    """Return the fields that do not depend on the clock."""
    return {name: value for name, value in found.items() if name != "next_due_at"}


@pytest.mark.parametrize("body", [JobBody, ShapeSetBody, StaleBody])
def test_a_form_has_a_field_for_all_that_can_be_asked_for(client: TestClient, body: type[JobBody]) -> None:
    kind = {JobBody: "job", ShapeSetBody: "shapes", StaleBody: "stale"}[body]
    schema = body.model_json_schema()
    asked = {
        leaf
        for name, of in schema["properties"].items()
        for leaf in leaves(of, schema["$defs"], f"{kind}.{name}")
        if not leaf.startswith("shapes.shapes")  # whole problems have a field where there are any
        and leaf
        not in ("job.problem.dtype", "job.problem.layout", "job.problem.quant")  # stand for others, which have fields
    }
    assert asked - Form(client.get("/schedules").text).names == set()
    alone = {"job": "/", "shapes": "/shapes"}.get(kind)
    if alone is not None:
        assert {leaf.removeprefix(f"{kind}.") for leaf in asked} - Form(client.get(alone).text).names == set()


@pytest.mark.parametrize("name", SCHEDULES)
def test_what_the_form_of_a_schedule_keeps_makes_it_again(client: TestClient, name: str) -> None:
    made = client.post("/v1/schedules", json={"name": ' <a> "b" ', **SCHEDULES[name]}).json()
    form = Form(client.get(f"/schedules/{made['id']}/edit").text)
    assert form.stored is not None
    assert client.put(f"/v1/schedules/{made['id']}", json=json.loads(form.stored)).status_code == 200
    assert same(client.get(f"/v1/schedules/{made['id']}").json()) == same(made)


@pytest.mark.parametrize(
    ("fraction", "said"),
    [
        (0.07, "7"),
        (0.123456789, "12.3456789"),
        (1.0, "100"),
        (0.0, "0"),
        (1.5e-7, "0.000015"),
        (0.1 + 0.2, "30.000000000000004"),
    ],
)
def test_hundredths_have_every_digit(fraction: float, said: str) -> None:
    assert hundredths(fraction) == said
    assert float(f"{said}e-2") == fraction


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """The service as it is, without a worker."""
    folder: Path = tmp_path_factory.mktemp("schedule_forms")
    settings = Settings(data_dir=folder, database_url=f"sqlite:///{folder / 'x.sqlite'}", scheduler=False)
    app: FastAPI = create_app(settings, invented_devices)
    upgrade(app.state.context.database.engine)
    with served(app) as address:
        yield address


def saved(page: Page, where: str) -> None:
    """Save the form that is open, and wait for the page after it."""
    page.get_by_role("button", name="Save").click()
    page.wait_for_url(where)


@pytest.mark.browser
@pytest.mark.slow
def test_a_form_that_is_saved_as_it_is_changes_nothing(browser: Browser, site: str) -> None:
    with httpx.Client(base_url=site) as client, opened(browser, f"{site}/schedules") as (page, complaints):
        for name, body in SCHEDULES.items():
            made = client.post("/v1/schedules", json={"name": name, **body}).raise_for_status().json()
            page.goto(f"{site}/schedules/{made['id']}")
            page.get_by_role("link", name=f"Edit {name}").click()
            expect(page.locator(".preview li").first).to_be_visible()
            assert obstacles(page) == []
            saved(page, f"{site}/schedules/{made['id']}")
            assert same(client.get(f"/v1/schedules/{made['id']}").json()) == same(made)
            client.delete(f"/v1/schedules/{made['id']}")
        assert complaints == []


def fill(field: Locator, value: str | bool) -> None:
    """Set a field of any kind."""
    if isinstance(value, bool):
        field.set_checked(value)
    elif field.evaluate("field => field.tagName") == "SELECT":
        field.select_option(value)
    else:
        field.fill(value)


def change(client: httpx.Client, page: Page, name: str, **to: str | bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """Change fields of a schedule's form; return the schedule before and after. `__` stands for the dot of a name."""
    made = client.post("/v1/schedules", json={"name": name, **SCHEDULES[name]}).raise_for_status().json()
    page.goto(f"{client.base_url}/schedules/{made['id']}/edit")
    for folded in page.locator("fieldset.group:not([disabled]) > details summary").all():
        folded.click()
    for field, value in to.items():
        fill(page.locator(f"[name='{field.replace('__', '.')}']"), value)
    saved(page, f"**/schedules/{made['id']}")
    found = client.get(f"/v1/schedules/{made['id']}").json()
    client.delete(f"/v1/schedules/{made['id']}")
    return made, found


@pytest.mark.browser
@pytest.mark.slow
def test_a_form_changes_what_was_changed_and_no_more(browser: Browser, site: str) -> None:
    with httpx.Client(base_url=site) as client, opened(browser, f"{site}/schedules") as (page, complaints):
        plain = {"job__problem__dtype_b": "", "job__problem__quantization": ""}
        made, found = change(
            client, page, "job", job__problem__dtype_a="f16", job__budget__roofline="12.3456789", **plain
        )
        problem, budget = made["job"]["problem"] | {"dtype_a": "f16", "dtype_b": "f16"}, made["job"]["budget"]
        problem["quantization"] = None
        job = made["job"] | {"problem": problem, "budget": budget | {"roofline": 0.123456789}}
        assert same(found) == same(made | {"job": job})
        made, found = change(client, page, "stale", stale__budget__no_gain="", stale__devices="b580")
        stale = made["stale"] | {"devices": ["b580"], "budget": made["stale"]["budget"] | {"no_gain": None}}
        assert same(found) == same(made | {"stale": stale})
        made, found = change(client, page, "shapes", shapes__reuse=True, shapes__common__batch="3")
        common = made["shapes"]["common"] | {"batch": 3}
        assert same(found) == same(made | {"shapes": made["shapes"] | {"reuse": True, "common": common}})
        assert complaints == []


@pytest.mark.browser
@pytest.mark.slow
def test_of_another_kind_of_work_nothing_of_the_first_stays(browser: Browser, site: str) -> None:
    with httpx.Client(base_url=site) as client, opened(browser, f"{site}/schedules") as (page, complaints):
        made = client.post("/v1/schedules", json={"name": "job", **SCHEDULES["job"]}).raise_for_status().json()
        page.goto(f"{site}/schedules/{made['id']}/edit")
        page.locator("[data-chooses=work]").select_option("stale")
        page.locator("[data-chooses=missed]").select_option("all")
        saved(page, f"{site}/schedules/{made['id']}")
        found = client.get(f"/v1/schedules/{made['id']}").json()
        assert (found["kind"], found["job"], found["stale"]["most_jobs"]) == ("stale", None, 10)
        client.delete(f"/v1/schedules/{made['id']}")  # the other tests use its name
        assert (found["missed"], found["misfire_grace_s"]) == ({"policy": "all", "most": 1}, 777)
        assert complaints == []
