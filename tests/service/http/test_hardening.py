"""Regressions found by attacks on the service: each attack and its answer."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from db.errors import DatabaseUnavailable
from db.session import open_database
from hal import find
from service.api.compile.work import (
    ModuleWork,
    run,
)
from service.api.exchange.hardware import difference
from service.api.kernels.ranges import (
    Part,
    parts_of,
)
from service.app import create_app
from service.http.context import Context
from service.settings import Settings
from tests.service.api.keys.test_keys import bearer, make_key
from tests.service.rest import invented_devices
from tests.tuner.exchange.lines import results, text_of
from tests.tuner.fakes import cpu_spec

EARLY, LATE = "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"
MOMENTS: list[Callable[[TestClient, str], Any]] = [
    lambda client, moment: client.get("/v1/jobs", params={"created_from": moment}),
    lambda client, moment: client.get("/v1/jobs", params={"created_before": moment}),
    lambda client, moment: client.post("/v1/keys", json={"name": "x", "scope": "read", "expires_at": moment}),
]


@pytest.mark.parametrize("moment", [EARLY, LATE])
@pytest.mark.parametrize("ask", MOMENTS)
def test_a_moment_that_has_no_utc_is_malformed(
    client: TestClient, ask: Callable[[TestClient, str], Any], moment: str
) -> None:
    answer = ask(client, moment)
    assert answer.status_code == 422, answer.text
    assert "years 1 to 9999" in answer.json()["detail"]


@pytest.mark.parametrize("header", ["Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "Via"])
def test_the_open_service_does_not_answer_what_a_proxy_passes_on(client: TestClient, header: str) -> None:
    lookup = "/v1/kernels?m=512&n=384&k=1024&device=b580"
    assert client.get(lookup).status_code == 200  # and is kept in memory, for those who ask here
    for answer in (
        client.get(lookup, headers={header: "203.0.113.7"}),
        client.get("/v1/jobs", headers={header: "203.0.113.7"}),
        client.post("/v1/keys", json={"name": "evil", "scope": "admin"}, headers={header: "203.0.113.7"}),
    ):
        assert (answer.status_code, answer.json()["rule"]) == (401, "key-missing"), answer.text
    assert client.get("/healthz", headers={header: "203.0.113.7"}).status_code == 200
    assert client.get(lookup).status_code == 200


def test_a_key_opens_it_to_what_a_proxy_passes_on(client: TestClient, context: Context) -> None:
    key = make_key(context)
    passed_on = {"X-Forwarded-For": "203.0.113.7"} | bearer(key)
    assert client.get("/v1/jobs", headers=passed_on).status_code == 200


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        *((name, "reserved-name") for name in ("local", "command line", "schedule")),
        *((name, "name") for name in (" ", " ana", "a\u202eb", "a\u200bb", "a\x7fb")),
    ],
)
def test_no_key_has_the_name_of_another_actor_or_one_that_cannot_be_seen(
    client: TestClient, name: str, rule: str
) -> None:
    answer = client.post("/v1/keys", json={"name": name, "scope": "read"})
    assert (answer.status_code, answer.json()["rule"]) == (400, rule)


def changed(record: str, **values: object) -> bytes:
    """Return an import in which every record of a kind is changed."""
    made: list[str] = []
    for line in text_of(results()).splitlines():
        said = json.loads(line)
        if said["record"] == record:
            said |= values
        made.append(json.dumps(said))
    return "\n".join(made).encode()


@pytest.mark.parametrize("best", [10**25, -1, 2**31])
def test_an_imported_number_that_no_column_holds_is_refused(client: TestClient, best: int) -> None:
    answer = client.post("/v1/imports", content=changed("job", best=best))
    assert (answer.status_code, answer.json()["rule"]) == (400, "import"), answer.text
    assert "best: expected 0 to" in answer.json()["detail"]


@pytest.mark.parametrize("value", [-1, 10**25, True])
def test_a_kernel_that_asks_for_impossible_memory_is_refused(client: TestClient, value: object) -> None:
    made: list[str] = []
    for line in text_of(results()).splitlines():
        said = json.loads(line)
        if said["record"] == "kernel":
            said["manifest"]["workspace_bytes"] = value
        made.append(json.dumps(said))
    answer = client.post("/v1/imports", content="\n".join(made))
    assert (answer.status_code, answer.json()["rule"]) == (400, "import"), answer.text


@pytest.mark.parametrize("value", [-1, 10**25])
def test_a_device_with_impossible_facts_is_refused(client: TestClient, value: int) -> None:
    made: list[str] = []
    for line in text_of(results()).splitlines():
        said = json.loads(line)
        if said["record"] == "device":
            said["spec"]["l1_bytes"] = value
        made.append(json.dumps(said))
    answer = client.post("/v1/imports", content="\n".join(made))
    assert (answer.status_code, "l1_bytes: expected 0 to" in answer.text) == (400, True), answer.text


def test_a_cpu_of_the_same_name_with_other_caches_is_another_one() -> None:
    here = cpu_spec()
    assert here.l2_bytes is not None
    there = replace(here, l2_bytes=2 * here.l2_bytes)
    assert difference(there, here) == (f"l2_bytes {2 * here.l2_bytes}", f"l2_bytes {here.l2_bytes}")
    assert difference(here, here) is None


def test_a_number_of_too_many_digits_in_a_text_is_told_as_a_fault_of_the_text() -> None:
    found = run(ModuleWork("module attributes {a = " + "1" * 100_000 + "} {}", find("b580")))
    failed = cast("dict[str, str]", found["failed"])
    assert failed["stage"] == "source"
    assert "expected numbers of at most 4300 digits, got a longer one\n" in failed["message"]
    assert len(failed["message"]) < 1_000


def test_a_database_whose_port_is_no_number_is_refused_without_its_password() -> None:
    with pytest.raises(DatabaseUnavailable, match="cannot be read") as refusal:
        open_database("postgresql+psycopg://u:secret@h:port/x")
    assert "secret" not in str(refusal.value)


def test_a_range_that_ends_far_beyond_the_file_is_its_rest() -> None:
    assert parts_of("bytes=5-" + "9" * 30, 10) == [Part(5, 9)]
    assert parts_of("bytes=-" + "9" * 1000, 10) == [Part(0, 9)]
    assert parts_of("bytes=" + "9" * 30 + "-", 10) == []
    assert parts_of("bytes=0-" + "9" * 5000, 10) is None


@pytest.mark.parametrize("path", ["/v1/jobs/", "/jobs/", "/healthz/"])
def test_an_address_with_a_slash_too_many_is_nowhere(client: TestClient, path: str) -> None:
    for answer in (client.get(path, follow_redirects=False), client.post(path, follow_redirects=False)):
        assert (answer.status_code, answer.json()["rule"]) == (404, "not-found")
        assert "location" not in answer.headers


def _posts(app: FastAPI) -> list[str]:
    """Return the paths without parameters that take one JSON document."""
    contract = app.openapi()["paths"]
    takes = "application/json"
    return [
        path
        for path, of in contract.items()
        if "{" not in path
        and path != "/v1/imports"
        and takes in of.get("post", {}).get("requestBody", {}).get("content", {})
    ]


@pytest.mark.parametrize(
    ("value", "rule"),
    [("[" * 1500 + "]" * 1500, "json-nesting"), ("7" * 4000, None), ("7" * 4301, "json-number")],
    ids=["nested", "long number", "longer number"],
)
def test_deep_json_and_long_numbers_are_refused_wherever_json_is_taken(
    settings: Settings, value: str, rule: str | None
) -> None:
    app = create_app(settings.model_copy(update={"max_body_bytes": 10_000}), invented_devices)
    client = TestClient(app)
    paths = _posts(app)
    assert len(paths) > 8
    for path in paths:
        for body in (f'{{"problems": [{value}], "problem": {{"m": {value}}}}}', value):
            answer = client.post(path, content=body, headers={"Content-Type": "application/json"})
            assert answer.status_code in (400, 422), (path, answer.text)
            assert rule is None or answer.json()["rule"] == rule, (path, answer.text)
    app.state.context.database.close()
