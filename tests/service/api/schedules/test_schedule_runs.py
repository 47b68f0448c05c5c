"""Missed runs, runs by hand, the next times, the history, and jobs for stale results."""

from datetime import datetime, timedelta

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import update
from typer.testing import CliRunner

from codegen.artifact.toolchain import toolchain_versions
from db.queries import (
    problems,
    schedules,
)
from db.schema.job import Job
from db.schema.kernel import Kernel
from db.session import Database
from db.values import utc_now
from service.api.schedules.cron import (
    parse_cron,
    passed,
)
from service.api.schedules.firing import fire_due
from service.cli.app import app as command_line
from service.gemm_json import problem_to_json
from service.http.context import Context
from service.schemas import ProblemBody, to_problem
from tests.db import rows
from tests.db.rows import digest
from tests.service.api.schedules.test_schedules import outcomes, post
from tests.service.rest import Clock, jobs_of


def end_jobs(context: Context) -> None:
    """Let every job be over."""
    with context.database.write() as session:
        over = {"status": "cancelled", "cancel_requested": True, "finished_at": utc_now()}
        session.execute(update(Job).where(Job.status == "queued").values(**over))


def history(client: TestClient, schedule: dict[str, object]) -> list[tuple[str, str, int]]:
    """Due time, outcome and number of due times of each run, newest first."""
    fires = client.get(f"/v1/schedules/{schedule['id']}/fires").json()["fires"]
    return [(fire["due_at"][5:16], fire["outcome"], fire["due_times"]) for fire in fires]


def test_one_run_makes_up_for_all_that_were_missed(client: TestClient, context: Context, clock: Clock) -> None:
    made = post(client, missed={"policy": "once"})
    clock.step(days=3, minutes=30)
    assert fire_due(context) == 1
    assert history(client, made) == [("03-07T12:00", "created", 72)]
    assert client.get(f"/v1/schedules/{made['id']}").json()["next_due_at"] == "2026-03-07T13:00:00Z"
    assert fire_due(context) == 0


def test_all_missed_runs_happen_one_after_the_other_up_to_the_most(
    client: TestClient, context: Context, clock: Clock
) -> None:
    made = post(client, missed={"policy": "all", "most": 2})
    clock.step(hours=5)
    for _ in range(3):
        fire_due(context)
    assert history(client, made) == [("03-04T16:00", "created", 1), ("03-04T13:00", "missed", 3)]
    end_jobs(context)
    assert fire_due(context) == 1
    end_jobs(context)
    assert fire_due(context) == 0
    assert history(client, made)[0] == ("03-04T17:00", "created", 1)
    assert len(jobs_of(context.database)) == 2
    assert client.get(f"/v1/schedules/{made['id']}").json()["next_due_at"] == "2026-03-04T18:00:00Z"


def test_outside_its_hours_nothing_runs_and_what_was_missed_waits(
    client: TestClient, context: Context, clock: Clock
) -> None:
    made = post(client, cron="0 * * * *", hours="20:00-06:00", missed={"policy": "once"})
    assert made["next_due_at"] == "2026-03-04T20:00:00Z"
    clock.step(hours=19)  # 07:00 of the next day
    assert fire_due(context) == 0
    assert client.post(f"/v1/schedules/{made['id']}/run").status_code == 201  # by hand at any time
    end_jobs(context)
    clock.step(hours=13)
    assert fire_due(context) == 1
    assert history(client, made)[0] == ("03-05T20:00", "created", 11)
    refused = client.post("/v1/schedules", json={**made_body(made), "name": "x", "hours": "12:01-12:59"})
    assert (refused.status_code, refused.json()["rule"]) == (400, "cron")


def made_body(made: dict[str, object]) -> dict[str, object]:
    """Return the request that makes a schedule again."""
    return {name: made[name] for name in ("cron", "timezone", "job")}


def test_skipped_runs_are_told_with_their_number(client: TestClient, context: Context, clock: Clock) -> None:
    made = post(client, cron="*/5 * * * *", misfire_grace_s=60)
    clock.step(hours=2, minutes=3)
    fire_due(context)
    assert history(client, made) == [("03-04T12:05", "missed", 24)]


