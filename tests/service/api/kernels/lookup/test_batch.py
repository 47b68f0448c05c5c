"""Lookups of many problems, and what is kept in memory, say what a single lookup of the database says, not what was."""

import json
import random
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from benchmarks.service.filling import fill
from codegen import DType, GemmProblem
from db.errors import DatabaseUnavailable
from db.queries.change_feed import (
    News,
    news,
)
from db.schema.job import Job
from db.schema.target import Problem
from db.schema.trial import Measurement
from db.session import open_database
from service.api.kernels.lookup.lookup import Lookup
from service.api.kernels.lookup.next_requests import Accepted
from service.api.kernels.lookup.schemas import LookupOut
from service.errors import NotFound
from service.gemm_json import problem_from_json
from service.http.context import Context
from service.http.limits import Rates
from service.schemas import to_body
from service.settings import Settings
from tests.db import rows
from tests.service.api.kernels.test_lookup import HERE, tuned_now
from tests.service.rest import Clock, jobs_of

ODD = GemmProblem(33, 17, 40, dtype_a=DType.F16, dtype_b=DType.TF32)  # no device multiplies these
BATCH, ONE = "/v1/kernels/lookup/batch", "/v1/kernels/lookup"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Settings that let a batch in."""
    return settings.model_copy(update={"max_body_bytes": 2**20, "rate_per_s": 0})


def ask(client: TestClient, problems: list[GemmProblem], **more: object) -> dict[str, Any]:
    """The answer to a batch."""
    body = {"problems": [_body(problem) for problem in problems], "device": "b580"} | more
    answer = client.post(BATCH, json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def _body(problem: GemmProblem) -> dict[str, object]:
    return to_body(problem).model_dump(mode="json")


def _drawn(context: Context, rng: random.Random) -> list[GemmProblem]:
    """Stored problems, problems near and far, ragged ones, and ones that no device of ours multiplies."""
    with context.database.read() as session:
        stored = [problem_from_json(d) for d in session.scalars(select(Problem.definition))]
    near = [GemmProblem(p.m + 64, p.n, p.k, dtype_a=p.dtype_a, dtype_b=p.dtype_b) for p in rng.sample(stored, 3)]
    far = [GemmProblem(rng.randint(1, 99), rng.randint(1, 99), 2 * rng.randint(9, 999)) for _ in range(2)]
    odd = [ODD, GemmProblem(64, 48, 32, batch=3)]
    drawn = [*rng.sample(stored, 4), *near, *far, *odd]
    rng.shuffle(drawn)
    return drawn


def test_a_batch_says_what_single_lookups_say(context: Context, client: TestClient, clock: Clock) -> None:
    fill(context.database, context.artifacts, 400, 2_000, until=clock.moment)
    for device in ("b580", "max1100"):  # measured, predicted
        _say_the_same(context, client, clock, device, _drawn(context, random.Random(3)))


def _say_the_same(context: Context, client: TestClient, clock: Clock, device: str, problems: list[GemmProblem]) -> None:
    accepted = Accepted(context.devices.resolve(device, None), context.settings)
    with context.database.read() as session:
        single: list[dict[str, object] | None] = []
        for problem in problems:
            try:
                found = Lookup(session, problem, accepted, clock.moment).answer()
            except NotFound:
                single.append(None)
            else:
                single.append(found.model_dump(mode="json"))
    sources = {"none" if answer is None else answer["source"] for answer in single}
    assert sources >= {"exact", "none", "nearest" if device == "b580" else "model"}
    for round_ in range(3):  # worked out, kept in memory, and asked with the same words again
        told = ask(client, problems, device=device)
        assert told["answers"] == single, round_
        assert [miss["index"] for miss in told["misses"]] == [i for i, answer in enumerate(single) if answer is None]
    for problem, answer in zip(problems, single, strict=True):
        for _ in range(2):
            one = client.post(ONE, json={"problem": _body(problem), "device": device})
            assert one.json() == answer if answer is not None else one.status_code == 404


def test_columns_say_the_same_in_short(client: TestClient, context: Context, tmp_path: Path) -> None:
    tuned_now(context.database, tmp_path / "artifacts")
    other = GemmProblem(16, 8192, 96)
    whole = [LookupOut.model_validate(answer) for answer in ask(client, [HERE, other])["answers"]]
    for _ in range(2):
        told = ask(client, [HERE, other], form="columns")
        assert told["answers"] is None
        assert told["columns"] == {
            "source": [found.source for found in whole],
            "stale": [False, False],
            "confidence": [found.confidence.value for found in whole],
            "kernel": [str(whole[0].kernel.id) if whole[0].kernel else "", None],
            "time_us": [found.time.value if found.time else None for found in whole],
            "time_kind": ["measured", "predicted"],
            "config": [None, whole[1].model_dump(mode="json")["config"]],
        }


def test_misses_are_named_and_each_problem_may_have_its_device(client: TestClient) -> None:
    told = ask(client, [HERE, ODD, HERE], device=["b580", "max1100", "max1100"])
    assert [answer is None for answer in told["answers"]] == [False, True, False]
    (miss,) = told["misses"]
    assert (miss["index"], miss["why"]["rule"], miss["why"]["device"]) == (1, "dtype-pair", "max1100")
    assert str(ODD) in miss["why"]["detail"]


@pytest.mark.parametrize(
    ("change", "status", "rule"),
    [
        ({"device": ["b580"]}, 400, "batch-devices"),
        ({"device": "nothing"}, 400, "unknown-device"),
        ({"problems": []}, 422, "too-short"),
        ({"problems": [{"m": 1, "n": 1, "k": 1}] * 1001}, 422, "too-long"),
        ({"problems": [{"m": 8, "n": 8, "k": 8, "mm": 8}]}, 422, "unknown-field"),
        ({"form": "rows"}, 422, "not-one-of"),
    ],
)
def test_a_batch_that_cannot_be_meant_is_refused_by_a_rule(
    client: TestClient, change: dict[str, object], status: int, rule: str
) -> None:
    body = {"problems": [_body(HERE), _body(HERE)], "device": "b580"} | change
    for _ in range(2):
        answer = client.post(BATCH, json=body)
        assert (answer.status_code, answer.json()["rule"]) == (status, rule)


def test_an_unknown_device_of_a_list_is_named_by_its_index(client: TestClient) -> None:
    answer = client.post(BATCH, json={"problems": [_body(HERE)] * 3, "device": ["b580", "nothing", "nowhere"]}).json()
    assert [fault["field"] for fault in answer["errors"]] == ["device.1"]
    assert answer["detail"].startswith("device.1: no device is known as 'nothing'")


def test_a_batch_queues_jobs_once_for_what_is_not_tuned(client: TestClient, context: Context, tmp_path: Path) -> None:
    tuned_now(context.database, tmp_path / "artifacts")
    fresh = [GemmProblem(16, 96, 640), GemmProblem(16, 8192, 96)]
    before = {job.id for job in jobs_of(context.database)}
    for _ in range(2):
        told = ask(client, [HERE, *fresh, ODD], tune="on_miss")
        queued = {job.id for job in jobs_of(context.database)} - before
        by_index = {job["index"]: job for job in told["jobs"]}
        assert {UUID(str(by_index[i]["job"])) for i in (1, 2)} <= queued
        assert len(queued) == sum(job["job"] is not None for job in told["jobs"])
        assert 0 not in by_index
        assert by_index[3]["job"] is None
        one = client.post("/v1/jobs", json={"problem": _body(ODD), "device": "b580"}).json()
        assert by_index[3]["refused"] == f"refused by rule {one['rule']}: {one['detail']}"


def test_what_was_asked_before_is_answered_without_the_functions_of_the_routes(
    client: TestClient, context: Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tuned_now(context.database, tmp_path / "artifacts")
    body, query = {"problem": _body(HERE), "device": "b580"}, {"m": 512, "n": 384, "k": 1024, "device": "b580"}

    def all_three() -> list[tuple[int, object]]:
        answers = client.post(ONE, json=body), client.get("/v1/kernels", params=query), client.post(BATCH, json=batch)
        return [(answer.status_code, answer.json()) for answer in answers]

    batch = {"problems": [_body(HERE)], "device": "b580"}
    all_three()  # who asks and which devices there are is known from then on
    first = all_three()
    assert [status for status, _ in first] == [200] * 3
    monkeypatch.setattr("service.api.kernels.lookup.routes.answer_all", None)
    assert all_three() == first
    assert client.post(ONE, json=body | {"device": "max1100"}).status_code == 500, "the function was called"


def test_no_answer_outlives_what_it_was_made_from(
    client: TestClient, context: Context, settings: Settings, clock: Clock, tmp_path: Path
) -> None:
    body = {"problem": _body(HERE), "device": "b580"}

    def found() -> LookupOut:
        (one, *_) = [client.post(ONE, json=body).json() for _ in range(2)]
        assert ask(client, [HERE])["answers"] == [one]
        return LookupOut.model_validate(one)

    assert found().source == "heuristic"
    job_id = tuned_now(context.database, tmp_path / "artifacts")
    assert found().source == "exact"
    elsewhere = open_database(settings.database_url)  # as another process has it
    with elsewhere.write() as session:
        session.execute(update(Measurement).values(median_us=12.0, min_us=12.0, p10_us=12.0))
    told = found().time
    assert told is not None
    assert told.value == 12.0
    with elsewhere.write() as session:
        session.execute(update(Job).where(Job.id == job_id).values(best_trial_id=None))
    assert found().source == "heuristic"
    tuned_now(elsewhere, tmp_path / "artifacts", GemmProblem(512, 384, 1536))
    elsewhere.close()
    assert found().source == "nearest"
    clock.step(days=800)
    assert any("days ago" in reason for reason in found().confidence.reasons)


def test_after_a_commit_one_thread_looks_and_all_are_answered_from_memory(
    client: TestClient, context: Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tuned_now(context.database, tmp_path / "artifacts")
    body = {"problem": _body(HERE), "device": "b580"}
    first = [client.post(ONE, json=body).json() for _ in range(2)][1]
    monkeypatch.setattr("service.api.kernels.lookup.routes.answer_all", None)
    looked: list[int] = []

    def look_late(session: Session, before: Mapping[str, int]) -> News:
        looked.append(1)
        time.sleep(0.3)  # all requests are there before it ends
        return news(session, before)

    monkeypatch.setattr("service.cache_invalidation.news", look_late)
    monkeypatch.setattr(context.freshness._watch, "news", lambda _before: None)  # as PostgreSQL's
    with context.database.write() as session:
        rows.add_device(session, "another")  # news that no answer here depends on
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: client.post(ONE, json=body).json(), range(8)))
    assert answers == [first] * 8
    assert len(looked) == 1


def test_lookups_of_what_was_never_tuned_are_bounded_and_others_are_not(
    client: TestClient, context: Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tuned_now(context.database, tmp_path / "artifacts")
    monkeypatch.setattr(context.lookups, "_most", 1)
    never = {"problem": _body(GemmProblem(40, 56, 72)), "device": "b580"}
    with context.lookups.one():
        answer = client.post(ONE, json=never)
        assert (answer.status_code, answer.json()["rule"], answer.headers["Retry-After"]) == (429, "lookups", "2")
        assert client.post(ONE, json={"problem": _body(HERE), "device": "b580"}).status_code == 200
    assert client.post(ONE, json=never).status_code == 200
    assert context.lookups.taken == 0


def test_a_database_that_cannot_be_read_is_told_by_the_routes(
    client: TestClient, context: Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tuned_now(context.database, tmp_path / "artifacts")
    body = {"problem": _body(HERE), "device": "b580"}
    assert [client.post(ONE, json=body).status_code for _ in range(2)] == [200, 200]

    def away() -> None:
        raise DatabaseUnavailable("it is away")

    monkeypatch.setattr(context.freshness, "refresh", away)
    monkeypatch.setattr(context.freshness._watch, "news", lambda _before: None)
    with context.database.write() as session:
        rows.add_device(session, "another")
    answer = client.post(ONE, json=body)
    assert (answer.status_code, answer.json()["detail"]) == (503, "it is away")


def test_a_kept_answer_ages_by_the_day(client: TestClient, context: Context, clock: Clock, tmp_path: Path) -> None:
    tuned_now(context.database, tmp_path / "artifacts")
    with context.database.write() as session:
        session.execute(update(Measurement).values(measured_at=clock.moment - timedelta(days=200, hours=23)))
    body = {"problem": _body(HERE), "device": "b580"}
    told: list[str] = []
    for _ in range(3):
        reasons = client.post(ONE, json=body).json()["confidence"]["reasons"]
        told += [reason.split()[-3] for reason in reasons if "days ago" in reason]
        clock.step(hours=1, seconds=1)
    assert told == ["200", "201", "201"]


def test_a_key_is_asked_for_again_the_moment_it_changes(client: TestClient, context: Context, tmp_path: Path) -> None:
    tuned_now(context.database, tmp_path / "artifacts")
    body = {"problem": _body(HERE), "device": "b580"}
    assert [client.post(ONE, json=body).status_code for _ in range(2)] == [200, 200]
    made = client.post("/v1/keys", json={"name": "ci", "scope": "admin"}).json()
    assert client.post(ONE, json=body).status_code == 401, "from the first key on all are asked"
    shown = {"Authorization": f"Bearer {made['key']}"}
    assert [client.post(ONE, json=body, headers=shown).status_code for _ in range(3)] == [200] * 3
    assert client.post(f"/v1/keys/{made['id']}/revoke", headers=shown).status_code == 200
    assert client.post(ONE, json=body, headers=shown).status_code == 401
    assert client.post(ONE, json=body).status_code == 401


def test_the_rate_counts_what_is_answered_from_memory(
    client: TestClient, context: Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tuned_now(context.database, tmp_path / "artifacts")
    body = {"problem": _body(HERE), "device": "b580"}
    assert client.post(ONE, json=body).status_code == 200
    limited = Rates(0.001, 2, lambda: 0.0)
    monkeypatch.setattr(context.rates, "take", limited.take)
    answers = [client.post(ONE, json=body) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert answers[-1].json()["rule"] == "rate"


def test_memory_is_bounded(context: Context, client: TestClient) -> None:
    context.answers._most_bytes = 20_000
    problems = [GemmProblem(64 + n, 96, 256) for n in range(12)]
    first = json.dumps(ask(client, problems))
    assert context.answers._bytes <= 20_000
    assert json.dumps(ask(client, problems)) == first


def test_an_invalid_problem_is_a_miss_and_the_others_are_answered(client: TestClient) -> None:
    body = {"problems": [_body(HERE), {"m": 8, "n": 48, "k": 16, "lda": 1}, _body(HERE)], "device": "b580"}
    for _ in range(2):
        told = client.post(BATCH, json=body).json()
        assert [answer is None for answer in told["answers"]] == [False, True, False]
        (miss,) = told["misses"]
        assert (miss["index"], miss["why"]["rule"], miss["why"]["problem"]) == (1, "invalid-problem", "8x48x16")
        assert miss["why"]["detail"].startswith("lda: expected")
    tuned = client.post(BATCH, json=body | {"tune": "on_miss"}).json()
    assert [job["job"] is None for job in tuned["jobs"]] == [False, True, False]
