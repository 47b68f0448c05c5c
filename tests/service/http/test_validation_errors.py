"""Every fault in the form of a request has a rule of a closed list, its place, and what came."""

import json
import re
import time
from pathlib import Path
from typing import get_args

import pytest
from fastapi.testclient import TestClient
from pydantic_core.core_schema import ErrorType

from service.http.repeated_fields import repeated_in_body
from service.http.validation_errors import (
    FaultRule,
    rule_of,
)
from service.settings import Settings
from tests.service.contract import contract
from tests.service.http.test_limits import client_of
from tests.service.rest import BODY, PROBLEM, Clock

MANUAL = Path(__file__).parents[3] / "docs" / "service.md"


def test_the_manual_lists_the_rules() -> None:
    text = MANUAL.read_text()
    section = text[text.index("## Malformed requests") :].split("\n## ")[0]
    assert re.findall(r"^\| `([a-z-]+)` \(422\)", section, re.M) == [rule.value for rule in FaultRule]


def test_every_kind_of_fault_has_a_rule_and_every_rule_a_kind() -> None:
    kinds = (*get_args(ErrorType), "repeated_field")
    assert {rule_of(kind) for kind in kinds} == set(FaultRule)
    assert rule_of("string_too_long") is rule_of("too_long") is FaultRule.TOO_LONG
    assert rule_of("value_error") is rule_of("of_a_later_version") is FaultRule.VALUE


def test_a_fault_is_told_with_its_rule_and_what_came(client: TestClient) -> None:
    answer = client.post("/v1/jobs", json=BODY | {"seed": True, "colour": 1}).json()
    assert (answer["type"], answer["rule"]) == ("urn:xetune:problem:malformed", "not-an-integer")
    assert answer["errors"] == [
        {"field": "seed", "message": "expected an integer, got True", "rule": "not-an-integer"},
        {
            "field": "colour",
            "message": "unknown field; expected budget, device, objective, problem, reuse, search, seed, target, "
            "warm_start",
            "rule": "unknown-field",
        },
    ]
    few = client.get("/v1/jobs?limit=0").json()
    assert few["rule"] == "too-small"
    assert "expected at least 1, got '0'" in few["detail"]


@pytest.mark.parametrize(("device", "fields"), [(3, {"device"}), ([3], {"device", "device.0"}), ({}, {"device"})])
def test_the_place_of_a_fault_is_that_in_the_body(client: TestClient, device: object, fields: set[str]) -> None:
    body = {"problems": [{"m": 64, "n": 96, "k": 128}], "device": device}
    answer = client.post("/v1/kernels/lookup/batch", json=body).json()
    assert {error["field"] for error in answer["errors"]} == fields


@pytest.mark.parametrize(
    ("body", "field", "message"),
    [
        (
            {"m": 512, "n": 384, "k": 1024},
            "problem",
            'm, n, k belong in it: {"problem": {"m": ..., "n": ..., "k": ...}}',
        ),
        (BODY | {"trials": 5}, "budget", 'trials belongs in it: {"budget": {"trials": ...}}'),
        (BODY | {"sead": 5}, "sead", "unknown field; did you mean seed?"),
        (BODY | {"budget": {"trails": 5}}, "budget.trails", "unknown field; did you mean trials?"),
    ],
)
def test_a_field_in_a_wrong_place_is_told_where_it_belongs(
    client: TestClient, body: dict[str, object], field: str, message: str
) -> None:
    answer = client.post("/v1/jobs", json=body)
    assert answer.status_code == 422
    assert answer.json()["errors"] == [{"field": field, "message": message, "rule": "unknown-field"}]
    assert answer.json()["detail"] == f"the request is malformed: {field}: {message}"


def test_a_query_is_told_its_nearest_field_and_a_path_what_an_id_is(client: TestClient) -> None:
    query = client.get("/v1/kernels?m=5&n=6&k=7&dtyp=f16").json()
    assert query["detail"] == "the request is malformed: dtyp: unknown field; did you mean dtype?"
    path = client.get("/v1/jobs/01a21f1f-afc6").json()
    assert path["detail"] == "the request is malformed: job_id: expected a whole id, a UUID, got '01a21f1f-afc6'"


