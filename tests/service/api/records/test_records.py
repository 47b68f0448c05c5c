"""Records: what other tuners found, stored and looked up by device, driver and versions."""

import json
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from jsonschema import Draft202012Validator

from service.api.records.json_schema import record_schema_text
from service.http.context import Context
from tests.service.rest import Clock

RECORD: dict[str, Any] = {
    "tuner": "triton",
    "kernel": "matmul",
    "problem": {"M": 512, "N": 384, "K": 1024},
    "device": {
        "pci_id": "8086:E211",
        "name": "Intel(R) Arc(TM) Pro B60 Graphics",
        "driver": "25.18.33578.15",
    },
    "versions": {"triton": "3.8.0"},
    "config": {"BLOCK_M": 64, "num_warps": 8},
    "time_us": 41.5,
}


def store(client: TestClient, *changes: dict[str, Any], status: int = 201) -> list[str]:
    """Store records that differ from RECORD, and return their ids."""
    answer = client.post("/v1/records", json={"records": [RECORD | each for each in changes or ({},)]})
    assert answer.status_code == status, answer.text
    return [each["id"] for each in answer.json()["records"]]


def look_up(client: TestClient, status: int = 200, **changes: str | list[str]) -> dict[str, Any]:
    """Look RECORD up, with other parameters."""
    asked = {"tuner": "triton", "kernel": "matmul", "problem": json.dumps(RECORD["problem"]), "device": "8086:e211"}
    answer = client.get("/v1/records/lookup", params=asked | changes)
    assert answer.status_code == status, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_a_record_is_found_by_its_problem_and_device(client: TestClient) -> None:
    (stored,) = store(client)
    found = look_up(client, driver="1.6.33578+15", version=["triton=3.8.0", "torch=2.15.0"])
    assert (found["source"], found["stale"], found["others"]) == ("exact", [], 0)
    record = found["record"]
    assert record["id"] == stored
    assert record["device"] == "b60"
    assert record["config"] == RECORD["config"]
    assert record["time_us"] == 41.5
    assert client.get(f"/v1/records/{stored}").json() == record
    look_up(client, 404, kernel="matmul_2")
    look_up(client, 404, tuner="other")
    look_up(client, 404, problem=json.dumps({"M": 384, "N": 512, "K": 1024}))
    assert look_up(client, 404, device="8086:E212")["rule"] == "no-record"


def test_the_order_of_the_fields_of_a_problem_does_not_matter(client: TestClient) -> None:
    store(client)
    look_up(client, problem='{"K": 1024, "M": 512,  "N": 384}')


@pytest.mark.parametrize(
    ("stated", "asked"),
    [
        ({"pci_id": "e211"}, "Intel(R) Arc(TM) Pro B60 Graphics"),
        ({"name": "Intel(R)_Arc(TM)_Pro_B60_Graphics"}, "b60"),
        ({"name": "Intel(R) Graphics [0xe211]"}, "0xE211"),
        ({"pci_id": "8086:e211", "name": "Intel(R) Graphics [0xe20b]"}, "8086:E211"),  # the name is not used
        ({"pci_id": "0xE20B"}, "8086:e209"),  # two ids of one product
        ({"pci_id": "10de:2330", "name": "NVIDIA H100"}, "10DE:2330"),
        ({"name": "NVIDIA_H100_80GB_HBM3"}, "nvidia h100 80gb hbm3"),
    ],
)
def test_a_device_is_the_same_under_each_of_its_names(client: TestClient, stated: dict[str, str], asked: str) -> None:
    store(client, {"device": stated})
    look_up(client, device=asked)


@pytest.mark.parametrize(
    ("stated", "asked"),
    [
        ({"pci_id": "8086:E202"}, "8086:E20D"),  # one row of the table, several products
        ({"pci_id": "10de:E211"}, "b60"),
        ({"name": "Intel(R) Arc(TM) Pro B60 Graphics"}, "b50"),
    ],
)
def test_other_devices_are_told_apart(client: TestClient, stated: dict[str, str], asked: str) -> None:
    store(client, {"device": stated})
    look_up(client, 404, device=asked)


