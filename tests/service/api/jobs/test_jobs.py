"""Jobs over REST: queued once, read, paged, cancelled; bad requests are refused with the rule's name."""

import json
import math
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from fastapi.testclient import TestClient

from db.queries import jobs
from db.queries.cluster import leases
from db.queries.results import predictions
from service.api.jobs.schemas import DonorOut
from service.http.context import Context
from service.schemas import ProblemBody
from service.settings import Settings
from tests.db.rows import add_measured, add_predicted, add_trial, predict
from tests.service.http.test_limits import client_of
from tests.service.rest import BODY, PROBLEM, Clock, jobs_of, post_job, row_of
from tests.tuner.fakes import cpu_spec


def test_a_job_is_queued_and_found_where_location_says(client: TestClient) -> None:
    answer = client.post("/v1/jobs", json=BODY)
    assert answer.status_code == 202
    assert answer.headers["location"] == answer.json()["links"]["self"]
    job = client.get(answer.headers["location"]).json()
    assert (job["status"], job["device"], job["done"], job["best"]) == ("queued", "b580", 0, None)
    assert {key: job["problem"][key] for key in PROBLEM} == PROBLEM
    assert job["problem"]["lda"] == 1024
    budget = {"trials": 20, "seconds": 60.0, "no_gain": None, "roofline": None}
    assert (job["budget"], job["seed"], job["search"]) == (budget, 7, "portfolio")


def test_a_body_may_say_one_type_of_a_and_b_by_any_of_its_names(client: TestClient) -> None:
    sizes = {name: PROBLEM[name] for name in "mnk"}
    job = client.get(f"/v1/jobs/{post_job(client, problem=sizes | {'dtype': 'bfloat16'})}").json()
    assert (job["problem"]["dtype_a"], job["problem"]["dtype_b"], "dtype" in job["problem"]) == ("bf16", "bf16", False)
    mixed = client.get(f"/v1/jobs/{post_job(client, problem=sizes | {'dtype': 'int8', 'dtype_a': 'u8'})}").json()
    assert (mixed["problem"]["dtype_a"], mixed["problem"]["dtype_b"]) == ("u8", "s8")


def test_the_same_work_is_one_job_while_it_is_active(client: TestClient, context: Context) -> None:
    first = post_job(client)
    again = client.post("/v1/jobs", json=BODY)
    assert (again.status_code, again.headers["location"]) == (200, f"/v1/jobs/{first}")
    assert post_job(client, seed=8) != first
    assert post_job(client, budget={"trials": 21, "seconds": 60}) != first
    client.post(f"/v1/jobs/{first}/cancel")
    assert post_job(client) != first
    assert len(jobs_of(context.database)) == 4


def test_auto_is_the_cpu_and_with_a_target_that_standing_in_for_it(client: TestClient) -> None:
    job = client.get(f"/v1/jobs/{post_job(client, device='auto', target='lunar-lake')}").json()
    assert job["device"] == "opencl-cpu-as-lunar-lake"
    assert client.get(f"/v1/jobs/{post_job(client, device='auto')}").json()["device"] == cpu_spec().id
    assert client.get(f"/v1/jobs/{post_job(client, device='opencl-cpu')}").json()["device"] == "opencl-cpu-as-b580"


RELU = {"kind": "relu"}
CLIP = {"kind": "clip", "value": 6.0, "high": 1.0}