@pytest.mark.parametrize("came", ["x" * 2_000, ["y" * 200] * 9, {"k" * 90: {"z": "v" * 90}}])
def test_what_came_is_cut(client: TestClient, came: object) -> None:
    answer = client.post("/v1/jobs", json=BODY | {"seed": came}).json()
    assert answer["rule"] == "not-an-integer"
    shown = answer["errors"][0]["message"].partition(", got ")[2]
    assert 40 <= len(shown) <= 80
    moment = {"name": "x", "scope": "read", "expires_at": "x" * 2_000}
    refused = client.post("/v1/keys", json=moment)
    assert refused.json()["rule"] == "not-a-moment"
    assert len(refused.content) < 1000


@pytest.mark.parametrize(
    ("text", "place", "words", "came"),
    [
        ("{", "line 1, column 2", "Expecting property name enclosed in double quotes", "the end"),
        ('{"problem":\n  {"m": 5,, "n": 6}}', "line 2, column 11", "Expecting property name", "', \"n\": 6}}'"),
        ('{"device": "a\tb"}', "line 1, column 14", "Invalid control character", "'\\tb\"}'"),
    ],
)
def test_a_text_that_is_no_json_is_told_with_its_place(
    client: TestClient, text: str, place: str, words: str, came: str
) -> None:
    answer = client.post("/v1/jobs", content=text, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["rule"]) == (422, "json")
    (fault,) = answer.json()["errors"]
    assert fault["field"] == "body"
    for part in (f"not JSON at {place}: {words}", f", got {came}"):
        assert part in fault["message"]


def test_many_levels_and_other_encodings_are_refused_by_name(settings: Settings, clock: Clock) -> None:
    client = client_of(settings, clock, max_body_bytes=2**20)
    headers = {"Content-Type": "application/json"}
    deep = client.post("/v1/jobs", content=b"[" * 200_000, headers=headers)
    assert (deep.status_code, deep.json()["rule"]) == (400, "json-nesting"), deep.text
    latin = client.post("/v1/jobs", content=b'{"device": "\xe9"}', headers=headers)
    assert (latin.status_code, latin.json()["rule"]) == (400, "json-encoding"), latin.text


def test_lists_that_are_too_short_and_texts_of_another_form_are_told_in_own_words(client: TestClient) -> None:
    empty = client.post("/v1/kernels/lookup/batch", json={"problems": [], "device": "b580"}).json()
    assert empty["errors"][0]["message"] == "expected a list of at least 1, got []"
    odd = client.get("/v1/jobs", params={"quantization": "A B"}).json()
    assert odd["errors"][0]["message"] == "expected a text that matches ^[a-z0-9:=-]*$, got 'A B'"


def test_every_operation_refuses_unknown_parameters(client: TestClient) -> None:
    paths = {path: operations for path, operations in contract()["paths"].items() if path.startswith("/v1/")}
    assert len(paths) > 30
    for path, operations in paths.items():
        for method in set(operations) - {"head"}:  # whose answer has no body
            answer = client.request(method, _at(path), params={"devise": "b580"}, json={})
            rules = {error["field"]: error["rule"] for error in answer.json()["errors"]}
            assert (answer.status_code, rules["devise"]) == (422, "unknown-field"), (method, path)


def _at(path: str) -> str:
    named = path.replace("{language}", "cpp").replace("{sha256}", "0" * 64)
    return re.sub(r"{\w+}", "01970a3c-0000-7000-8000-000000000000", named)


def test_an_unknown_parameter_is_told_with_the_nearest_name(client: TestClient) -> None:
    told = client.get("/v1/records?devise=b580&devise=b570").json()
    assert told["errors"] == [
        {"field": "devise", "message": "unknown field; did you mean device?", "rule": "unknown-field"}
    ]
    assert client.get("/v1/keys?limit=5").json()["errors"][0]["message"] == "unknown field"
    told = client.get("/v1/jobs?devise=b580&devise=b570&limit=0").json()  # whose query is a model
    assert [(error["field"], error["rule"]) for error in told["errors"]] == [
        ("limit", "too-small"),
        ("devise", "unknown-field"),
    ]


