"""Input of strangers stays text in paths, headers, pages, SQL statements and log lines."""

import pytest
import structlog
from fastapi.testclient import TestClient
from sqlalchemy import inspect

from service.http.context import Context
from service.settings import Settings
from service.telemetry.logs import configure_logs
from tests.db import rows
from tests.service.api.keys.test_keys import make_key
from tests.service.http.test_limits import client_of
from tests.service.rest import BODY, Clock, post_job

HOSTILE = (
    "'; DROP TABLE job; --",
    "' OR '1'='1",
    '"><script>alert(1)</script>',
    "{{ 7 * 19100000000019 }}",
    "{% include '/etc/passwd' %}",
    "${7*19100000000019}",
    "../../../../etc/passwd",
    "a\r\nX-Injected: yes",
    "%00",
    "\u202e\ufeff",
    "%s%n",
)
JSON = {"Content-Type": "application/json"}


def schedule(client: TestClient, name: str) -> str:
    """Create a schedule with a name and return its id."""
    answer = client.post("/v1/schedules", json={"name": name, "cron": "0 2 * * *", "job": BODY})
    assert answer.status_code == 201, answer.text
    identity: str = answer.json()["id"]
    return identity


def test_names_come_back_as_they_were_and_pages_show_them_as_text(client: TestClient, context: Context) -> None:
    tables = inspect(context.database.engine).get_table_names()
    identities = {schedule(client, name): name for name in HOSTILE}
    listed = {s["id"]: s["name"] for s in client.get("/v1/schedules").json()["schedules"]}
    assert listed == identities
    page = client.get("/")
    assert "<script>alert" not in page.text
    assert "133700000000133" not in page.text
    assert "{{ 7 * 19100000000019 }}" in page.text
    assert "root:" not in page.text
    for identity in identities:
        answer = client.post(f"/v1/schedules/{identity}/pause")
        assert answer.status_code == 200
        assert "x-injected" not in answer.headers
    assert inspect(context.database.engine).get_table_names() == tables


def test_filters_and_names_in_addresses_find_nothing_and_break_nothing(client: TestClient) -> None:
    post_job(client)
    for text in HOSTILE:
        _check_filters(client, text)


def _check_filters(client: TestClient, text: str) -> None:
    for path, params, statuses in (
        ("/v1/audit", {"action": text}, (200,)),
        ("/v1/audit", {"subject": text}, (200,)),
        ("/v1/jobs", {"before": text}, (422,)),
        ("/v1/jobs", {"status": text}, (422,)),
        ("/v1/kernels", {"m": "5", "n": "6", "k": "64", "device": text}, (400,)),
        ("/v1/kernels", {"m": "5", "n": "6", "k": "64", "epilogue": text}, (400, 422)),
    ):
        answer = client.get(path, params=params)
        assert answer.status_code in statuses, (path, answer.text)
        assert "root:" not in answer.text
        if answer.status_code == 200:
            assert answer.json()["events"] == []
    for path in ("/v1/devices/", "/v1/jobs/", "/jobs/", "/kernels/", "/static/"):
        answer = client.get(path + quoted(text))
        assert answer.status_code in (404, 422), (path, answer.status_code)
        assert "<script>alert" not in answer.text or "json" in answer.headers["content-type"]


def quoted(text: str) -> str:
    """Quote text as one segment of a path."""
    return "".join(f"%{byte:02x}" for byte in text.encode())