@pytest.mark.parametrize(
    ("change", "status", "rule", "field"),
    [
        ({"problem": PROBLEM | {"m": 0}}, 400, "invalid-problem", "problem.m"),
        ({"problem": PROBLEM | {"n": -3}}, 400, "invalid-problem", "problem.n"),
        ({"problem": PROBLEM | {"k": 2**24 + 1}}, 400, "invalid-problem", "problem.k"),
        ({"problem": PROBLEM | {"k": 10**40}}, 400, "invalid-problem", "problem.k"),
        ({"problem": PROBLEM | {"lda": 5}}, 400, "invalid-problem", "problem.lda"),
        ({"problem": PROBLEM | {"m": 10**9}}, 400, "invalid-problem", "problem.m"),
        ({"problem": PROBLEM | {"ldb": 383}}, 400, "invalid-problem", "problem.ldb"),
        ({"problem": PROBLEM | {"batch": 2, "batch_stride_c": 5}}, 400, "invalid-problem", "problem.batch_stride_c"),
        (
            {"problem": PROBLEM | {"batch": 2, "batch_stride_a": 10**30}},
            400,
            "invalid-problem",
            "problem.batch_stride_a",
        ),
        ({"problem": PROBLEM | {"epilogue": [{"kind": "clip"}]}}, 400, "invalid-problem", "problem.epilogue.0"),
        ({"problem": PROBLEM | {"epilogue": [RELU, CLIP]}}, 400, "invalid-problem", "problem.epilogue.1"),
        (
            {"problem": PROBLEM | {"epilogue": [RELU, {"kind": "add", "ld": 5}]}},
            400,
            "invalid-problem",
            "problem.epilogue",
        ),
        (
            {"problem": PROBLEM | {"epilogue": [{"kind": "alpha", "value": 1e300}]}},
            400,
            "invalid-problem",
            "problem.epilogue.0",
        ),
        ({"problem": PROBLEM | {"epilogue": [RELU] * 100}}, 422, "too-long", "problem.epilogue"),
        ({"problem": PROBLEM | {"epilogue": [{"kind": "relux"}]}}, 422, "not-one-of", "problem.epilogue.0.kind"),
        (
            {"problem": PROBLEM | {"epilogue": [RELU | {"slope": 1}]}},
            422,
            "unknown-field",
            "problem.epilogue.0.slope",
        ),
        ({"problem": PROBLEM | {"deterministic": 1}}, 422, "not-a-boolean", "problem.deterministic"),
        ({"problem": PROBLEM | {"dtype_a": "u8", "dtype_b": "tf32"}}, 409, "dtype-pair", None),
        ({"problem": PROBLEM | {"m": 1.5}}, 422, "not-an-integer", "problem.m"),
        ({"problem": PROBLEM | {"m": 512.0}}, 422, "not-an-integer", "problem.m"),
        ({"problem": PROBLEM | {"m": "512"}}, 422, "not-an-integer", "problem.m"),
        ({"problem": PROBLEM | {"m": True}}, 422, "not-an-integer", "problem.m"),
        ({"problem": PROBLEM | {"dtype_a": "f15"}}, 422, "not-one-of", "problem.dtype_a"),
        ({"problem": {"m": 5, "n": 6, "k": 7, "dtype": "f15"}}, 422, "not-one-of", "problem.dtype"),
        ({"problem": PROBLEM | {"mm": 5}}, 422, "unknown-field", "problem.mm"),
        ({"problem": {"m": 5, "n": 6}}, 422, "missing", "problem.k"),
        ({"problem": PROBLEM | {"dtype_a": "bf16"}}, 409, "dtype-pair", None),
        ({"problem": PROBLEM | {"dtype_acc": "f16"}}, 409, "dtype-pair", None),
        ({"problem": PROBLEM | {"dtype_c": "tf32"}}, 409, "dtype-pair", None),
        ({"problem": PROBLEM | {"alignment": 1}}, 409, "alignment", None),
        ({"problem": PROBLEM | {"m": 2**22, "n": 2**22}}, 400, "problem-bytes", "problem"),
        ({"problem": PROBLEM | {"m": 2**17, "n": 2**17}}, 409, "memory", None),
        ({"device": "wildcat-lake"}, 409, "device-target", None),
        ({"device": "max1350"}, 409, "cannot-predict", None),
        ({"device": "max1450"}, 409, "cannot-predict", None),
        ({"objective": "time-energy"}, 409, "no-energy", None),
        ({"objective": "time-energy", "search": "tpe"}, 409, "contrary-objective", None),
        ({"objective": "time", "search": "nsga2"}, 409, "contrary-objective", None),
        ({"search": "hope"}, 409, "unknown-search", None),
        ({"search": "GridSampler"}, 409, "unknown-search", None),
        ({"search": "os:path"}, 400, "sampler", "search"),
        ({"search": "s" * 201}, 422, "too-long", "search"),
        ({"device": "nosuch"}, 400, "unknown-device", "device"),
        ({"device": "simulated-driver-b580"}, 400, "unknown-device", "device"),
        ({"device": "auto", "target": "nosuch"}, 400, "unknown-device", "target"),
        ({"device": "b580", "target": "b70"}, 400, "unknown-device", "target"),
        ({"device": "nosuch", "target": "b580"}, 400, "unknown-device", "device"),
        ({"device": ""}, 422, "too-short", "device"),
        ({"budget": {"trials": 0, "seconds": 60}}, 400, "budget", "budget.trials"),
        ({"budget": {"trials": 10**9, "seconds": 60}}, 400, "budget", "budget.trials"),
        ({"budget": {"trials": 20, "seconds": 0}}, 400, "budget", "budget.seconds"),
        ({"budget": {"trials": 20, "seconds": -1.5}}, 400, "budget", "budget.seconds"),
        ({"budget": {"trials": 2.5, "seconds": 60}}, 422, "not-an-integer", "budget.trials"),
        ({"seed": -1}, 422, "too-small", "seed"),
        ({"seed": 2**63}, 422, "too-large", "seed"),
        ({"colour": "red"}, 422, "unknown-field", "colour"),
    ],
    ids=lambda value: json.dumps(value)[:60] if isinstance(value, dict) else None,
)
def test_bad_requests_are_problems_that_name_the_rule_and_the_field(
    client: TestClient, context: Context, change: dict[str, object], status: int, rule: str | None, field: str | None
) -> None:
    answer = client.post("/v1/jobs", json=BODY | change)
    problem = answer.json()
    assert (answer.status_code, problem["status"], problem.get("rule")) == (status, status, rule)
    assert answer.headers["content-type"] == "application/problem+json"
    assert problem["instance"] == "/v1/jobs"
    assert [fault["field"] for fault in problem.get("errors", [])] == ([field] if field is not None else [])
    assert jobs_of(context.database) == []


