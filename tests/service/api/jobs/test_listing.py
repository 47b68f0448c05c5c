"""Lists of jobs and trials: pages without gap or double, filters that all must hold."""

from datetime import timedelta
from uuid import UUID

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import event

from codegen.problem.quantization import parse_quantization
from codegen.serialization import to_json
from db.queries.cluster import leases
from db.queries.results import trials
from db.schema.job import Job
from db.values import utc_now
from service.http.context import Context
from tests.db.rows import add_measured, add_trial
from tests.service.rest import PROBLEM, post_job, row_of


def listed(client: TestClient, **query: str | int | list[str]) -> set[UUID]:
    """Ids of the jobs that a list holds."""
    answer = client.get("/v1/jobs", params=query)
    assert answer.status_code == 200, answer.text
    return {UUID(job["id"]) for job in answer.json()["jobs"]}


def test_jobs_are_filtered_by_problem_device_status_and_moment(client: TestClient, context: Context) -> None:
    plain = post_job(client)
    wide = post_job(client, problem=PROBLEM | {"n": 640, "dtype_a": "bf16", "dtype_b": "bf16"})
    away = post_job(client, device="max1100")
    client.post(f"/v1/jobs/{away}/cancel")
    every = {plain, wide, away}
    for query, wanted in (
        ({}, every),
        ({"m": 512}, every),
        ({"n": 640}, {wide}),
        ({"n": 384, "k": 1024, "batch": 1}, {plain, away}),
        ({"m": 512, "n": 641}, set()),
        ({"dtype_a": "bf16"}, {wide}),
        ({"dtype_b": "f16", "dtype_c": "f32", "dtype_acc": "f32"}, {plain, away}),
        ({"device": "max1100"}, {away}),
        ({"device": "nosuch"}, set()),
        ({"status": ["queued", "cancelled"]}, every),
        ({"status": "queued", "device": "b580"}, {plain, wide}),
        ({"kind": "search"}, every),
        ({"kind": ["measure", "import", "shape"]}, set()),
    ):
        assert listed(client, **query) == wanted, query
    with context.database.write() as session:
        for days, job_id in enumerate((plain, wide, away)):
            row_of(session, job_id).created_at = context.now() + timedelta(days=days)
    at = (context.now() + timedelta(days=1)).isoformat()
    assert listed(client, created_from=at) == {wide, away}
    assert listed(client, created_before=at) == {plain}
    assert listed(client, created_from=at, created_before=at) == set()


@pytest.mark.parametrize("text", ["64:f16:zeros", "column:bf16", "32:f32:zero=3", "128:e8m0:zero=8"])
def test_jobs_are_filtered_by_the_quantization_of_their_problem(client: TestClient, text: str) -> None:
    asked = to_json(parse_quantization(text))
    quantised = post_job(client, problem=PROBLEM | {"dtype_b": "u4", "quantization": asked})
    plain = post_job(client)
    assert listed(client, quantization=text) == {quantised}
    assert listed(client, quantization="") == {plain}
    assert listed(client, quantization="64:bf16") == listed(client, quantization="12") == set()
    assert listed(client, quantization=text.partition(":")[0]) == {quantised}


def test_a_job_says_its_kind_and_is_found_by_it(client: TestClient, context: Context) -> None:
    searched, measures, came = (post_job(client, seed=seed) for seed in range(3))
    with context.database.write() as session:
        for job_id in (measures, came):
            session.get_one(Job, job_id).candidates = [{"m": 8}]
        session.get_one(Job, came).origin = "the lab"
    for kind, job_id in (("search", searched), ("measure", measures), ("import", came)):
        assert listed(client, kind=kind) == {job_id}
        assert client.get(f"/v1/jobs/{job_id}").json()["kind"] == kind
    assert listed(client, kind=["search", "import"]) == {searched, came}


@pytest.mark.parametrize(
    "query",
    [
        {"colour": "red"},
        {"m": 0},
        {"k": 2**24 + 1},
        {"dtype_a": "f15"},
        {"kind": "lost"},
        {"device": ""},
        {"device": "a\x00b"},
        {"created_from": "2026-01-02T00:00:00"},
        {"created_before": "yesterday"},
        {"created_from": "0.5"},
        {"limit": 201},
    ],
)
def test_a_filter_that_cannot_be_meant_is_refused(client: TestClient, query: dict[str, str | int]) -> None:
    answer = client.get("/v1/jobs", params=query)
    field: str = answer.json()["errors"][0]["field"]
    assert (answer.status_code, field.removesuffix(".0")) == (422, next(iter(query)))


def test_filtered_pages_join_without_gap_or_double(client: TestClient) -> None:
    made = [post_job(client, seed=seed, device="b580" if seed % 2 else "max1100") for seed in range(7)]
    seen: list[str] = []
    query: dict[str, str | int] = {"device": "b580", "limit": 2}
    while True:
        page = client.get("/v1/jobs", params=query).json()
        seen += [job["id"] for job in page["jobs"]]
        if page["next_before"] is None:
            break
        query["before"] = page["next_before"]
    assert seen == sorted((str(job_id) for job_id in made[1::2]), reverse=True)


