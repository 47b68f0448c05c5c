"""Files of other autotuners go in and out over REST: whole or not at all, once, within limits of their own."""

import gzip
import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from fastapi.testclient import TestClient

from service.http.idempotency import REPLAYED
from service.settings import Settings
from tests.service.http.test_limits import client_of
from tests.service.rest import Clock
from tests.tuner.exchange.lines import JOB, results, text_of

SIZES = {"m": 96, "n": 64, "k": 128}


@pytest.fixture
def home(client: TestClient) -> TestClient:
    """A client of a service with a job of two measured trials."""
    found = text_of(results())
    assert client.post("/v1/imports", content=found).status_code == 200
    return client


def exported(client: TestClient, format: str, **which: str) -> bytes:
    """A job of home in one of the formats."""
    answer = client.get("/v1/exports", params={"format": format, **(which or {"job": JOB})})
    assert answer.status_code == 200, answer.text
    return answer.content


def bare(client: TestClient) -> dict[str, Any]:
    """A cache as Kernel Tuner itself writes it: it says neither problem nor device of this program."""
    document: dict[str, Any] = json.loads(exported(client, "kernel-tuner"))
    del document["xetune"]
    return document


@pytest.mark.parametrize("format", ["kernel-tuner", "t4"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_what_a_job_measured_goes_out_and_comes_back_as_a_recording(home: TestClient, format: str, pack: Any) -> None:
    answer = home.get("/v1/exports", params={"format": format, "job": JOB})
    assert answer.headers["left-out"] == "1"  # a predicted trial, which the formats cannot hold
    assert answer.headers["content-disposition"] == f'attachment; filename="{format}.json"'
    done = home.post("/v1/imports", content=pack(answer.content)).json()
    assert (done["format"], done["jobs"], done["configurations"], done["timed"], done["known"]) == (format, 0, 3, 2, 0)
    found = home.get(f"/v1/recordings/{done['recording']}").json()
    assert (found["device"], found["tried"], found["timed"], found["best_us"]) == ("b580", 3, 2, 40.0)
    assert {name: found["problem"][name] for name in SIZES} == SIZES
    assert [each["time_us"] for each in found["configurations"]] == [40.0, 50.0, None]
    assert found["configurations"][2]["reason"]
    again = home.post("/v1/imports", content=exported(home, "t4", recording=done["recording"])).json()
    assert (again["recording"], again["known"]) == (done["recording"], 3)
    assert [line["id"] for line in home.get("/v1/recordings").json()["recordings"]] == [done["recording"]]
    events = home.get("/v1/audit", params={"action": "import"}).json()["events"]
    assert [event["subject"] for event in events] == [done["recording"], "the lab"]


def test_what_a_file_does_not_say_is_told_beside_it(home: TestClient) -> None:
    text = json.dumps(bare(home))
    for told, field in (({}, "m"), (SIZES, "device"), (SIZES | {"device": "b999"}, "device"), ({"dtype": "f16"}, "m")):
        refusal = home.post("/v1/imports", content=text, params=told)
        assert refusal.status_code == 400
        assert [error["field"] for error in refusal.json()["errors"]] == [field], refusal.text
    told = SIZES | {"device": "b580", "origin": "a lab"}
    done = home.post("/v1/imports", content=text, params=told)
    assert (done.status_code, done.json()["origin"], done.json()["timed"]) == (200, "a lab", 2), done.text


def test_what_contradicts_the_file_is_refused(home: TestClient) -> None:
    text = exported(home, "t4")
    for told in ({"m": 1, "n": 2, "k": 3}, {"device": "a770"}):
        refusal = home.post("/v1/imports", content=text, params=told)
        assert (refusal.status_code, refusal.json()["rule"]) == (400, "import")
        assert "leave" in refusal.json()["detail"]
    lines = home.post("/v1/imports", content=text_of(results()), params={"device": "b580"})
    assert (lines.status_code, lines.json()["errors"][0]["field"]) == (400, "device")


def test_a_file_with_one_bad_configuration_is_refused_whole_with_count_and_reason(home: TestClient) -> None:
    document = bare(home)
    entries = list(document["cache"].values())
    entries[0]["loop_order"] = "sideways"
    entries[2]["block_m"] = -5
    told = SIZES | {"device": "b580"}
    refusal = home.post("/v1/imports", content=json.dumps(document), params=told)
    assert (refusal.status_code, refusal.json()["rule"]) == (400, "import")
    assert "2 of 3 configurations" in refusal.json()["detail"]
    assert "configuration 0: " in refusal.json()["detail"]
    assert "configuration 2: " in refusal.json()["detail"]
    assert home.get("/v1/recordings").json()["recordings"] == []


def test_an_import_with_a_key_happens_once(home: TestClient) -> None:
    text, key = exported(home, "t4"), {"Idempotency-Key": "once"}
    first = home.post("/v1/imports", content=text, headers=key)
    again = home.post("/v1/imports", content=text, headers=key)
    assert (again.json(), again.headers[REPLAYED]) == (first.json(), "true")
    for other in (home.post("/v1/imports", content=text + b"\n", headers=key),
                  home.post("/v1/imports?origin=x", content=text, headers=key)):  # fmt: skip
        assert (other.status_code, other.json()["rule"]) == (422, "idempotency-key")


def test_files_have_limits_of_their_own_as_sent_and_unpacked(settings: Settings, clock: Clock) -> None:
    small = client_of(settings, clock, max_import_bytes=5000)
    refusal = small.post("/v1/imports", content=b"x" * 5001)
    assert (refusal.status_code, refusal.json()["rule"]) == (413, "body-bytes")
    assert "5000 (XETUNE_MAX_IMPORT_BYTES)" in refusal.json()["detail"]
    in_parts = small.post("/v1/imports", content=iter([b"x" * 3000, b"x" * 3000]))
    assert (in_parts.status_code, in_parts.json()["rule"]) == (413, "body-bytes")
    bomb = small.post("/v1/imports", content=gzip.compress(b" " * 10**6))
    assert (bomb.status_code, "at most 5000 bytes unpacked" in bomb.text) == (400, True)
    assert small.post("/v1/jobs", content=b"x" * 4097).status_code == 413  # other bodies have the limit of bodies


def test_nothing_of_an_upload_stays_behind(home: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for content in (exported(home, "t4"), b"{", b"x" * 100):
        home.post("/v1/imports", content=content)
        assert list(tmp_path.glob("xetune-tmp-import-*")) == []


def test_a_t1_file_and_runners_up_queue_jobs_where_the_device_is(client: TestClient, home: TestClient) -> None:
    specification = exported(home, "t1")
    away = home.post("/v1/imports", content=specification)
    assert (away.status_code, away.json()["rule"]) == (400, "not-here")
    here = home.post("/v1/imports", content=specification, params={"device": "opencl-cpu-as-b580", "seconds": 60})
    assert here.status_code == 202, here.text
    (job,) = here.json()["queued"]
    found = home.get(f"/v1/jobs/{job}").json()
    assert (found["kind"], found["device"], found["budget"]["seconds"]) == ("measure", "opencl-cpu-as-b580", 60)
    again = home.post("/v1/imports", content=specification, params={"device": "opencl-cpu-as-b580", "seconds": 60})
    assert again.json()["queued"] == [job]
    lines = home.get("/v1/exports", params={"runners_up": True, "device": "b580"}).content
    asked = home.post("/v1/imports", content=lines, params={"device": "opencl-cpu-as-b580", "seconds": 60})
    assert (asked.status_code, asked.json()["configurations"]) == (202, 1), asked.text
    too_long = home.post("/v1/imports", content=specification, params={"seconds": 1e9, "device": "opencl-cpu-as-b580"})
    assert (too_long.status_code, too_long.json()["rule"]) == (400, "budget")


def test_exports_are_of_a_problem_too(home: TestClient) -> None:
    assert b'"record":"job"' in home.get("/v1/exports", params=SIZES).content.replace(b" ", b"")
    assert b'"record":"job"' not in home.get("/v1/exports", params=SIZES | {"m": 97}).content.replace(b" ", b"")


@pytest.mark.parametrize(
    ("asked", "rule"),
    [
        ({"format": "t4"}, "export"),
        ({"format": "t4", "job": JOB, "recording": JOB}, "export"),
        ({"format": "kernel-tuner", "job": JOB, "device": "b580"}, "export"),
        ({"recording": JOB}, "export"),
        ({"m": 96}, "problem"),
        ({"format": "t4", "recording": JOB}, "not-found"),
        ({"format": "kernel-tuner", "job": str(UUID(int=1))}, "not-found"),
    ],
)
def test_an_export_that_cannot_be_is_refused(home: TestClient, asked: dict[str, str | int], rule: str) -> None:
    answer = home.get("/v1/exports", params=asked)
    assert answer.json()["rule"] == rule, answer.text
    assert answer.headers["content-type"] == "application/problem+json"


def test_recordings_come_in_pages(home: TestClient) -> None:
    document = bare(home)
    for number in range(3):
        entry = next(iter(document["cache"].values()))
        entry["time"] = 1.5 + number
        answer = home.post("/v1/imports", content=json.dumps(document), params=SIZES | {"device": "b580"})
        assert answer.status_code == 200, answer.text
    first = home.get("/v1/recordings?limit=2").json()
    second = home.get("/v1/recordings", params={"limit": 2, "before": first["next_before"]}).json()
    assert (len(first["recordings"]), len(second["recordings"]), second["next_before"]) == (2, 1, None)
    path = f"/v1/recordings/{second['recordings'][0]['id']}"
    page = home.get(f"{path}?limit=2").json()
    rest = home.get(path, params={"limit": 2, "after": page["next_after"]}).json()
    assert (page["next_after"], rest["next_after"]) == (2, None)
    assert [each["number"] for each in page["configurations"] + rest["configurations"]] != []
    assert len({each["number"] for each in page["configurations"] + rest["configurations"]}) == 3
    assert home.get(f"/v1/recordings/{UUID(int=1)}").status_code == 404


def test_a_file_that_is_no_results_is_refused(home: TestClient) -> None:
    for body in (b"", b"{}", b"[]", b"\x1f\x8bnot gzip", b'{"results": 5}', b'{"cache": {"a": null}}', b"\xff" * 50):
        answer = home.post("/v1/imports", content=body, params=SIZES | {"device": "b580"})
        assert answer.status_code == 400, (body, answer.text)
        assert "/upload" not in answer.text