def test_a_constant_that_is_no_number_is_malformed(client: TestClient) -> None:
    text = json.dumps(BODY | {"problem": PROBLEM | {"epilogue": [{"kind": "alpha", "value": math.nan}]}})
    answer = client.post("/v1/jobs", content=text, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "problem.epilogue.0.value")


def test_too_many_active_jobs_are_refused(client: TestClient, context: Context) -> None:
    object.__setattr__(context, "settings", context.settings.model_copy(update={"max_active_jobs": 2}))
    first = post_job(client, seed=1)
    post_job(client, seed=2)
    answer = client.post("/v1/jobs", json=BODY | {"seed": 3})
    assert (answer.status_code, answer.json()["rule"]) == (429, "active-jobs")
    assert answer.headers["retry-after"] == "30"
    assert post_job(client, seed=1) == first


def test_jobs_are_paged_newest_first_and_filtered(client: TestClient) -> None:
    made = [post_job(client, seed=seed) for seed in range(5)]
    client.post(f"/v1/jobs/{made[1]}/cancel")
    seen, query = [], {"limit": 2}
    while True:
        page = client.get("/v1/jobs", params=query).json()
        seen += [UUID(job["id"]) for job in page["jobs"]]
        if page["next_before"] is None:
            break
        query = {"limit": 2, "before": page["next_before"]}
    assert seen == sorted(made, reverse=True)
    cancelled = client.get("/v1/jobs", params={"status": "cancelled"}).json()["jobs"]
    assert [UUID(job["id"]) for job in cancelled] == [made[1]]
    assert client.get("/v1/jobs", params={"status": "lost"}).status_code == 422
    assert client.get("/v1/jobs", params={"limit": 0}).status_code == 422


def test_progress_shows_counts_and_the_best_with_its_evidence(client: TestClient, context: Context) -> None:
    job_id = post_job(client)
    with context.database.write() as session:
        assert leases.claim(session, job_id, "w", 60.0) is not None
        row = row_of(session, job_id)
        add_measured(session, row, 0, 500.0)
        row.best_trial_id = add_measured(session, row, 1, 400.0).id
        add_trial(session, job_id, 2)
    job = client.get(f"/v1/jobs/{job_id}").json()
    assert (job["counts"], job["done"], job["status"]) == ({"measured": 2, "pending": 1}, 2, "running")
    best = job["best"]
    assert best["number"] == 1
    assert best["evidence"]["time"] == {
        "kind": "measured",
        "unit": "us",
        "basis": "single",
        "value": 400.0,
        "low": 399.5,
        "high": 401.0,
        "label": "DPAS emulated",
        "samples": 30,
        "driver": "1.2",
        "stopped_early": None,
        "first_ratio": None,
        "clock_mhz": None,
        "energy_uj": None,
        "origin": None,
    }
    assert best["evidence"]["proof"] == {
        "kind": "simulator",
        "checked": 5,
        "total": 6,
        "max_error": 0.25,
        "tolerance": 0.5,
        "method": None,
        "refusal": None,
    }
    assert best["tflops"] == pytest.approx(2 * 512 * 384 * 1024 / 400e-6 / 1e12)


