"""The fleet over time, over REST and on its page."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import event
from sqlalchemy.orm import Session

from db.queries.results import predictions
from db.schema.job import Job
from service.api.fleet.schemas import PeriodLength
from service.api.fleet.service import periods_until
from service.http.context import Context
from tests.service import dashboard_rows as rows
from tests.service.dashboard.test_dashboard_pages import HOSTILE, text_of
from tests.service.rest import Clock

MONDAY = datetime(2026, 3, 2, tzinfo=UTC)  # the clock stands in the week of it


def fill(session: Session, clock: Clock) -> None:
    """Jobs of two devices: three weeks ago, and in this week."""
    problem, b580 = rows.add_problem(session), rows.add_device(session, "b580", None)
    old = rows.add_job(session, problem, b580, created_at=MONDAY - timedelta(weeks=5), total_s=3600.0)
    new = rows.add_job(session, problem, b580, "failed", created_at=clock(), total_s=90.0)
    kernel = rows.add_kernel(session, old, problem)
    for number, median_us in enumerate((40.0, 25.0, 30.0)):
        rows.predict(session, rows.add_measured(session, old, number, median_us, kernel.id, "native"), 20.0)
    old.best_trial_id = rows.add_measured(session, old, 3, 20.0, kernel.id, "native").id
    old.compared_default_us, old.compared_best_us = 42.0, 21.0
    predictions.judge(session, problem.id, "b580")
    rows.add_trial(session, new, 0, "crashed")
    other = rows.add_job(session, problem, rows.add_device(session, "b60", None), created_at=clock())
    first = rows.add_predicted(session, other, 0, 50.0)
    other.best_trial_id = rows.add_predicted(session, other, 1, 40.0).id
    assert first.job_id == other.id


def test_weeks_are_told_by_device(client: TestClient, context: Context, clock: Clock) -> None:
    with context.database.write() as session:
        fill(session, clock)
    told = client.get("/v1/fleet", params={"periods": 7}).json()
    assert (told["period"], told["since"], len(told["begins"])) == ("week", "2026-01-19T00:00:00Z", 7)
    old, new, other = told["cells"]
    assert (old["device"], old["begin"], old["trials"], old["outcomes"]) == (
        "b580", "2026-01-26T00:00:00Z", 4, {"measured": 4},
    )  # fmt: skip
    assert (old["trials_per_hour"], old["failed_share"], old["judged"], old["off_by"]) == (4.0, 0.0, 3, 1.5)
    assert old["gains"] == [{"evidence": "measured", "jobs": 1, "median": 2.0}]
    assert (new["trials"], new["failed_share"], new["jobs"], new["failed_jobs"]) == (1, 1.0, 1, 1)
    assert (new["off_by"], new["gains"], new["begin"]) == (None, [], "2026-03-02T00:00:00Z")
    assert (other["trials_per_hour"], other["gains"]) == (
        None, [{"evidence": "predicted", "jobs": 1, "median": 1.25}],
    )  # fmt: skip
    only = client.get("/v1/fleet", params={"device": "b60", "period": "day", "periods": 1}).json()
    assert [(cell["device"], cell["begin"]) for cell in only["cells"]] == [("b60", "2026-03-04T00:00:00Z")]
    assert client.get("/v1/fleet?periods=61").status_code == 422
    assert client.get("/v1/fleet?weeks=3").status_code == 422


def test_a_young_database_is_told_by_day(client: TestClient, context: Context, clock: Clock) -> None:
    assert client.get("/v1/fleet").json()["period"] == "day"
    with context.database.write() as session:
        problem, device = rows.add_problem(session), rows.add_device(session)
        rows.add_job(session, problem, device, created_at=clock() - timedelta(days=27))
        assert client.get("/v1/fleet").json()["period"] == "day"
        rows.add_job(session, problem, device, created_at=clock() - timedelta(days=29))
    assert client.get("/v1/fleet").json()["period"] == "week"


@pytest.mark.parametrize(("length", "begin"), [(PeriodLength.WEEK, 23), (PeriodLength.DAY, 28)])
def test_periods_touch_and_the_last_one_has_the_present(length: PeriodLength, begin: int) -> None:
    now = datetime(2026, 3, 1, 23, 59, tzinfo=UTC)  # a Sunday
    periods = periods_until(now, length, 3)
    if length is PeriodLength.DAY:
        assert periods[1].begin == datetime(2026, 2, begin, tzinfo=UTC)
    else:
        assert periods[-1].begin == datetime(2026, 2, begin, tzinfo=UTC)
    assert periods[-1].begin <= now < periods[-1].end
    assert all(one.end == next_.begin for one, next_ in pairwise(periods))


def test_the_page_has_a_line_for_each_device_and_evidence(client: TestClient, context: Context, clock: Clock) -> None:
    assert "No job was created in these periods" in client.get("/fleet").text
    with context.database.write() as session:
        fill(session, clock)
    page = client.get("/fleet")
    text = text_of(page.text)
    assert "b580 5 5 20.0% 2 1 1.50x of 3 2.00x measured 1 job" in text
    assert "b60 2 unknown 0.0% 1 0 not judged 1.25x predicted 1 job" in text
    assert 'href="/fleet" aria-current="page"' in page.text
    gains = client.get("/fleet/charts/gains?periods=7").json()
    assert [(s["name"], s["mark"], s["evidence"], s["rows"][:1]) for s in gains["series"]] == [
        ("b580, measured", "dots", "measured", [["2026-01-26", 2.0, 1]]),
        ("b580, measured", "line", "measured", [["2026-01-26", 2.0, 1]]),
        ("b60, predicted", "dots", "predicted", [["2026-03-02", 1.25, 1]]),
        ("b60, predicted", "line", "predicted", [["2026-01-26", None, None]]),
    ]
    trials = client.get("/fleet/charts/trials?periods=7&device=b580").json()
    assert [series["rows"] for series in trials["series"][:1]] == [[["2026-01-26", 4, 4], ["2026-03-02", 1, 1]]]
    failures = client.get("/fleet/charts/failures?periods=7&device=b580").json()
    assert failures["series"][0]["rows"][-1] == ["2026-03-02", 100, 1]
    errors = client.get("/fleet/charts/errors?periods=7&as=csv").text.splitlines()
    assert errors[1] == "b580,,2026-01-26,1.5,3"
    assert client.get("/fleet/charts/none").status_code == 422


def test_a_period_is_read_again_only_after_a_change(client: TestClient, context: Context, clock: Clock) -> None:
    with context.database.write() as session:
        fill(session, clock)
    statements: list[str] = []

    def keep(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        statements.append(statement)

    event.listen(context.database.engine, "before_cursor_execute", keep)
    first = client.get("/v1/fleet").json()
    assert any("FROM prediction_error" in said or "JOIN prediction_error" in said for said in statements)
    statements.clear()
    assert client.get("/v1/fleet").json() == first
    assert client.get("/fleet/charts/errors").json()["series"]
    assert not any("prediction_error" in said for said in statements)
    with context.database.write() as session:
        job = rows.add_job(session, rows.add_problem(session), rows.add_device(session), "running", created_at=clock())
    assert client.get("/v1/fleet").json()["cells"][-1]["trials"] == 0
    with context.database.write() as session:
        rows.add_trial(session, session.merge(job), 0, "rejected")
    assert client.get("/v1/fleet").json()["cells"][-1]["trials"] == 1


def test_what_is_not_understood_is_said(client: TestClient, context: Context, clock: Clock) -> None:
    text = client.get("/fleet", params={"period": HOSTILE, "periods": "99"})
    assert HOSTILE not in text.text
    assert "Periods: expected a whole number from 1 to 60, got '99'." in text_of(text.text)
    with context.database.write() as session:
        problem = rows.add_problem(session)
        for number in range(7):
            job: Job = rows.add_job(session, problem, rows.add_device(session, f"gpu-{number}", None))
            job.created_at = clock()
            for trial in range(number + 1):
                rows.add_trial(session, job, trial, "rejected")
    chart = client.get("/fleet/charts/trials").json()
    assert [series["name"] for series in chart["series"][::2]] == [f"gpu-{number}" for number in (6, 5, 4, 3, 2)]
    assert "the 5 devices with the most trials of 7" in chart["note"]
