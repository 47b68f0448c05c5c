"""Pages of problems and devices: what they are read from and what their charts hold."""

import math
import re
from typing import cast
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select, update

from codegen.serialization import to_json
from db.queries import jobs, quarantines
from db.queries.results import predictions
from db.schema.job import Job
from db.schema.trial import Measurement, Trial
from db.session import Database
from db.values import JsonObject
from hal.facts.xe import XE_DEVICES
from service.dashboard.problems.fields import fields_of
from service.dashboard.problems.importance import shares
from service.device_json import spec_to_json
from tests.service import dashboard_rows as rows
from tests.service.dashboard.test_dashboard_pages import app, client, database, text_of
from tests.tuner.space.cpu.cpus import OLD
from tuner.model.cpu_roof import CpuRates, MultiplyRate

__all__ = ["app", "client", "database"]


@pytest.fixture
def page(client: TestClient, database: Database) -> str:
    """The address of a problem on a B60 with two jobs: one measured and predicted, one predicted alone."""
    with database.write() as session:
        problem, gpu = rows.add_problem(session), rows.add_device(session, "b60", None)
        gpu.spec = spec_to_json(next(device.spec for device in XE_DEVICES if device.spec.id == "b60"))
        foreseen, job = rows.add_job(session, problem, gpu), rows.add_job(session, problem, gpu)
        kernel = rows.add_kernel(session, job, problem)
        for number, median_us in enumerate((90.0, 40.0, 50.0, *(60.0 + n for n in range(20)))):
            trial = rows.add_measured(session, job, number, median_us, kernel.id, "native")
            rows.predict(session, trial, 30.0 if number == 2 else 80.0)
        rows.add_predicted(session, foreseen, 0, 25.0)
        rows.add_predicted(session, foreseen, 100, 20.0)
        predictions.judge(session, problem.id, "b60")
        for of in (job, foreseen):
            jobs.update_best(session, of.id)
    (found,) = re.findall(r'href="(/problems/[^"]+/on/b60)"', client.get("/problems").text)
    return found


def test_default_model_and_tuned_are_held_against_each_other(client: TestClient, page: str) -> None:
    chart = client.get(f"{page}/charts/choices").json()
    bars = {series["evidence"]: {row[0]: row[1] for row in series["rows"]} for series in chart["series"]}
    assert bars["measured"] == {"default": 90.0, "model's choice": 50.0, "tuned": 40.0}
    assert bars["predicted"] == {"default": 80.0, "model's choice": 30.0, "tuned": 80.0}
    seen = text_of(client.get(page).text)
    assert "model's choice 50.00 µs 47.50 µs to 55.00 µs single measurement on b60 1.25x single measurements" in seen
    assert "25 of 124 trials of 2 jobs have a time" in seen


def test_a_problem_tells_what_its_jobs_tell_of_their_best(client: TestClient, database: Database, page: str) -> None:
    with database.write() as session:
        measured = session.scalars(select(Job).join(Trial, Trial.job_id == Job.id).join(Measurement).limit(1)).one()
        jobs.set_best(session, measured.id, 2)
        jobs.set_comparison(session, measured.id, default_us=60.0, best_us=48.0)
    seen = text_of(client.get(page).text)
    assert "default 60.00 µs measured interleaved on b60 1.25x interleaved" in seen
    assert "tuned 48.00 µs measured interleaved on b60 1.00x interleaved" in seen
    assert "default 60.00 µs, best 48.00 µs, interleaved" in seen, "its list of jobs has the same times"
    assert "model's choice 50.00 µs 47.50 µs to 55.00 µs single measurement on b60 1.00x single measurements" in seen
    bars = client.get(f"{page}/charts/choices").json()["series"][0]["rows"]
    assert [row[:3] for row in bars] == [
        ["default", 60.0, "interleaved"],
        ["model's choice", 50.0, "single measurement"],
        ["tuned", 48.0, "interleaved"],
    ]
    assert "48.00 µs 8,389 GFLOP/s measured interleaved 2" in text_of(client.get("/problems").text)


def test_a_problem_warns_of_times_that_spread_widely(client: TestClient, database: Database, page: str) -> None:
    warning = "Times of this configuration spread by 30%. Measure it again on a quiet machine."
    with database.write() as session:
        (best,) = session.scalars(select(Measurement).where(Measurement.median_us == 40.0))
        best.p90_us = 50.0  # p10 is 38
    choices, _, rest = text_of(client.get(page).text).partition("Every trial")
    assert choices.count(warning) == 1
    assert f"single measurement on b60 {warning} 1.00x" in choices
    assert "single measurement on b60 Times of the best spread by 30%." in rest, "its list of jobs has the same"