def test_a_second_objective_is_nsga_2s_and_kept(client: TestClient, context: Context) -> None:
    job_id = post_job(client, objective="time-memory")
    job = client.get(f"/v1/jobs/{job_id}").json()
    assert (job["search"], job["objective"]) == ("nsga2", "time-memory")
    plain = client.get(f"/v1/jobs/{post_job(client)}").json()
    assert (plain["search"], plain["objective"]) == ("portfolio", "time")
    with context.database.read() as session:
        row = row_of(session, job_id)
        assert row.objective == "time-memory"


def test_trials_are_read_by_cursor(client: TestClient, context: Context) -> None:
    job_id = post_job(client)
    with context.database.write() as session:
        for number in range(5):
            add_trial(session, job_id, number)
    first = client.get(f"/v1/jobs/{job_id}/trials", params={"limit": 3}).json()
    assert ([t["number"] for t in first["trials"]], first["next_after"]) == ([0, 1, 2], 2)
    rest = client.get(f"/v1/jobs/{job_id}/trials", params={"limit": 3, "after": 2}).json()
    assert ([t["number"] for t in rest["trials"]], rest["next_after"]) == ([3, 4], None)


def test_what_was_predicted_is_shown_beside_what_was_measured(client: TestClient, context: Context) -> None:
    job_id = post_job(client)
    with context.database.write() as session:
        job = row_of(session, job_id)
        add_measured(session, job, 0, 50.0)
        predict(session, add_measured(session, job, 1, 40.0), 30.0)
        add_predicted(session, job, 2, 20.0)
        predictions.judge(session, job.problem_id, "b580")
    plain, both, predicted = client.get(f"/v1/jobs/{job_id}/trials").json()["trials"]
    assert (plain["evidence"]["time"]["value"], plain["predicted"]) == (50.0, None)
    assert (both["evidence"]["time"]["kind"], both["evidence"]["time"]["value"]) == ("measured", 40.0)
    assert {key: both["predicted"][key] for key in ("kind", "low", "value", "high", "label")} == {
        "kind": "predicted",
        "low": 29.0,
        "value": 30.0,
        "high": 31.0,
        "label": "1",
    }
    assert (both["prediction_error"], both["measured"], both["measured_by"]) == (4 / 3, both["evidence"]["time"], None)
    assert (predicted["evidence"]["time"], predicted["measured"]) == (predicted["predicted"], None)
    assert (predicted["prediction_error"], plain["prediction_error"]) == (None, None)


def test_a_job_that_only_predicted_is_corrected_by_what_another_measured(client: TestClient, context: Context) -> None:
    asked, there = post_job(client), post_job(client, seed=1)
    with context.database.write() as session:
        for number, time_us in enumerate((10.0, 20.0, 30.0)):
            add_predicted(session, row_of(session, asked), number, time_us)
        for number, median_us in ((0, 90.0), (1, 25.0)):
            add_measured(session, row_of(session, there), number, median_us)
        predictions.judge(session, row_of(session, asked).problem_id, "b580")
    trials = client.get(f"/v1/jobs/{asked}/trials").json()["trials"]
    assert [trial["prediction_error"] for trial in trials] == [9.0, 1.25, None]
    assert [trial["status"] for trial in trials] == ["predicted"] * 3
    assert trials[1]["measured_by"] == str(there)
    assert trials[1]["measured"]["value"] == 25.0
    assert client.get(f"/v1/jobs/{asked}").json()["best"]["number"] == 1
    found = client.get("/v1/kernels", params={**PROBLEM, "device": "b580"}).json()
    assert found["kernel"]["job"] == str(there)
    assert (found["kernel"]["evidence"]["time"]["kind"], found["kernel"]["evidence"]["time"]["value"]) == (
        "measured",
        25.0,
    )
    assert found["unmeasured"] == 0, "the third is predicted to take 30 us"