def test_a_lookup_says_what_has_changed_since(client: TestClient) -> None:
    store(client)
    found = look_up(client, driver="25.20.34000.1", version="triton=3.9.0")
    assert found["source"] == "stale"
    assert found["stale"] == ["driver 25.18.33578.15 then, 25.20.34000.1 now", "triton 3.8.0 then, 3.9.0 now"]
    now = {"device": {"pci_id": "E211", "driver": "25.20.34000.1"}}
    store(client, now | {"config": {"BLOCK_M": 32}, "time_us": 50.0})
    found = look_up(client, driver="25.20.34000.1", version="triton=3.9.0")
    assert found["stale"] == ["triton 3.8.0 then, 3.9.0 now"]
    assert found["record"]["config"] == {"BLOCK_M": 32}  # the nearer one, although slower
    assert found["others"] == 1


def test_the_driver_of_a_device_in_this_machine_is_compared(client: TestClient) -> None:
    store(client, {"device": {"name": "opencl-cpu", "driver": "2026.1"}})
    assert look_up(client, device="opencl-cpu")["stale"] == ["driver 2026.1 then, 2026.2 now"]
    assert look_up(client, device="opencl-cpu", driver="2026.1")["source"] == "exact"


def test_the_fastest_is_found_and_a_new_time_replaces_the_old_one(client: TestClient) -> None:
    fast, slow = {"config": {"BLOCK_M": 32}, "time_us": 30.0}, {"config": {"BLOCK_M": 16}, "time_us": 90.0}
    store(client, fast, slow)
    assert look_up(client)["record"]["time_us"] == 30.0
    store(client, fast | {"time_us": 99.0})
    found = look_up(client)
    assert (found["record"]["time_us"], found["others"]) == (90.0, 1)


def test_without_times_the_newest_is_found_and_an_earlier_one_can_come_back(client: TestClient) -> None:
    one, other = {"config": {"M": 1}, "time_us": None}, {"config": {"M": 2}, "time_us": None}
    (first,) = store(client, one)
    store(client, other)
    assert look_up(client)["record"]["config"] == {"M": 2}
    assert store(client, other, status=200) != [first]
    (again,) = store(client, one)
    found = look_up(client)
    assert (found["record"]["id"], found["others"]) == (again, 0)
    client.delete(f"/v1/records/{again}")
    assert look_up(client)["record"]["config"] == {"M": 2}


def test_equal_results_are_stored_once(client: TestClient) -> None:
    assert store(client) == store(client, status=200)
    answer = client.post("/v1/records", json={"records": [RECORD, RECORD | {"config": {"x": 1}}]})
    assert [each["new"] for each in answer.json()["records"]] == [False, True]
    actions = [(e["action"], e["outcome"]) for e in client.get("/v1/audit").json()["events"]]
    assert actions == [("record.create", o) for o in ("done", "unchanged", "unchanged", "done")]


def test_records_are_listed_newest_first(client: TestClient, clock: Clock) -> None:
    ids = store(client, {}, {"kernel": "other"}, {"device": {"pci_id": "E20B"}}, {"tuner": "helion"})
    page = client.get("/v1/records", params={"limit": 3}).json()
    assert [each["id"] for each in page["records"]] == ids[:0:-1]
    rest = client.get("/v1/records", params={"before": page["next_before"]}).json()
    assert ([each["id"] for each in rest["records"]], rest["next_before"]) == (ids[:1], None)
    for name, value, found in (("kernel", "other", ids[1]), ("device", "b580", ids[2]), ("tuner", "helion", ids[3])):
        assert [e["id"] for e in client.get("/v1/records", params={name: value}).json()["records"]] == [found]


