"""Lookups are exact in problem and device, carry evidence, and a miss says what to do; files never change."""

from dataclasses import dataclass
from email import message_from_bytes
from pathlib import Path
from urllib.parse import quote
from uuid import UUID, uuid4

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import update

from db.queries.cluster import leases
from db.queries.results import kernels
from db.schema.kernel import Artifact
from db.schema.trial import Trial
from service.http.context import Context
from tests.db.rows import add_kernel, add_measured, add_predicted
from tests.service import dashboard_rows
from tests.service.rest import BODY, PROBLEM, post_job, row_of

LOOKUP = {"problem": PROBLEM, "device": "b580"}
EMULATED = "opencl-cpu-as-b580"


def tuned(client: TestClient, context: Context, device: str, kind: str = "measured", time_us: float = 400.0) -> UUID:
    """A job on a device with two kernels, the second faster."""
    job_id = post_job(client, device=device)
    with context.database.write() as session:
        leases.claim(session, job_id, "w", 60.0)
        row = row_of(session, job_id)
        add = add_measured if kind == "measured" else add_predicted
        add(session, row, 0, time_us * 2)
        best = add(session, row, 1, time_us)
        assert best.kernel_id is not None
        return best.kernel_id


def test_the_fastest_measured_kernel_is_served_with_its_evidence(client: TestClient, context: Context) -> None:
    kernel_id = tuned(client, context, EMULATED)
    answer = client.post("/v1/kernels/lookup", json=LOOKUP | {"device": EMULATED})
    assert (answer.status_code, answer.json()["source"]) == (200, "stale"), "its toolchain is another one"
    kernel = answer.json()["kernel"]
    assert (kernel["id"], kernel["device"]) == (str(kernel_id), EMULATED)
    time = kernel["evidence"]["time"]
    assert (time["kind"], time["label"], time["unit"], time["value"]) == ("measured", "DPAS emulated", "us", 400.0)
    assert kernel["evidence"]["proof"]["kind"] == "simulator"
    assert kernel["artifacts"][0]["href"] == f"/v1/kernels/{kernel_id}/artifacts/kernel.spv"
    short = client.get("/v1/kernels", params=PROBLEM | {"dtype": "f16", "device": "auto", "target": "b580"})
    assert short.json() == answer.json()
    assert client.get(f"/v1/kernels/{kernel_id}").json() == kernel


def test_a_time_of_an_emulating_cpu_is_never_served_for_the_gpu(client: TestClient, context: Context) -> None:
    tuned(client, context, EMULATED, time_us=1.5)
    missed = client.post("/v1/kernels/lookup", json=LOOKUP).json()
    assert (missed["source"], missed["kernel"], missed["time"]["kind"]) == ("heuristic", None, "predicted")
    predicted = tuned(client, context, "b580", "predicted", 300.0)
    kernel = client.post("/v1/kernels/lookup", json=LOOKUP).json()["kernel"]
    assert (kernel["id"], kernel["evidence"]["time"]["kind"]) == (str(predicted), "predicted")
    assert kernel["evidence"]["time"]["value"] == 300.0


def test_a_kernel_with_wrong_numbers_says_so_and_is_never_served(client: TestClient, context: Context) -> None:
    job_id = post_job(client, device="b580")
    with context.database.write() as session:
        trial = dashboard_rows.add_trial(session, row_of(session, job_id), 0, "wrong_result")
        trial.kernel_id = kernel_id = add_kernel(session, row_of(session, job_id)).id
    kernel = client.get(f"/v1/kernels/{kernel_id}").json()
    assert (kernel["status"], kernel["job"]) == ("wrong_result", str(job_id))
    assert kernel["reason"].startswith("largest error 3.1 is above the tolerance")
    proof = {"kind": "simulator", "checked": 12, "total": 64, "max_error": 3.1, "tolerance": 0.0124}
    assert kernel["evidence"]["time"] is None
    assert proof.items() <= kernel["evidence"]["proof"].items()
    assert client.post("/v1/kernels/lookup", json=LOOKUP).json()["kernel"] is None