def test_a_queued_job_is_cancelled_at_once_and_a_running_one_is_told(client: TestClient, context: Context) -> None:
    queued, running = post_job(client, seed=1), post_job(client, seed=2)
    with context.database.write() as session:
        leases.claim(session, running, "w", 60.0)
    assert client.post(f"/v1/jobs/{queued}/cancel").json()["status"] == "cancelled"
    told = client.post(f"/v1/jobs/{running}/cancel").json()
    assert (told["status"], told["cancel_requested"]) == ("running", True)
    assert client.post(f"/v1/jobs/{queued}/cancel").json()["status"] == "cancelled"
    with context.database.read() as session:
        assert jobs.count_by_status(session) == {"cancelled": 1, "running": 1}


@pytest.mark.parametrize(("method", "tail"), [("GET", ""), ("GET", "/trials"), ("GET", "/events"), ("POST", "/cancel")])
def test_a_job_that_does_not_exist_is_a_404_problem(client: TestClient, method: str, tail: str) -> None:
    answer = client.request(method, f"/v1/jobs/{uuid4()}{tail}")
    assert (answer.status_code, answer.json()["type"]) == (404, "urn:xetune:problem:not-found")
    assert client.request(method, f"/v1/jobs/7{tail}").status_code == 422


def test_a_sampler_of_a_user_that_the_settings_list_is_stored_by_its_name(
    settings: Settings, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "listed_samplers.py").write_text(
        "from optuna.samplers import RandomSampler\n\n\nclass Mine(RandomSampler):\n    pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    listed = "listed_samplers:Mine"
    client = client_of(settings, clock, samplers=f"other.module:Other, {listed}")
    made = post_job(client, search=listed)
    assert client.get(f"/v1/jobs/{made}").json()["search"] == listed
    refused = client.post("/v1/jobs", json=BODY | {"search": "listed_samplers:Another"})
    assert (refused.status_code, refused.json()["rule"]) == (400, "sampler")


def test_how_a_job_searches_and_when_it_has_found_enough_is_kept(client: TestClient) -> None:
    budget = {"trials": 20, "seconds": 60.0, "no_gain": 9}
    made = post_job(client, budget=budget, search="gp")
    found = client.get(f"/v1/jobs/{made}").json()
    assert (found["search"], found["budget"]["no_gain"], found["budget"]["roofline"]) == ("gp", 9, None)
    refused = client.post("/v1/jobs", json={"problem": {"m": 24, "n": 40, "k": 56}, "search": "model"})
    assert (refused.status_code, refused.json()["rule"]) == (409, "no-predictions")


def test_the_problem_of_a_warm_start_is_read_from_json_as_a_problem() -> None:
    problem = {"m": 64, "n": 96, "k": 128}
    said = {"trial": 7, "device": "b580", "distance": 1.0, "problem": problem}
    assert DonorOut.model_validate_json(json.dumps(said)).problem == ProblemBody.model_validate(problem)
    later = {"problem": {"sizes": [64, 96, 128]}}
    assert DonorOut.model_validate_json(json.dumps(said | later)).problem == later["problem"]


@pytest.mark.parametrize(
    ("times", "rule", "sentence"),
    [
        ((100.3, 100.0, 140.0), "default", "the default is kept: trial 1 gains 0.3% by prediction, within the reso"),
        ((100.0, 104.0, 140.0), "default", "the default has the least time of 2 trials within 7%, which the model"),
        ((140.0, 100.0, 104.0), "burden", "by occupancy, prefetch and messages, of 2 trials within 7%, which"),
        ((140.0, 100.0, 120.0), None, None),
    ],
)
def test_a_choice_among_predictions_that_are_not_told_apart_is_explained(
    client: TestClient, context: Context, times: tuple[float, ...], rule: str | None, sentence: str | None
) -> None:
    job_id, other = post_job(client), post_job(client, seed=8)
    with context.database.write() as session:
        for number, time_us in enumerate(times):
            add_predicted(session, row_of(session, job_id), number, time_us)
            add_measured(session, row_of(session, other), number, time_us)
    listed = {UUID(job["id"]): job["choice"] for job in client.get("/v1/jobs").json()["jobs"]}
    assert client.get(f"/v1/jobs/{job_id}").json()["choice"] == listed[job_id]
    page = client.get(f"/jobs/{job_id}").text
    assert listed[other] is None
    if sentence is None:
        assert listed[job_id] is None
        assert "<dt>Choice</dt>" not in page
        return
    choice = listed[job_id]
    assert (choice["rule"], choice["trials"], choice["least_us"], choice["resolution"]) == (rule, 2, 100.0, 1.07)
    assert choice["sentence"].startswith(sentence)
    assert f"<dt>Choice</dt><dd>{sentence}" in page