def test_a_deleted_record_is_gone(client: TestClient) -> None:
    (stored,) = store(client)
    assert client.delete(f"/v1/records/{stored}").status_code == 204
    assert client.delete(f"/v1/records/{stored}").status_code == 404
    assert client.get(f"/v1/records/{stored}").status_code == 404
    look_up(client, 404)
    assert client.get("/v1/audit").json()["events"][0]["action"] == "record.delete"


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        ({"device": {"driver": "1"}}, "device", "expected pci_id or name"),
        ({"device": {"pci_id": "E2111"}}, "device.pci_id", "expected a text that matches"),
        ({"tuner": "Triton"}, "tuner", "expected a text that matches"),
        ({"config": {"a": "x\x00y"}}, "config", "U+0000"),
        ({"config": {"\x00": [{"b": 1}]}}, "config", "U+0000"),
        ({"problem": {"a": "x" * 9000}}, "problem", "at most 8,192 bytes"),
        ({"problem": ["a"]}, "problem", "expected an object"),
        ({"time_us": 0}, "time_us", "more than 0"),
        ({"min_us": 2.0, "p10_us": 1.0}, "", "min_us <= p10_us"),
        ({"time_us": None, "samples": 3}, "", "expected time_us"),
        ({"extra": 1}, "extra", "unknown field"),
    ],
)
def test_malformed_records_are_refused_and_nothing_is_stored(
    client: TestClient, changes: dict[str, Any], field: str, message: str
) -> None:
    store_body = {"records": [RECORD, RECORD | {"kernel": "other"} | changes]}
    answer = client.post("/v1/records", content=json.dumps(store_body), headers={"Content-Type": "application/json"})
    assert answer.status_code in (413, 422), answer.text
    if answer.status_code == 422:
        fault = answer.json()["errors"][0]
        assert fault["field"].startswith(f"records.1{'.' if field else ''}{field}")
        assert message in fault["message"]
    assert client.get("/v1/records").json()["records"] == []


@pytest.mark.parametrize("value", ["NaN", "Infinity", "1e999", '"\\ud800"'])
def test_what_no_database_keeps_is_refused(client: TestClient, value: str) -> None:
    text = json.dumps({"records": [RECORD | {"config": {"x": "HERE"}}]}).replace('"HERE"', value)
    answer = client.post("/v1/records", content=text, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422), answer.text


@pytest.mark.parametrize("problem", ["[1]", "{", '{"a": NaN}', "null", '{"a": "' + "x" * 9_000 + '"}'])
def test_a_problem_that_is_no_object_is_refused(client: TestClient, problem: str) -> None:
    told = look_up(client, 400, problem=problem)
    assert told["rule"] == "problem-json"
    assert told["detail"].count("expected") == told["detail"].count(", got ") == 1 or problem == "{", told


def test_a_field_that_a_problem_has_twice_is_refused(client: TestClient) -> None:
    told = look_up(client, 400, problem='{"a": {"M": 1, "M": 2}}')
    assert (told["rule"], told["errors"][0]["field"]) == ("problem-json", "problem.a.M")
    assert told["detail"] == "problem.a.M: expected once in an object, got [1, 2]"


def test_the_schema_describes_what_is_accepted(client: TestClient) -> None:
    schema = client.get("/v1/records/schema").json()
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    assert validator.is_valid(RECORD)
    assert validator.is_valid(schema["examples"][0])
    assert not validator.is_valid(RECORD | {"time_us": -1.0})
    assert not validator.is_valid(RECORD | {"device": {"pci_id": "xyz"}})
    assert not validator.is_valid({name: value for name, value in RECORD.items() if name != "config"})


def test_the_schema_in_the_documentation_is_current() -> None:
    documented = Path(__file__).resolve().parents[4] / "docs/record.schema.json"
    assert documented.read_text() == record_schema_text()


@pytest.mark.parametrize(
    ("limit", "rule", "other"),
    [
        ("max_records", "records", {"problem": {"M": 8, "N": 16, "K": 24}}),
        ("max_records_of_problem", "records-of-problem", {"config": {"BLOCK_M": 32}}),
    ],
)
def test_a_service_stores_a_limited_number_of_records(
    client: TestClient, context: Context, limit: str, rule: str, other: dict[str, Any]
) -> None:
    object.__setattr__(context, "settings", context.settings.model_copy(update={limit: 2}))
    first, _ = store(client, {"config": {"BLOCK_M": 128}}, {})
    store(client, {}, status=200)  # is in force already
    answer = client.post("/v1/records", json={"records": [RECORD | other]})
    assert (answer.status_code, answer.json()["rule"]) == (409, rule)
    assert "at most 2 records" in answer.json()["detail"]
    assert client.post("/v1/records", json={"records": [RECORD, RECORD | other]}).status_code == 409  # all or none
    assert len(client.get("/v1/records").json()["records"]) == 2
    assert client.delete(f"/v1/records/{first}").status_code == 204
    store(client, other)


def test_the_limit_of_a_problem_does_not_concern_others(client: TestClient, context: Context) -> None:
    object.__setattr__(context, "settings", context.settings.model_copy(update={"max_records_of_problem": 1}))
    store(client, {}, {"kernel": "matmul_2"}, {"device": {"pci_id": "8086:E20B"}})
    store(client, {}, status=200)
