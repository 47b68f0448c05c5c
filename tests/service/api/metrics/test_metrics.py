"""/metrics reports the database's contents and the requests served, under names that Prometheus accepts."""

from collections.abc import Iterable
from contextlib import nullcontext

import pytest
from fastapi.testclient import TestClient
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import update

from db.queries import metrics
from db.schema.change import Tallied
from db.schema.trial import Trial
from db.session import Database
from db.values import utc_now
from service.api.metrics.trials import TrialTally
from service.app import create_app
from service.cluster import local
from service.http.context import Context
from service.settings import Settings
from tests.db import rows
from tests.faults.jobs import Place, queue
from tests.service.api.keys.test_keys import bearer, make_key
from tests.service.cluster.job_loop import run_jobs
from tests.service.rest import BODY, Clock, invented_devices, post_job
from tests.tuner.fakes import FakeCompiler


def families(client: TestClient, **headers: str) -> dict[str, Metric]:
    """Return the families of /metrics by name."""
    answer = client.get("/metrics", headers=headers)
    assert answer.status_code == 200, answer.text
    return {family.name: family for family in text_string_to_metric_families(answer.text)}


def value(families: dict[str, Metric], sample: str, **labels: str) -> float | None:
    """Return the value of a sample with these labels, or None."""
    for family in families.values():
        for found in family.samples:
            if found.name == sample and found.labels == labels:
                return found.value
    return None


@pytest.fixture
def fresh(settings: Settings, clock: Clock) -> Iterable[TestClient]:
    """A client of a service that reads the database for each scrape."""
    app = create_app(settings.model_copy(update={"metrics_fresh_s": 0.0}), invented_devices, clock)
    yield TestClient(app)
    app.state.context.database.close()


def test_jobs_trials_and_the_best_are_counted(fresh: TestClient, context: Context, clock: Clock) -> None:
    empty = families(fresh)
    assert value(empty, "xetune_jobs", state="queued") == 0
    assert value(empty, "xetune_trials_total", outcome="measured") == 0
    assert value(empty, "xetune_queue_age_seconds") == 0
    post_job(fresh, seed=1)
    with context.database.write() as session:
        job = rows.add_job(session)
        measured = rows.add_measured(session, job, 0, 2.5)
        measured.compile_s, measured.measure_s = 0.2, 0.02
        job.best_trial_id = measured.id
        rows.add_predicted(session, job, 1, 3.0)
        rows.add_trial(session, job.id, 2)
    found = families(fresh)
    assert value(found, "xetune_jobs", state="queued") == 2
    assert value(found, "xetune_trials_total", outcome="measured") == 1
    assert value(found, "xetune_trials_total", outcome="predicted") == 1
    assert value(found, "xetune_trials_total", outcome="pending") is None
    best = 2 * 96 * 64 * 128 / 2.5 * 1e-6
    assert value(found, "xetune_best_tflops", device="opencl-cpu-as-b580", builtins="DPAS emulated") == pytest.approx(
        best
    )
    bucket = "xetune_trial_compile_seconds_bucket"
    assert [value(found, bucket, le=end) for end in ("0.1", "0.3", "+Inf")] == [0, 1, 1]
    assert value(found, "xetune_trial_compile_seconds_sum") == pytest.approx(0.2)
    assert value(found, "xetune_trial_verify_seconds_count") == 0
    assert value(found, "xetune_database_up") == 1


def test_lookups_are_counted_by_what_was_found_and_whether_it_was_kept(client: TestClient) -> None:
    one = {"problem": BODY["problem"], "device": "b580"}
    for _ in range(3):
        assert client.post("/v1/kernels/lookup", json=one).status_code == 200
    two = [{"m": 96, "n": 160, "k": 64, "dtype_a": "f16", "dtype_b": "f16"}, BODY["problem"]]
    assert client.post("/v1/kernels/lookup/batch", json={"problems": two, "device": "b580"}).status_code == 200
    found = families(client)
    assert value(found, "xetune_lookup_cache_total", result="miss") == 2
    assert value(found, "xetune_lookup_cache_total", result="hit") == 3
    assert sum(sample.value for sample in found["xetune_lookups"].samples if sample.name == "xetune_lookups_total") == 5