def test_a_roofline_has_every_trial_under_limits_of_the_device(client: TestClient, page: str) -> None:
    chart = client.get(f"{page}/charts/roofline").json()
    names = {series["name"]: series for series in chart["series"]}
    assert len(names["measured"]["rows"]) == 23
    limit = names["limit of the multiply units"]["rows"]
    # 20 cores of 8 engines at 128 multiply-adds a clock and 2400 MHz.
    assert [row[1] for row in limit] == pytest.approx([2 * 20 * 8 * 128 * 2400e6 / 1e12] * 2, rel=1e-5)
    memory = names["limit of memory, as sold"]["rows"]
    assert all(math.isclose(rate, intensity * 456e9 / 1e12, rel_tol=1e-5) for intensity, rate, *_ in memory)
    fastest = max(names["measured"]["rows"], key=lambda row: row[1])
    assert fastest[1] == pytest.approx(2 * 512 * 384 * 1024 / 40.0 / 1e6, rel=1e-5)


def test_a_roofline_of_a_cpu_has_the_measured_limits(client: TestClient, database: Database) -> None:
    with database.write() as session:
        device = rows.add_device(session, "a-cpu", None)
        device.spec, device.rates = (
            spec_to_json(OLD),
            cast("JsonObject", to_json(CpuRates((MultiplyRate("avx2 f32", 2e11),), 4e10))),
        )
        job = rows.add_job(session, problem := rows.add_problem(session), device)
        rows.add_measured(session, job, 0, 4000.0, rows.add_kernel(session, job, problem).id, "native")
    (page,) = re.findall(r'href="(/problems/[^"]+/on/a-cpu)"', client.get("/problems").text)
    chart = client.get(f"{page}/charts/roofline").json()
    names = {series["name"]: [row[:2] for row in series["rows"]] for series in chart["series"]}
    assert [rate for _, rate in names["limit of the multiply units (avx2 f32), measured"]] == [0.2, 0.2]
    memory = names["limit of memory, measured"]
    assert all(math.isclose(rate, intensity * 0.04, rel_tol=1e-5) for intensity, rate in memory)
    seen = text_of(client.get("/devices/a-cpu").text)
    assert "avx2 f32 multiplies 200.0 GFLOP/s measured on all cores, when a job first used it" in seen
    assert "memory reads 40.0 GB/s measured" in seen


def test_charts_of_parameters_are_of_measured_trials(client: TestClient, page: str) -> None:
    heat = client.get(f"{page}/charts/heat?x=block%20m&y=block%20k").json()
    (cells,) = heat["series"]
    assert cells["evidence"] == "measured"
    assert sum(row[3] for row in cells["rows"]) == 23
    assert min(row[2] for row in cells["rows"]) == 40.0
    paths = client.get(f"{page}/charts/parallel").json()
    assert {series["evidence"] for series in paths["series"]} == {"measured"}
    assert len(paths["series"][0]["rows"]) == 23
    judged = client.get(f"{page}/charts/judged").json()
    assert judged["note"].endswith("of 23 within the interval.")
    assert "<label>Y <select" in client.get(f"{page}?x=block%20m&y=block%20k").text
    unknown = client.get(f"{page}/charts/heat?x=nonsense&y=block%20k")
    assert unknown.status_code == 404
    assert "no trial has the parameter &#39;nonsense&#39;; there are block k, " in unknown.text
    assert "X: expected one of " in client.get(f"{page}?x=nonsense&y=block%20k").text


def test_what_explains_times_is_found_and_chance_is_not() -> None:
    fields = [
        {"tile": tile, "coin": tile * 7 % 3 % 2, "same": 1, "each": n} for n, tile in enumerate([1, 2, 4, 8] * 10)
    ]
    times = [100.0 * of["tile"] * (1 + 0.01 * (n % 5)) for n, of in enumerate(fields)]
    found = {share.name: share for share in shares(fields, times)}
    assert found["tile"].share > 0.99
    assert found["tile"].values == 4
    assert set(found) == {"tile", "coin"}, "not what is always the same, nor what never is"
    noise = [100.0 + (n * 7919) % 101 for n in range(40)]
    assert {share.name: share for share in shares(fields, noise)}["tile"].share < 0.2
    assert shares(fields[:5], times[:5]) == []
    assert shares(fields, [5.0] * 40) == []


def test_a_configuration_is_flat_with_a_value_for_each_parameter() -> None:
    flat = fields_of(rows.config(3))
    assert (flat["block m"], flat["threads n"], flat["prefetch distance"]) == (256, 6, 4)
    assert flat["sg layout"] in ("4x2", "8x2")
    assert flat["pipelined registers"] == "no"