def test_a_clock_that_steps_back_fires_no_due_time_twice(client: TestClient, context: Context, clock: Clock) -> None:
    made = post(client)
    clock.step(hours=2)
    fire_due(context)
    end_jobs(context)
    clock.step(hours=-1.5)
    assert fire_due(context) == 0
    clock.step(hours=1.5)
    assert fire_due(context) == 0
    assert len(history(client, made)) == 1


def test_due_times_of_a_long_absence_are_counted_to_a_bound() -> None:
    now = datetime.fromisoformat("2026-03-04T12:00:30Z")
    found = passed(parse_cron("* * * * *", "UTC"), now - timedelta(days=400), now, 2)
    assert [due.minute for due in found.newest] == [59, 0]
    assert found.earlier == 1000
    night = passed(parse_cron("30 2 * * *", "Europe/Warsaw"), now - timedelta(days=3), now, 5)
    assert (night.number, night.earlier) == (3, 0)


def test_a_night_that_a_change_of_the_clock_takes_is_missed_once(
    client: TestClient, context: Context, clock: Clock
) -> None:
    clock.moment = datetime.fromisoformat("2026-03-28T12:00:00Z")
    made = post(client, cron="30 2 * * *", timezone="Europe/Warsaw", missed={"policy": "once"})
    due = client.get(f"/v1/schedules/{made['id']}/next", params={"count": 3}).json()["due"]
    assert [each["local"] for each in due] == [
        "2026-03-29 03:00:00 +0200",  # 02:30 does not exist on that day
        "2026-03-30 02:30:00 +0200",
        "2026-03-31 02:30:00 +0200",
    ]
    clock.moment = datetime.fromisoformat("2026-03-29T00:59:59Z")
    assert fire_due(context) == 0
    clock.step(seconds=1)
    assert fire_due(context) == 1
    clock.moment = datetime.fromisoformat("2026-10-24T23:00:00Z")
    end_jobs(context)
    fire_due(context)
    end_jobs(context)
    clock.moment = datetime.fromisoformat("2026-10-25T02:00:00Z")  # 02:30 came twice since
    fire_due(context)
    assert history(client, made)[0] == ("10-25T01:30", "created", 2)


def test_a_run_by_hand_leaves_the_due_times_alone(client: TestClient, context: Context, clock: Clock) -> None:
    made = post(client)
    client.post(f"/v1/schedules/{made['id']}/pause")
    answer = client.post(f"/v1/schedules/{made['id']}/run")
    assert answer.status_code == 201
    fire = answer.json()
    assert (fire["outcome"], fire["by_hand"]) == ("created", True)
    assert [str(job.id) for job in jobs_of(context.database)] == fire["jobs"]
    clock.step(seconds=1)
    assert client.post(f"/v1/schedules/{made['id']}/run").json()["outcome"] == "joined"
    assert client.get(f"/v1/schedules/{made['id']}").json()["next_due_at"] is None
    assert client.get(f"/v1/schedules/{made['id']}/next").json() == {"due": []}


def test_history_comes_in_pages(client: TestClient, context: Context, clock: Clock) -> None:
    made = post(client)
    for _ in range(5):
        clock.step(hours=1)
        fire_due(context)
    path, seen, before = f"/v1/schedules/{made['id']}/fires", [], None
    while True:
        page = client.get(path, params={"limit": 2} | ({} if before is None else {"before": before})).json()
        seen += [fire["due_at"] for fire in page["fires"]]
        before = page["next_before"]
        if before is None:
            break
    assert seen == [due for due, _ in outcomes(client, made)]
    assert len(seen) == 5


STALE = {"job": None, "stale": {"most_jobs": 2, "budget": {"trials": 3, "seconds": 30}}}


def predicted(database: Database, clock: Clock, m: int, current: bool) -> None:
    """A predicted result of a problem on the B580, made with what is here now or with another compiler."""
    problem = to_problem(ProblemBody(m=m, n=64, k=128))
    with database.write() as session:
        stored = problems.upsert(session, key=problem.key, definition=problem_to_json(problem))
        job = rows.add_job(session, "b580", problem_id=stored.id)
        row = rows.add_predicted(session, job, m, 3.0)
        versions = dict(toolchain_versions()) if current else {"llvm": "21"}
        session.execute(update(Kernel).where(Kernel.id == row.kernel_id).values(toolchain=versions))
        job.status, job.started_at, job.finished_at, job.attempts = "succeeded", clock(), clock(), 1
        job.created_at = clock()