def test_kernels_that_jobs_compiled_or_found_compiled_are_added_up(
    fresh: TestClient, context: Context, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert value(families(fresh), "xetune_compile_cache_total", result="hit") == 0
    queue(context.database)
    run_at, compiler = place.run_at(), FakeCompiler()
    compiler.uses.hits, compiler.uses.misses = 3, 7
    monkeypatch.setattr(local, "CompilePool", lambda *_: nullcontext(compiler))
    assert run_jobs(context.database, place.settings(), run_at, place.local()) == 1
    misses = 7 + len(compiler.begun)
    assert value(families(fresh), "xetune_compile_cache_total", result="hit") == 3
    assert value(families(fresh), "xetune_compile_cache_total", result="miss") == misses
    with context.database.write() as session:
        metrics.count(session, {Tallied.COMPILE_CACHE_HITS: 2, Tallied.COMPILE_CACHE_MISSES: 0})
    with context.database.read() as session:
        assert metrics.counts(session) == {Tallied.COMPILE_CACHE_HITS: 5, Tallied.COMPILE_CACHE_MISSES: misses}


def test_requests_are_counted_by_the_template_of_their_route(client: TestClient) -> None:
    job_id = post_job(client)
    for path in (f"/v1/jobs/{job_id}", "/v1/jobs/00000000-0000-0000-0000-000000000000", "/v1/nothing", "/%ff"):
        client.get(path)
    client.request("BREW", "/v1/jobs")
    found = families(client)
    total = "xetune_http_requests_total"
    assert value(found, total, method="GET", route="/v1/jobs/{job_id}", status="200") == 1
    assert value(found, total, method="GET", route="/v1/jobs/{job_id}", status="404") == 1
    assert value(found, total, method="GET", route="none", status="404") == 2
    assert value(found, total, method="POST", route="/v1/jobs", status="202") == 1
    assert value(found, "xetune_http_request_seconds_count", method="GET", route="/v1/jobs/{job_id}") == 2
    assert value(found, "xetune_http_request_seconds_bucket", method="GET", route="none", le="30.0") == 2
    assert 0 < (value(found, "xetune_http_request_seconds_sum", method="GET", route="none") or 0) < 30
    assert {s.labels["method"] for s in found["xetune_http_requests"].samples} <= {"GET", "POST", "other"}
    info = found["xetune_build_info"].samples[0]
    assert info.value == 1
    assert {"version", "xetune_codegen", "python"} <= info.labels.keys()


def test_metrics_need_a_key_unless_scraping_from_this_machine_is_open(
    settings: Settings, clock: Clock, context: Context
) -> None:
    key = make_key(context, "read")
    for is_open, address, status in (
        (False, "127.0.0.1", 401),
        (True, "127.0.0.1", 200),
        (True, "192.0.2.7", 401),
    ):
        changed = settings.model_copy(update={"metrics_open_on_loopback": is_open})
        app = create_app(changed, invented_devices, clock)
        client = TestClient(app, client=(address, 5000))
        assert client.get("/metrics").status_code == status
        assert client.get("/metrics", headers=bearer(key)).status_code == 200
        assert client.get("/v1/jobs").status_code == 401
        assert client.get("/metrics", headers={"X-Forwarded-For": "192.0.2.7"}).status_code == 401
        app.state.context.database.close()


def test_without_its_database_a_service_says_that_and_what_it_counts_itself(settings: Settings, clock: Clock) -> None:
    url = f"sqlite:///{settings.data_dir / 'none.sqlite'}"
    app = create_app(settings.model_copy(update={"database_url": url}), invented_devices, clock)
    collected = {family.name: family for family in app.state.context.metrics.registry.collect()}
    assert value(collected, "xetune_database_up") == 0
    assert "xetune_http_requests" in collected
    assert "xetune_jobs" not in collected


def test_a_tally_counts_each_trial_once_also_those_that_end_late(database: Database) -> None:
    tally = TrialTally(database, recent=2, step=3)
    with database.write() as session:
        jobs = [rows.add_job(session, m=m) for m in (96, 112)]
        ids = [rows.add_trial(session, jobs[n % 2].id, n).id for n in range(20)]
    assert tally.refresh().ended == {}

    def end(some: list[int], compile_s: float) -> None:
        ended = {"status": "rejected", "reason": "spill", "ended_at": utc_now(), "compile_s": compile_s}
        with database.write() as session:
            session.execute(update(Trial).where(Trial.id.in_(some)).values(**ended))

    end(ids[3:9:2], 0.25)
    found = tally.refresh()
    assert found.ended == {"rejected": 3}
    assert found.phases["compile"].sum_s == pytest.approx(0.75)
    end([*ids[0:3], ids[19]], 2.0)
    for _ in range(2):
        found = tally.refresh()
        assert found.ended == {"rejected": 7}
        assert (found.phases["compile"].number, found.phases["compile"].at_most[4]) == (7, 3)
    with database.read() as session:
        assert found == metrics.trials_of(session, Trial.id > 0)
