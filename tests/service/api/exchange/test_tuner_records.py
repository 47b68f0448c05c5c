"""Records of other tuners go out with the results and come in under their ids, each once."""

import json
from collections.abc import Generator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from fastapi.testclient import TestClient

from db.values import new_id
from service.app import create_app
from service.http.context import Context
from service.settings import Settings
from tests.service.api.records.test_records import RECORD, look_up, store
from tests.service.rest import Clock, invented_devices
from tests.tuner.exchange.lines import read, results, text_of
from tuner.exchange.jsonl import write_lines
from tuner.exchange.records import Record, TunerRecord


@pytest.fixture
def elsewhere(tmp_path: Path, migrated_file: Path, clock: Clock) -> Generator[TestClient]:
    """A client of another service."""
    file = tmp_path / "elsewhere.sqlite"
    file.write_bytes(migrated_file.read_bytes())
    settings = Settings(
        data_dir=tmp_path / "elsewhere", database_url=f"sqlite:///{file}", allowed_hosts="testserver", scheduler=False
    )
    app = create_app(settings, invented_devices, clock)
    with closing(app.state.context.database):
        yield TestClient(app, headers={"Accept": "application/json"})


def _records(client: TestClient) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get("/v1/records").json()["records"]
    return found


def _line(**changes: object) -> TunerRecord:
    return TunerRecord(str(new_id()), "2026-01-02T03:04:05+00:00", RECORD | changes)


def _import(client: TestClient, *records: Record) -> Any:
    return client.post("/v1/imports", content=text_of([results()[0], *records]))


def test_records_are_exported_and_imported_with_their_ids_and_order(client: TestClient, elsewhere: TestClient) -> None:
    untimed = {"kernel": "moe", "time_us": None, "versions": {}, "document": {"none": None, "list": [1.5, "x"]}}
    store(client, {"device": {"pci_id": "E211"}, "config": {"a": None}}, untimed | {"config": {"b": 1}})
    store(client, untimed | {"config": {"b": 2}}, {"device": {"name": "NVIDIA H100"}, "origin": "the lab"})
    exported = client.get("/v1/exports").content
    assert [record["id"] for record in _records(client)] == [*read(exported).tuner_records][::-1]
    done = elsewhere.post("/v1/imports", content=exported)
    assert done.status_code == 200, done.text
    assert (done.json()["records"], done.json()["known"]) == (4, 0)
    assert _records(elsewhere) == _records(client)
    assert look_up(elsewhere, kernel="moe")["record"]["config"] == {"b": 2}  # still the later one
    again = elsewhere.post("/v1/imports", content=exported).json()
    assert (again["records"], again["known"]) == (0, 4)
    assert client.post("/v1/imports", content=elsewhere.get("/v1/exports").content).json()["known"] == 4
    store(elsewhere, {"device": {"pci_id": "0xe211"}, "config": {"a": None}}, status=200)  # in force already


@pytest.mark.parametrize(
    ("query", "number"), [("device=b60", 1), ("device=b580", 0), ("m=64&n=96&k=128", 0), ("runners_up=true", 0)]
)
def test_filters_of_problems_and_jobs_leave_records_out(client: TestClient, query: str, number: int) -> None:
    store(client, {}, {"device": {"name": "NVIDIA H100"}})
    assert len(read(client.get(f"/v1/exports?{query}").content).tuner_records) == number


def test_more_records_than_are_read_at_once_are_exported(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("db.queries.records.each.__defaults__", (2,))
    ids = store(client, *({"config": {"x": x}} for x in range(5)))
    assert [*read(client.get("/v1/exports").content).tuner_records] == ids


def test_a_line_that_is_no_record_is_refused_and_nothing_is_imported(client: TestClient, clock: Clock) -> None:
    future = UUID(int=new_id().int + (int(timedelta(days=30).total_seconds() * 1000) << 80))
    for line, what in (
        (_line(time_us=-3.0), "line 3: tuner_record: result.time_us: expected more than 0"),
        (_line(device={}), "line 3: tuner_record: result.device: "),
        (_line(unknown=1), "result.unknown: unknown field; expected what `GET /v1/records/schema`"),
        (TunerRecord(str(future), "2026-01-02T03:04:05+00:00", RECORD), "id: expected a UUID of version 7"),
        (TunerRecord(str(UUID(int=5)), "2026-01-02T03:04:05+00:00", RECORD), "id: expected a UUID of version 7"),
    ):
        refused = _import(client, _line(kernel="first"), line)
        assert (refused.status_code, refused.json()["rule"]) == (400, "import"), refused.text
        assert what in refused.json()["detail"], refused.text
    assert _records(client) == []


def test_another_result_under_a_known_id_is_refused(client: TestClient) -> None:
    first = _line()
    assert _import(client, first).json()["records"] == 1
    other = TunerRecord(first.id, first.created_at, RECORD | {"time_us": 1.0})
    assert f"expected what record {first.id} is here" in _import(client, other).json()["detail"]
    assert look_up(client)["record"]["time_us"] == RECORD["time_us"]


@pytest.mark.parametrize(
    ("limit", "rule"), [("max_records", "records"), ("max_records_of_problem", "records-of-problem")]
)
def test_an_import_keeps_the_limits_of_records(client: TestClient, context: Context, limit: str, rule: str) -> None:
    store(client)
    object.__setattr__(context, "settings", context.settings.model_copy(update={limit: 2}))
    refused = _import(client, _line(config={"x": 1}), _line(config={"x": 2}))
    assert (refused.status_code, refused.json()["rule"]) == (409, rule)
    assert len(_records(client)) == 1
    assert _import(client, _line(config={"x": 1})).json()["records"] == 1


def test_a_record_is_once_in_a_file() -> None:
    line = _line()
    with pytest.raises(Exception, match="line 3: tuner_record: expected it once"):
        read("".join(write_lines([results()[0], line, line])).encode())
    assert json.loads([*write_lines([results()[0], line])][1])["record"] == "tuner_record"