def test_stale_results_are_tuned_again_the_longest_waiting_first_within_the_budget(
    client: TestClient, context: Context, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tuner.model.xe.l2.MODEL_VERSION", "1")  # as the rows say
    for m, current in ((96, False), (112, False), (80, True), (64, False)):
        predicted(context.database, clock, m, current)
        clock.step(minutes=1)
    made = post(client, **STALE)
    clock.step(hours=1)
    assert fire_due(context) == 1

    def queued() -> list[tuple[int, int]]:
        return sorted((job.problem.m, job.budget_trials) for job in jobs_of(context.database) if job.status == "queued")

    assert queued() == [(96, 3), (112, 3)]
    clock.step(hours=1)
    fire_due(context)
    assert queued() == [(64, 3), (96, 3), (112, 3)]
    assert [outcome for _, outcome, _ in history(client, made)] == ["created", "created"]


def test_without_stale_results_there_is_nothing_to_do(client: TestClient, context: Context, clock: Clock) -> None:
    made = post(client, **STALE)
    clock.step(hours=1)
    fire_due(context)
    assert [outcome for _, outcome, _ in history(client, made)] == ["nothing"]
    assert client.post(f"/v1/schedules/{made['id']}/run").json()["outcome"] == "nothing"


def test_what_was_measured_elsewhere_is_left_out_with_the_reason(
    client: TestClient, context: Context, clock: Clock
) -> None:
    with context.database.write() as session:
        rows.add_measured(session, rows.add_job(session, "b580"), 0, 2.5)
    made = post(client, **STALE)
    clock.step(hours=1)
    fire_due(context)
    (fire,) = client.get(f"/v1/schedules/{made['id']}/fires").json()["fires"]
    assert fire["outcome"] == "refused"
    assert "not in this machine" in fire["reason"]


def test_a_fire_keeps_its_jobs_in_order(database: Database) -> None:
    with database.write() as session:
        ids = [rows.add_job(session, m=m).id for m in (96, 112, 80)]
        schedule = schedules.create(
            session,
            name=digest("s"),
            cron="* * * * *",
            timezone="UTC",
            template={},
            misfire_grace_s=1,
            next_due_at=None,
            enabled=False,
            kind="stale",
        )
        jobs = [(job_id, job_id != ids[1]) for job_id in reversed(ids)]
        fire_id = schedules.add_fire(session, schedule.id, utc_now(), outcome="created", jobs=jobs)
    with database.read() as session:
        assert [(job.job_id, job.is_new) for job in schedules.get_fire(session, fire_id).jobs] == jobs
        assert schedules.is_busy(session, schedule.id)


@pytest.mark.slow
def test_schedules_are_run_from_the_command_line(
    sqlite_url: str, tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XETUNE_DATABASE_URL", sqlite_url)
    monkeypatch.setenv("XETUNE_DATA_DIR", str(tmp_path))
    runner = CliRunner()

    def said(*arguments: str) -> str:
        result = runner.invoke(command_line, list(arguments))
        assert result.exit_code == 0, (result.output, result.exception)
        return result.output

    assert "No schedule yet" in said("schedules")
    nightly = ("schedules", "create", "nightly", "--cron", "30 2 * * *", "--hours", "01:00-05:00", "--stale", "5")
    assert "first run" in said(*nightly)
    assert "paused" in said("schedules", "pause", "nightly")
    assert "never" in said("schedules", "next", "nightly")
    assert "next run" in said("schedules", "resume", "nightly")
    assert said("schedules", "next", "nightly", "--count", "3").count("02:30:00 +0000") == 3
    assert "nothing" in said("schedules", "run", "nightly")
    assert "by hand" in said("schedules", "history", "nightly")
    assert all(text in said("schedules") for text in ("30 2 * * *", "01:00-05:00"))
    assert "deleted" in said("schedules", "delete", "nightly")
    assert [line for line in said("audit").splitlines() if "schedule.run" in line]
    refused = runner.invoke(command_line, ["schedules", "create", "x", "--cron", "* * * *", "--stale", "5"])
    assert "five fields" in str(refused.exception)
    neither = runner.invoke(command_line, ["schedules", "create", "x", "--cron", "0 0 * * *"])
    assert str(neither.exception) == "expected one of --job, --shapes and --stale, got none"