def test_an_artifact_is_found_by_its_name_in_the_database_never_by_a_path(client: TestClient, context: Context) -> None:
    context.settings.data_dir.joinpath("beside.txt").write_text("a file beside the artifacts")
    with context.database.write() as session:
        kernel = rows.add_kernel(session, rows.add_job(session))
    for name in (
        "../../beside.txt",
        "..%2f..%2fbeside.txt",
        "%2e%2e/%2e%2e/beside.txt",
        "kernel.spv%00.txt",
        ".",
        "%2f",
    ):
        answer = client.get(f"/v1/kernels/{kernel.id}/artifacts/{name}")
        assert answer.status_code in (400, 404, 422), name
        assert "a file beside" not in answer.text


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000,
        b'{"problem":' * 20_000,
        b'{"problem": {"m": ' + b"9" * 5000 + b', "n": 6, "k": 64}}',
        b'{"problem": {"m": 1e999, "n": 6, "k": 64}}',
        b'{"problem": {"m": -0.0, "n": 6, "k": 64}}',
        b'{"problem": {"m": 5, "n": 6, "k": 64}, "device": "\\ud800"}',
        b'{"problem": {"m": 5, "n": 6, "k": 64}, "device": "a\\u0000b"}',
        b'{"problem": {"m": 5, "m": 6, "n": 6, "k": 64, "__class__": 1}}',
        b"\xff\xfe{\x00}\x00",
        b"\x00",
    ],
)
def test_bodies_made_to_break_readers_are_refused_as_problems(settings: Settings, clock: Clock, body: bytes) -> None:
    answer = client_of(settings, clock, max_body_bytes=2**20).post("/v1/jobs", content=body, headers=JSON)
    assert answer.status_code in (400, 422), answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert len(answer.content) < 20_000


HEADERS = (
    ("Last-Event-ID", "1; DROP TABLE job"),
    ("Last-Event-ID", "9" * 5000),
    ("Range", "bytes=" + "0-1," * 500),
    ("Range", "bytes=-99999999999999999999"),
    ("If-None-Match", '"' + "a" * 5000),
    ("Authorization", "Bearer " + "x" * 5000),
    ("Cookie", "xetune_key=" + "x" * 3000),
    ("Origin", "http://[::1"),
    ("X-Forwarded-For", "127.0.0.1, <script>"),
    ("Content-Length", "-1"),
)


def test_headers_made_to_break_readers_do_not(client: TestClient, context: Context) -> None:
    job = post_job(client)
    client.post(f"/v1/jobs/{job}/cancel")
    for closed in (False, True):
        if closed:
            make_key(context)
        for name, value in HEADERS:
            for path in (f"/v1/jobs/{job}/events", "/", "/static/job.js", "/v1/jobs"):
                assert client.get(path, headers={name: value}).status_code < 500, (path, name)


@pytest.mark.parametrize("form", ["console", "json"])
def test_a_name_cannot_pass_for_a_line_of_the_log(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs(Settings(log_format=form))  # pyright: ignore[reportArgumentType]
    structlog.stdlib.get_logger("a").info("schedule fired", schedule="nightly\n2026-01-01T00:00:00Z [error] forged")
    structlog.reset_defaults()
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


@pytest.mark.postgres
def test_what_postgresql_cannot_keep_is_not_looked_for(settings: Settings, clock: Clock, postgres_url: str) -> None:
    client = client_of(settings, clock, database_url=postgres_url)
    problem = {"m": 5, "n": 6, "k": 64}
    answers = [
        client.get("/v1/kernels", params=problem | {"device": "a\0b"}),
        client.post("/v1/kernels/lookup", json={"problem": problem, "device": "a\0b"}),
        client.post("/v1/jobs", json=BODY | {"target": "a\0b"}),
    ]
    assert [(answer.status_code, answer.json()["rule"]) for answer in answers] == [(400, "unknown-device")] * 3


@pytest.mark.parametrize("path", ["/jobs", "/problems", "/kernels"])
def test_filters_of_lists_leave_out_what_cannot_be_meant(client: TestClient, path: str) -> None:
    names = ["device", "m", "n", "k", "dtype", "before", "status", "evidence"]
    worst = ("b580\0", "²", "9" * 400)
    for params in (
        *({name: text} for name in names for text in worst),
        *(dict.fromkeys(names, text) for text in (*HOSTILE, *worst, "\0", "٣", "-1", "x" * 900)),
    ):
        answer = client.get(path, params=params)
        assert answer.status_code == 200, (path, params)
        assert "\0" not in answer.text
        assert "<script>alert" not in answer.text