def test_an_integer_of_too_many_digits_is_told_how_many_it_may_have(client: TestClient) -> None:
    for path in ("/v1/kernels/stored", "/v1/records"):
        told = client.get(path, params={"limit": "9" * 4301}).json()
        assert told["rule"] == "too-large"
        assert told["errors"][0]["message"].startswith("expected an integer of at most 4300 digits, got '999")


def test_what_is_given_twice_is_refused(client: TestClient) -> None:
    told = client.get("/v1/kernels?m=64&m=65&n=96&k=128&device=b580").json()
    assert told["errors"] == [
        {"field": "m", "message": "expected once in a query, got ['64', '65']", "rule": "repeated-field"}
    ]
    assert client.get("/v1/jobs?limit=5&limit=6").json()["rule"] == "repeated-field"
    text = json.dumps(BODY).replace('"problem": {', '"problem": {"m": 64, ')
    told = client.post("/v1/jobs", content=text, headers={"Content-Type": "application/json"}).json()
    assert told["errors"] == [
        {
            "field": "problem.m",
            "message": f"expected once in an object, got [64, {PROBLEM['m']}]",
            "rule": "repeated-field",
        }
    ]
    assert client.get("/v1/jobs").json()["jobs"] == []


def test_many_values_that_are_given_twice_are_found_at_once() -> None:
    text = "{" + ",".join(f'"k{number}": 1, "k{number}": 2' for number in range(20_000)) + "}"
    begun_s = time.process_time()
    found = list(repeated_in_body(text.encode()))
    assert (len(found), found[7]["loc"], found[7]["input"]) == (20_000, ("body", "k7"), [1, 2])
    assert time.process_time() - begun_s < 2


def test_a_field_that_is_given_twice_is_told_with_its_path() -> None:
    text = '{"a": [{}, {"b": 1, "b": {"c": 2, "c": 3}}], "a": [[{"d": 1, "d": 1}]], "é": {"f": 1}}'
    found = list(repeated_in_body(text.encode()))
    assert [fault["loc"] for fault in found] == [
        ("body", "a"),
        ("body", "a", 1, "b"),
        ("body", "a", 1, "b", "c"),
        ("body", "a", 0, 0, "d"),
    ]
    assert list(repeated_in_body(b'{"a": 1, "a": 2')) == []


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/v1/kernels/lookup/batch", {"problems": [PROBLEM], "device": "\ud83d"}, "device"),
        ("/v1/kernels/lookup/batch", {"problems": [PROBLEM | {"gate": "x\udc00"}]}, "problems.0.gate"),
        ("/v1/jobs", BODY | {"\ud800": 1}, "body"),
    ],
)
def test_half_of_a_surrogate_pair_is_refused(client: TestClient, path: str, body: object, field: str) -> None:
    told = client.post(path, content=json.dumps(body), headers={"Content-Type": "application/json"})
    assert (told.status_code, told.json()["rule"]) == (422, "not-a-text"), told.text
    (fault,) = told.json()["errors"]
    assert fault["field"] == field
    assert fault["message"].startswith("expected Unicode text, without half of a surrogate pair, got '")
    whole = {"problems": [PROBLEM], "device": "\U0001f4a5"}
    taken = client.post("/v1/kernels/lookup/batch", content=json.dumps(whole), headers=told.request.headers)
    assert taken.json()["rule"] == "unknown-device"


def test_repeated_fields_are_found_at_every_depth() -> None:
    depth = 200
    text = '{"x": [' * depth + '{"y": 1, "y": 2}' + "]}" * depth
    ((*place, name),) = [fault["loc"] for fault in repeated_in_body(text.encode())]
    assert (place, name) == (["body", *["x", 0] * depth], "y")


def test_a_list_is_sent_as_one_value_after_another(client: TestClient) -> None:
    asked = {"tuner": "triton", "kernel": "matmul", "problem": "{}", "device": "b580"}
    told = client.get("/v1/records/lookup", params=asked | {"version": ["triton=3.9", "torch=2.13"]})
    assert told.status_code == 404, told.text