def test_a_withdrawn_kernel_is_served_no_more_and_the_next_best_is(client: TestClient, context: Context) -> None:
    kernel_id, lookup = tuned(client, context, EMULATED), LOOKUP | {"device": EMULATED}

    def served() -> tuple[str | None, float | None]:
        answer = client.post("/v1/kernels/lookup", json=lookup).json()
        kernel, time = answer["kernel"], answer["time"]
        return (None if kernel is None else kernel["id"]), (None if time is None else time["value"])

    assert served() == (str(kernel_id), 400.0)
    path = f"/v1/kernels/{kernel_id}/withdrawal"
    reason = "wrong results on driver 26.31"
    withdrawn = client.put(path, json={"reason": f"  {reason} "})
    assert (withdrawn.status_code, withdrawn.json()["withdrawn"]) == (200, reason)
    (other, time_us) = served()
    assert (other not in (None, str(kernel_id)), time_us) == (True, 800.0)
    assert client.get(f"/v1/kernels/{kernel_id}").json()["withdrawn"] == reason
    listed = client.get("/v1/kernels/stored", params={"device": EMULATED}).json()["kernels"]
    assert {line["id"]: line["withdrawn"] for line in listed} == {str(kernel_id): reason, other: None}
    assert "withdrawn: wrong results" in client.get("/kernels").text
    assert f": {reason}</dd>" in client.get(f"/kernels/{kernel_id}").text
    assert client.put(f"/v1/kernels/{other}/withdrawal", json={"reason": "slow"}).status_code == 200
    assert served()[0] is None
    for each in (path, path, f"/v1/kernels/{other}/withdrawal"):
        assert client.delete(each).status_code == 204
    assert served() == (str(kernel_id), 400.0)
    events = client.get("/v1/audit").json()["events"]
    assert [(e["action"], e["outcome"]) for e in reversed(events) if e["action"].startswith("kernel.")] == [
        ("kernel.withdraw", "done"),
        ("kernel.withdraw", "done"),
        ("kernel.restore", "done"),
        ("kernel.restore", "unchanged"),
        ("kernel.restore", "done"),
    ]


@pytest.mark.parametrize("reason", ["", "  ", "two\nlines", "\x00", "x" * 501, None])
def test_a_withdrawal_needs_a_reason_of_one_line(client: TestClient, context: Context, reason: str | None) -> None:
    kernel_id = tuned(client, context, EMULATED)
    assert client.put(f"/v1/kernels/{kernel_id}/withdrawal", json={"reason": reason}).status_code == 422
    assert client.get(f"/v1/kernels/{kernel_id}").json()["withdrawn"] is None
    assert client.put(f"/v1/kernels/{uuid4()}/withdrawal", json={"reason": "x"}).status_code == 404


def test_the_evidence_of_a_kernel_names_the_driver_that_accepted_it(client: TestClient, context: Context) -> None:
    kernel_id = tuned(client, context, "b580", "predicted", 300.0)
    assert client.get(f"/v1/kernels/{kernel_id}").json()["evidence"]["acceptance"] is None
    accepted = {"driver": "26.27.1", "chip": "bmg", "log": "warning: recompiled"}
    with context.database.write() as session:
        session.execute(update(Trial).where(Trial.kernel_id == kernel_id).values(acceptance=accepted))
    assert client.get(f"/v1/kernels/{kernel_id}").json()["evidence"]["acceptance"] == accepted


@pytest.mark.parametrize("change", [{"m": 384}, {"dtype_c": "f16"}, {"lda": 2048}, {"alignment": 128}])
def test_another_problem_is_a_miss(client: TestClient, context: Context, change: dict[str, object]) -> None:
    tuned(client, context, EMULATED)
    answer = client.post("/v1/kernels/lookup", json={"problem": PROBLEM | change, "device": EMULATED})
    assert (answer.status_code, answer.json()["source"], answer.json()["kernel"]) == (200, "heuristic", None)


def test_a_miss_says_what_to_post_and_that_works(client: TestClient) -> None:
    problem = client.get("/v1/kernels", params=PROBLEM | {"dtype": "bf16", "device": "b580"}).json()
    assert problem["source"] == "heuristic"
    advice, compilation = problem["next"]
    assert (compilation["href"], compilation["body"]["config"]) == ("/v1/compile", problem["config"])
    assert advice["body"]["problem"]["dtype_a"] == "bf16"
    queued = client.request(advice["method"], advice["href"], json=advice["body"])
    assert (queued.status_code, queued.json()["device"]) == (202, "b580")


def test_a_miss_on_a_device_that_cannot_be_tuned_for_promises_nothing(client: TestClient) -> None:
    problem = client.post("/v1/kernels/lookup", json=LOOKUP | {"device": "max1550vg"}).json()
    assert (problem["rule"], problem.get("next", [])) == ("device-target", [])
    assert "and none can be made: kernels cannot be compiled for" in problem["detail"]