def test_problems_are_listed_with_their_best_on_every_device(client: TestClient, database: Database, page: str) -> None:
    with database.write() as session:
        problem = rows.add_problem(session)
        rows.add_job(session, problem, rows.add_device(session, "b/580 <i>", None))
    html = client.get("/problems").text
    assert "40.00 µs 10.07 TFLOP/s single measurement 2" in text_of(html)
    assert quote("b/580 <i>", safe="") in html
    assert "No problem matches" in client.get("/problems?m=1").text
    assert html.count('data-label="Problem"') == 2
    assert client.get("/problems?device=b60&before=" + "9" * 4000).text.count('data-label="Problem"') == 0, (
        "what cannot be meant is not left out"
    )


@pytest.mark.parametrize("path", ["/problems/zz/on/b60", "/problems/0000000000/on/b60", "/devices/none"])
def test_what_is_not_known_is_a_page_with_a_way_back(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert "text/html" in answer.headers["content-type"]
    assert 'href="/"' in answer.text


def test_a_problem_without_times_has_a_page(client: TestClient, database: Database) -> None:
    with database.write() as session:
        job = rows.add_job(session, rows.add_problem(session), rows.add_device(session), "failed")
        rows.add_trial(session, job, 0, "crashed")
    (page,) = re.findall(r'href="(/problems/[^"]+/on/[^"]+)"', client.get("/problems").text)
    seen = client.get(page).text
    assert "No trial has a time yet." in seen
    assert "data-chart" not in seen, "charts without a dot say nothing"
    for name in ("choices", "roofline", "parallel", "importance", "judged", "heat"):
        assert client.get(f"{page}/charts/{name}").json()["series"] == []
    assert client.get(f"{page}/charts/none").status_code == 404


def test_a_device_shows_facts_with_their_source_health_clocks_and_queue(
    client: TestClient, database: Database, page: str
) -> None:
    with database.write() as session:
        gpu = jobs.list_page(session, limit=1)[0].device
        problem = rows.add_problem(session, 640, 96, 2048)
        queued = rows.add_job(session, problem, gpu, "queued")
        kernel = rows.add_kernel(session, queued, problem)
        for number, mhz in enumerate((2400.0, 2300.0, 2200.0)):
            job = rows.add_job(session, problem, gpu)
            trial = rows.add_measured(session, job, number, 50.0, kernel.id, "native")
            session.flush()
            session.execute(update(Measurement).where(Measurement.trial_id == trial.id).values(clock_mhz=mhz))
        quarantines.begin(
            session, host="lab-7", slug="b60", reason="device-unusable: it hung", job_id=queued.id, seconds=60
        )
    html = client.get("/devices/b60").text
    seen = text_of(html)
    assert "bandwidth 456.0 GB/s table" in seen
    assert "DPAS f16 rate 128 multiply-adds a clock and EU" in seen
    assert "here; measured ones are stored" in seen
    assert "gets no jobs until" in seen
    assert "device-unusable: it hung" in seen
    assert "2,300 MHz median; 2,200 to 2,400 MHz in 3 readings" in seen
    assert html.index('id="queue-title"') < html.index("640x96x2048")
    (series,) = client.get("/devices/b60/charts/clocks").json()["series"]
    assert [row[1] for row in series["rows"]] == [2400.0, 2300.0, 2200.0]
    listed = text_of(client.get("/devices").text)
    assert "quarantined" in listed
    assert listed.count("measured ones are stored") == 1
    (release,) = re.findall(r'data-post="([^"]+)" data-method="DELETE"', html)
    assert client.delete(release).status_code == 204
    assert "gets no jobs until" not in client.get("/devices/b60").text


def test_a_device_has_stored_times_as_soon_as_one_is_and_as_long(client: TestClient, database: Database) -> None:
    def told() -> int:
        return text_of(client.get("/devices").text).count("measured ones are stored")

    with database.write() as session:
        problem, gpu = rows.add_problem(session, 640, 96, 2048), rows.add_device(session, "b60", None)
        job = rows.add_job(session, problem, gpu)
        rows.add_predicted(session, job, 0, 60.0)
    assert told() == 0
    with database.write() as session:
        kernel = rows.add_kernel(session, job, problem)
        trial = rows.add_measured(session, job, 1, 50.0, kernel.id, "native")
        session.flush()
        session.execute(update(Job).where(Job.id == job.id).values(best_trial_id=trial.id))
    assert told() == 1
    with database.write() as session:
        session.execute(update(Job).where(Job.id == job.id).values(best_trial_id=None))
    assert told() == 0
