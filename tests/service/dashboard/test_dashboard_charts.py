"""The documents of charts: what is drawn, with which evidence, and how much of it."""

import csv
import io
import math

import pytest
from fastapi import FastAPI, Request, Response
from fastapi.testclient import TestClient
from sqlalchemy.orm import Session

from db.queries import jobs
from db.schema.job import Job
from db.session import Database
from service.dashboard.charts.answers import chart_answer, chart_csv
from service.dashboard.charts.document import Chart, ChartAxis, Column, Mark, Series
from service.dashboard.evidence import TimeEvidence
from service.dashboard.jobs import history
from tests.service import dashboard_rows as rows
from tests.service.dashboard.sample_charts import SAMPLES
from tests.service.dashboard.test_dashboard_pages import app, client, database

__all__ = ["app", "client", "database"]


def add_times(session: Session, times: list[tuple[str, float]], slug: str = "b580") -> Job:
    """A job whose trials have these times, each with its evidence."""
    problem = rows.add_problem(session)
    job = rows.add_job(session, problem, rows.add_device(session, slug, None), budget=len(times))
    kernel = rows.add_kernel(session, job, problem)
    for number, (evidence, time_us) in enumerate(times):
        if evidence == "predicted":
            rows.add_predicted(session, job, number, time_us)
        elif evidence == "rejected":
            rows.add_trial(session, job, number, evidence)
        else:
            rows.add_measured(session, job, number, time_us, kernel.id, evidence)
    jobs.update_best(session, job.id)
    return job


def test_the_best_line_steps_down_and_never_up(client: TestClient, database: Database) -> None:
    with database.write() as session:
        job = add_times(session, [("native", time_us) for time_us in (50.0, 80.0, 40.0, 45.0, 20.0, 30.0)])
    chart = client.get(f"/jobs/{job.id}/charts/history").json()
    dots, line, spread, best = chart["series"]
    assert [row[0] for row in dots["rows"]] == [0, 1, 2, 3, 4, 5]
    assert [(row[0], row[1]) for row in line["rows"]] == [(0, 50.0), (2, 40.0), (4, 20.0), (5, 20.0)]
    assert [(row[0], row[2], round(row[3], 9)) for row in spread["rows"]] == [(0, 47.5, 55), (2, 38, 44), (4, 19, 22)]
    assert (spread["part_of"], best["part_of"]) == (line["name"], line["name"])
    assert best["links"][-1] == f"/jobs/{job.id}/trials/4"


def test_no_line_joins_two_evidences(client: TestClient, database: Database) -> None:
    times = [("predicted", 5.0), ("native", 100.0), ("DPAS emulated", 7.0), ("native", 90.0), ("rejected", 0.0)]
    with database.write() as session:
        job = add_times(session, times)
    chart = client.get(f"/jobs/{job.id}/charts/history").json()
    lines = {s["evidence"]: [row[0] for row in s["rows"]] for s in chart["series"] if s["mark"] == "steps"}
    assert lines == {"measured": [1, 3, 4], "emulated": [2, 4], "predicted": [0, 4]}
    assert chart["note"] == "4 of 5 trials have a time"
    failures = client.get(f"/jobs/{job.id}/charts/failures").json()
    assert [(s["name"], s["rows"]) for s in failures["series"]] == [("rejected", [[4, "rejected"]])]


def test_a_long_history_is_sampled_and_keeps_every_improvement(
    client: TestClient, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "MOST_DOTS", 20)
    times = [("native", 1000.0 - n + 37 * (n % 11)) for n in range(200)]
    best, improving = math.inf, 0
    for _, time_us in times:
        improving += time_us < best
        best = min(best, time_us)
    with database.write() as session:
        job = add_times(session, times)
    dots, line, _, found = client.get(f"/jobs/{job.id}/charts/history").json()["series"]
    assert len(dots["rows"]) == 20
    assert len(found["rows"]) == improving
    assert line["rows"][-1][1] == best
    monkeypatch.setattr(history, "WHOLE", 100)
    chart = client.get(f"/jobs/{job.id}/charts/history").json()
    assert chart["note"].startswith("20 of 200 trials, evenly spread; best so far of 8")
    assert chart["series"][1]["rows"][-1][1] == best, "the best of all is among them"


def test_a_chart_is_saved_with_units_and_evidence_and_no_formulas() -> None:
    series = (
        Series("=cmd()", Mark.DOTS, [("+1", 2.5), ("two", None)], TimeEvidence.PREDICTED),
        Series("spread", Mark.SPANS, [("left", 1.0)], part_of="=cmd()"),
    )
    axes = ChartAxis(0, "What", scale="category"), ChartAxis(1, "Time", "µs")
    chart = Chart("Any", "A note.", (Column("What"), Column("Time", "µs")), series, x=axes[0], y=axes[1])
    assert list(csv.reader(io.StringIO(chart_csv(chart)))) == [
        ["series", "evidence", "What", "Time (µs)"],
        ["'=cmd()", "predicted", "'+1", "2.5"],
        ["'=cmd()", "predicted", "two", ""],
    ]


@pytest.mark.parametrize("name", ["history", "bars", "heat", "parallel", "nothing"])
def test_every_kind_of_chart_is_a_document_a_table_and_a_file(app: FastAPI, client: TestClient, name: str) -> None:
    def draw(request: Request) -> Response:
        return chart_answer(request, SAMPLES[name])

    app.add_api_route("/chart", draw)
    chart = client.get("/chart")
    assert chart.headers["content-type"] == "application/json"
    table = client.get("/chart?as=table")
    assert table.text.count("<tr>") - 1 == max(
        1, sum(len(s["rows"]) for s in chart.json()["series"] if not s["part_of"])
    )
    assert "<html" not in client.get("/chart?as=part").text
    saved = client.get("/chart?as=csv")
    assert saved.headers["content-disposition"].endswith('.csv"')
    assert saved.text.startswith("series,evidence,")


def test_files_are_sent_small_and_kept(client: TestClient) -> None:
    page = client.get("/devices", headers={"Accept-Encoding": "gzip"})
    assert page.headers["content-encoding"] == "gzip"
    name = "/static/vendor/echarts.min.js"
    (address,) = {part for part in page.text.split('"') if part.startswith(name)}
    plain = client.get(address, headers={"Accept-Encoding": "identity"})
    small = client.get(address, headers={"Accept-Encoding": "gzip, br"})
    assert "immutable" in plain.headers["cache-control"]
    assert client.get(name).headers["cache-control"] == "no-cache"
    assert client.get(name, headers={"If-None-Match": plain.headers["etag"]}).status_code == 304
    assert int(small.headers["content-length"]) < len(plain.content) / 3