@pytest.mark.parametrize(
    ("query", "status", "rule"),
    [
        (PROBLEM | {"m": 0}, 400, "invalid-problem"),
        (PROBLEM | {"m": 10**30}, 400, "invalid-problem"),
        (PROBLEM | {"m": "1.5"}, 422, "not-an-integer"),
        (PROBLEM | {"dtype": "f15"}, 422, "not-one-of"),
        (PROBLEM | {"device": "nosuch"}, 400, "unknown-device"),
        (PROBLEM | {"device": "simulated-driver-b580"}, 400, "unknown-device"),
        ({"m": 5}, 422, "missing"),
    ],
)
def test_bad_lookups_name_the_rule(
    client: TestClient, query: dict[str, str | int], status: int, rule: str | None
) -> None:
    answer = client.get("/v1/kernels", params=query)
    assert (answer.status_code, answer.json().get("rule")) == (status, rule)
    assert answer.headers["content-type"] == "application/problem+json"


@dataclass(frozen=True)
class StoredFile:
    """A file of a kernel that is stored."""

    path: str
    data: bytes
    sha256: str


@pytest.fixture
def stored(client: TestClient, context: Context) -> StoredFile:
    """A kernel with a file of 1000 bytes."""
    kernel_id = tuned(client, context, EMULATED)
    data = bytes(i % 251 for i in range(1000))
    sha256 = context.artifacts.put(data)
    with context.database.write() as session:
        file = kernels.ArtifactFile("xetile.mlir", sha256, len(data), "text/plain; charset=utf-8")
        session.add(
            Artifact(kernel_id=kernel_id, name=file.name, sha256=sha256, size=file.size, media_type=file.media_type)
        )
    return StoredFile(f"/v1/kernels/{kernel_id}/artifacts/xetile.mlir", data, sha256)


def test_a_file_is_served_with_a_strong_etag_and_answers_304(client: TestClient, stored: StoredFile) -> None:
    answer = client.get(stored.path)
    assert (answer.status_code, answer.content) == (200, stored.data)
    assert answer.headers["etag"] == f'"{stored.sha256}"'
    assert "immutable" in answer.headers["cache-control"]
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    for known in (answer.headers["etag"], f'"other", W/{answer.headers["etag"]}', "*"):
        again = client.get(stored.path, headers={"If-None-Match": known})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", answer.headers["etag"])
    assert client.get(stored.path, headers={"If-None-Match": '"other"'}).status_code == 200


@pytest.mark.parametrize(
    ("wanted", "status", "part"),
    [
        ("bytes=0-9", 206, slice(0, 10)),
        ("bytes=990-", 206, slice(990, 1000)),
        ("bytes=-5", 206, slice(995, 1000)),
        ("bytes=-5000", 206, slice(0, 1000)),
        ("bytes=990-5000", 206, slice(990, 1000)),
        ("bytes=1000-", 416, None),
        ("bytes=-0", 416, None),
        ("bytes=9-3", 200, slice(0, 1000)),
        ("BYTES = 0-9", 206, slice(0, 10)),
        ("bytes=1000-,2000-2001", 416, None),
        ("bytes=0-1,9-3", 200, slice(0, 1000)),
        ("bytes=0-1,", 206, slice(0, 2)),
        ("bytes=2000-,0-1", 206, slice(0, 2)),
        ("bytes=0-999,0-0", 200, slice(0, 1000)),
        ("bytes=" + ",".join(f"{i}-{i}" for i in range(0, 34, 2)), 200, slice(0, 1000)),
        ("lines=1-2", 200, slice(0, 1000)),
        ("bytes=-", 200, slice(0, 1000)),
    ],
)
def test_ranges_are_served_or_refused(
    client: TestClient, stored: StoredFile, wanted: str, status: int, part: slice | None
) -> None:
    answer = client.get(stored.path, headers={"Range": wanted})
    assert answer.status_code == status
    if part is None:
        assert answer.headers["content-range"] == "bytes */1000"
        return
    assert answer.content == stored.data[part]
    if status == 206:
        assert answer.headers["content-range"] == f"bytes {part.start}-{part.stop - 1}/1000"