def test_trials_are_filtered_by_outcome_and_paged(client: TestClient, context: Context) -> None:
    job_id = post_job(client)
    with context.database.write() as session:
        for number in range(9):
            if number % 3:
                add_measured(session, row_of(session, job_id), number, 500.0 - number)
            else:
                add_trial(session, job_id, number)
        rejected = trials.get(session, job_id, 6)
        assert rejected is not None
        rejected.status, rejected.reason, rejected.ended_at = "rejected", "rule x: y", utc_now()
    path, seen, after = f"/v1/jobs/{job_id}/trials", list[int](), -1
    while True:
        page = client.get(path, params={"status": ["measured", "rejected"], "limit": 3, "after": after}).json()
        seen += [trial["number"] for trial in page["trials"]]
        if (after := page["next_after"]) is None:
            break
    assert seen == [1, 2, 4, 5, 6, 7, 8]
    assert [t["number"] for t in client.get(path, params={"status": "pending"}).json()["trials"]] == [0, 3]
    assert client.get(path, params={"status": "lost"}).status_code == 422


def test_a_page_takes_as_many_queries_as_one_job(
    client: TestClient, context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(6):
        post_job(client, seed=seed)
    client.get("/v1/jobs")  # caches are filled
    counts: list[int] = []
    for limit in (2, 6):
        said: list[str] = []

        def note(_connection: object, _cursor: object, statement: str, *_: object, said: list[str] = said) -> None:
            said.append(statement)

        event.listen(context.database.engine, "before_cursor_execute", note)
        client.get("/v1/jobs", params={"limit": limit})
        event.remove(context.database.engine, "before_cursor_execute", note)
        counts.append(len(said))
    assert counts[0] == counts[1]


def end(context: Context, job_id: UUID, status: str, error: str | None = None) -> Job:
    """Let a job be over, after one trial."""
    with context.database.write() as session:
        assert leases.claim(session, job_id, "w", 60.0) is not None
        row = row_of(session, job_id)
        row.best_trial_id = add_measured(session, row, 0, 500.0).id
        leases.finish(session, job_id, "w", status, error)
        return row_of(session, job_id)


ASKED = {
    "budget": {"trials": 20, "seconds": 60.0, "no_gain": 9, "roofline": None},
    "search": "gp",
    "reuse": False,
    "warm_start": False,
    "seed": 3,
    "device": "opencl-cpu-as-lunar-lake",
    "problem": PROBLEM | {"lda": 1056, "epilogue": [{"kind": "relu"}]},
}


@pytest.mark.parametrize(("status", "error"), [("failed", "device-crashed: gone"), ("cancelled", None)])
def test_a_job_that_failed_or_was_cancelled_is_asked_for_again(
    client: TestClient, context: Context, status: str, error: str | None
) -> None:
    first = post_job(client, **ASKED)
    end(context, first, status, error)
    answer = client.post(f"/v1/jobs/{first}/retry")
    again, old = answer.json(), client.get(f"/v1/jobs/{first}").json()
    assert (answer.status_code, answer.headers["location"]) == (202, f"/v1/jobs/{again['id']}")
    assert (again["retry_of"], again["status"], again["done"], old["retry_of"]) == (str(first), "queued", 0, None)
    for name in ("problem", "device", "budget", "seed", "search", "reuse", "warm_start"):
        assert again[name] == old[name], name
    same = client.post(f"/v1/jobs/{first}/retry")
    assert (same.status_code, same.json()) == (200, again)


def test_only_a_job_that_failed_or_was_cancelled_is_asked_for_again(client: TestClient, context: Context) -> None:
    queued, done, given = (post_job(client, seed=seed) for seed in range(3))
    end(context, done, "succeeded")
    with context.database.write() as session:
        session.get_one(Job, given).candidates = [{"m": 8}]
    client.post(f"/v1/jobs/{given}/cancel")
    for job_id, rule in ((queued, "retry-status"), (done, "retry-status"), (given, "retry-kind")):
        answer = client.post(f"/v1/jobs/{job_id}/retry")
        assert (answer.status_code, answer.json()["rule"]) == (409, rule)
    assert len(listed(client)) == 3


def test_what_a_cancelled_job_found_stays_and_is_served(client: TestClient, context: Context) -> None:
    job_id = post_job(client)
    end(context, job_id, "cancelled")
    job = client.get(f"/v1/jobs/{job_id}").json()
    assert (job["status"], job["best"]["number"], job["done"]) == ("cancelled", 0, 1)
    served = client.get("/v1/kernels", params=PROBLEM | {"device": "b580"}).json()
    assert served["kernel"]["id"] == job["best"]["kernel_id"]
