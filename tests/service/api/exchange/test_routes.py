"""Results go in and out over REST as JSON lines: whole or not at all, with who brought them."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import update
from sqlalchemy.exc import TimeoutError as PoolTimeout

from db.schema.target import Problem
from db.schema.trial import Trial
from service.api.exchange import export_stream
from service.artifacts import ArtifactStore
from service.settings import Settings
from tests.service.api.keys.test_keys import bearer, make_key
from tests.service.http.test_limits import client_of
from tests.service.rest import Clock, context_of
from tests.tuner.exchange import lines
from tests.tuner.exchange.cpu_lines import SECOND_JOB
from tests.tuner.exchange.lines import JOB, read, results, text_of
from tuner.exchange.records import Record
from tuner.session.trial import ReusedFrom


@pytest.fixture
def large(settings: Settings, clock: Clock) -> TestClient:
    """A client of a service that takes files of results."""
    return client_of(settings, clock, max_import_bytes=2**20)


def _text() -> str:
    found = text_of(results())
    return found if isinstance(found, str) else found.decode()


def test_what_is_exported_is_what_was_imported(large: TestClient) -> None:
    done = large.post("/v1/imports", content=_text())
    assert done.status_code == 200, done.text
    assert done.json()["jobs"] == 1
    assert done.json()["trials"] > 0
    exported = large.get("/v1/exports")
    assert exported.headers["content-type"].startswith("application/x-ndjson")
    assert list(read(exported.content).jobs) == [JOB]
    assert read(large.get(f"/v1/exports?job={JOB}").content).trials.keys() == read(exported.content).trials.keys()
    again = large.post("/v1/imports", content=exported.content).json()
    assert (again["jobs"], again["trials"], again["known"]) == (0, 0, done.json()["trials"])
    actions = [(event["action"], event["actor"]) for event in large.get("/v1/audit").json()["events"]]
    assert actions == [("import", "local")] * 2


def test_a_key_that_may_tune_brings_nothing_that_lookups_serve(settings: Settings, clock: Clock) -> None:
    client = client_of(settings, clock, max_import_bytes=2**20)
    context = context_of(client)
    tune, admin = (bearer(make_key(context, scope, scope)) for scope in ("tune", "admin"))
    refused = client.post("/v1/imports", content=_text(), headers=tune)
    assert (refused.status_code, refused.json()["rule"]) == (403, "scope"), refused.text
    assert "needs admin" in refused.json()["detail"]
    assert client.get("/v1/jobs", headers=tune).json()["jobs"] == []
    assert not any(file.is_file() for file in settings.artifacts_dir.rglob("*"))
    told = client.get("/v1/audit?action=request", headers=admin).json()["events"]
    assert [(event["actor"], event["outcome"]) for event in told] == [("tune", "refused")]
    assert client.post("/v1/imports", content=_text(), headers=admin).status_code == 200
    asked = {"m": 64, "n": 96, "k": 128, "dtype": "f32", "device": "b580"}
    cache = client.post("/v1/imports", content="{}", params=asked, headers=tune)
    assert (cache.status_code, cache.json()["rule"]) == (400, "import"), "tune is enough for recordings"


def test_a_file_that_is_cut_off_or_no_results_changes_nothing(large: TestClient) -> None:
    text = _text()
    for body in (text[: len(text) // 2], "", "{}", '{"record": "header"}\n', "\x00\xff", "[" * 10_000):
        answer = large.post("/v1/imports", content=body.encode())
        assert (answer.status_code, answer.json().get("rule")) == (400, "import"), (body[:20], answer.text)
        assert answer.headers["content-type"] == "application/problem+json"
    assert large.get("/v1/jobs").json()["jobs"] == []


def test_an_export_of_what_is_not_there_is_refused_before_it_begins(large: TestClient) -> None:
    assert large.get(f"/v1/exports?job={uuid4()}").status_code == 404
    assert read(large.get("/v1/exports").content).trials == {}


@pytest.mark.parametrize("harm", [Path.unlink, lambda path: path.write_bytes(b"other")], ids=["missing", "damaged"])
def test_an_export_without_a_file_of_a_kernel_is_refused_before_it_begins(
    large: TestClient, settings: Settings, harm: Callable[[Path], object]
) -> None:
    assert large.post("/v1/imports", content=_text().encode()).status_code == 200
    for path in settings.artifacts_dir.rglob("*"):
        if path.is_file():
            harm(path)
    for query in ("", f"?job={JOB}"):
        answer = large.get(f"/v1/exports{query}")
        assert (answer.status_code, answer.json()["rule"]) == (409, "artifact-files")
        assert "tune the problem again" in answer.json()["detail"]
    assert large.get("/v1/exports?runners_up=true").status_code == 200


def test_an_export_with_a_row_that_cannot_be_read_says_which(large: TestClient) -> None:
    context = context_of(large)
    assert large.post("/v1/imports", content=_text()).status_code == 200
    with context.database.write() as session:
        session.execute(update(Trial).where(Trial.number == 1).values(config={"matmul": 5}))
    reason = (
        f"trial 1 of job {JOB} cannot be read: missing strategy; it was stored by another version, or changed since"
    )
    begun = large.get("/v1/exports")
    assert (begun.status_code, len(begun.text.splitlines()) > 3) == (200, True)
    assert json.loads(begun.text.splitlines()[-1]) == {"record": "broken", "error": reason}
    taken = large.post("/v1/imports", content=begun.content)
    assert (taken.status_code, f"the export broke off: {reason}" in taken.json()["detail"]) == (400, True)
    with context.database.write() as session:
        session.execute(update(Problem).values(definition={"m": "many"}))
    refused = large.get("/v1/exports")
    assert (refused.status_code, refused.json()["rule"]) == (409, "unreadable-row")
    assert f"job {JOB} cannot be read" in refused.json()["detail"]


def test_an_export_during_which_the_database_fails_ends_with_the_reason(
    large: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert large.post("/v1/imports", content=_text()).status_code == 200
    read = export_stream.exporting.results

    def failing(*asked: Any) -> Iterator[Record]:
        yield next(read(*asked))
        raise PoolTimeout

    monkeypatch.setattr(export_stream.exporting, "results", failing)
    begun = large.get("/v1/exports")
    assert begun.status_code == 200
    last = json.loads(begun.text.splitlines()[-1])
    assert (last["record"], "all connections of this process are in use" in last["error"]) == ("broken", True), last


def test_files_of_a_job_whose_time_another_reuses_are_checked_too(large: TestClient, settings: Settings) -> None:
    taken = replace(lines.measured(0, 50.0), job=SECOND_JOB, source=ReusedFrom(JOB, 0, 1.0))
    second = text_of([*results(), lines.job(best=0, id=SECOND_JOB), taken])
    assert large.post("/v1/imports", content=second).status_code == 200
    exported = f"/v1/exports?job={SECOND_JOB}"
    assert set(read(large.get(exported).content).jobs) == {JOB, SECOND_JOB}
    of_first_alone = lines.kernel(1).content_hash
    ArtifactStore(settings.artifacts_dir).path(of_first_alone).unlink()
    answer = large.get(exported)
    assert (answer.status_code, answer.json()["rule"]) == (409, "artifact-files")