def test_several_ranges_come_as_parts_that_say_where_they_are_from(client: TestClient, stored: StoredFile) -> None:
    answer = client.get(stored.path, headers={"Range": "bytes=0-1, 990-, -3"})
    assert answer.status_code == 206
    kind, _, boundary = answer.headers["content-type"].partition("; boundary=")
    assert kind == "multipart/byteranges"
    message = message_from_bytes(f"Content-Type: {kind}; boundary={boundary}\r\n".encode() + answer.content)
    found = [(part["Content-Range"], part["Content-Type"], part.get_payload(decode=True)) for part in message.walk()]
    text = "text/plain; charset=utf-8"
    assert found[1:] == [
        ("bytes 0-1/1000", text, stored.data[:2]),
        ("bytes 990-999/1000", text, stored.data[990:]),
        ("bytes 997-999/1000", text, stored.data[997:]),
    ]


def test_a_file_is_found_by_what_it_holds(client: TestClient, stored: StoredFile, context: Context) -> None:
    path = f"/v1/artifacts/{stored.sha256}"
    answer, by_name = client.get(path), client.get(stored.path)
    assert (answer.status_code, answer.content) == (200, stored.data)
    for name in ("etag", "cache-control", "content-type", "content-disposition", "accept-ranges"):
        assert answer.headers[name] == by_name.headers[name]
    assert client.get(path, headers={"If-None-Match": answer.headers["etag"]}).status_code == 304
    assert client.get(path, headers={"Range": "bytes=3-4"}).content == stored.data[3:5]
    kept = context.artifacts.put(b"of no kernel")
    assert client.get(f"/v1/artifacts/{kept}").status_code == 404
    for name in ("abc", stored.sha256.upper(), "..%2f" * 20):
        assert client.get(f"/v1/artifacts/{name}").status_code in (404, 422)


def test_head_says_what_get_would_without_the_bytes(client: TestClient, stored: StoredFile) -> None:
    for path in (stored.path, f"/v1/artifacts/{stored.sha256}"):
        answer, whole = client.head(path, headers={"Range": "bytes=0-9"}), client.get(path)
        assert (answer.status_code, answer.content) == (200, b"")
        assert answer.headers["content-length"] == whole.headers["content-length"] == "1000"
        assert answer.headers["etag"] == whole.headers["etag"]
        assert client.head(path, headers={"If-None-Match": whole.headers["etag"]}).status_code == 304
    assert client.head(f"/v1/artifacts/{'0' * 64}").status_code == 404


@pytest.mark.parametrize("name", ['a"b.mlir', "a\r\nX-Evil: 1", "ä.mlir"])
def test_a_file_of_any_name_is_saved_by_it(client: TestClient, stored: StoredFile, context: Context, name: str) -> None:
    with context.database.write() as session:
        session.execute(update(Artifact).where(Artifact.sha256 == stored.sha256).values(name=name))
    answer = client.get(f"/v1/artifacts/{stored.sha256}")
    assert answer.status_code == 200
    assert answer.headers["content-disposition"] == f"attachment; filename*=UTF-8''{quote(name, safe='')}"
    assert "x-evil" not in answer.headers


def test_a_range_of_another_version_is_the_whole_file(client: TestClient, stored: StoredFile) -> None:
    answer = client.get(stored.path, headers={"Range": "bytes=0-9", "If-Range": '"other"'})
    assert (answer.status_code, answer.content) == (200, stored.data)


def test_files_that_are_gone_or_unknown_say_so(
    client: TestClient, stored: StoredFile, context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = client.get(stored.path.replace("xetile.mlir", "nosuch"))
    assert (missing.status_code, missing.headers["content-type"]) == (404, "application/problem+json")
    assert client.get(f"/v1/kernels/{uuid4()}/artifacts/xetile.mlir").status_code == 404
    monkeypatch.setattr(kernels, "artifact", None)  # PostgreSQL would fail on a NUL
    assert client.get(stored.path.replace("xetile.mlir", "a%00b")).status_code == 404
    assert client.get(f"/v1/kernels/{uuid4()}").status_code == 404
    monkeypatch.undo()
    next(Path(context.artifacts.root).rglob(stored.sha256)).unlink()
    gone = client.get(stored.path)
    assert (gone.status_code, gone.json()["rule"]) == (503, "artifact-files")


def test_lookups_do_not_queue_jobs(client: TestClient) -> None:
    client.post("/v1/kernels/lookup", json=LOOKUP)
    assert client.get("/v1/jobs").json()["jobs"] == []
    assert BODY["device"] == LOOKUP["device"]
