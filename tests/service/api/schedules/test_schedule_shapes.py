"""Schedules that ask for sets of shapes."""

from typing import Any

import pytest
from fastapi.testclient import TestClient

from db.queries import shape_sets
from service.api.schedules.firing import fire_due
from service.http.context import Context
from tests.service.dashboard.test_dashboard_pages import text_of
from tests.service.rest import BODY, Clock

SHAPES: dict[str, Any] = {
    "text": "m=16,32 n=96 k=64 weight=3",
    "device": "b580",
    "budget": {"trials": 20, "seconds": 60},
}
HOURLY = {"name": "layers", "cron": "0 * * * *", "shapes": SHAPES}


def scheduled(client: TestClient, **changes: object) -> dict[str, Any]:
    """A schedule of a set of shapes that was made over REST."""
    answer = client.post("/v1/schedules", json=HOURLY | changes)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def fires(client: TestClient, schedule: dict[str, Any]) -> list[dict[str, Any]]:
    """Its runs, newest first."""
    found: list[dict[str, Any]] = client.get(f"/v1/schedules/{schedule['id']}/fires").json()["fires"]
    return found


def end_sets(context: Context) -> None:
    """Let every set be over."""
    with context.database.write() as session:
        for row in shape_sets.list_page(session, limit=100):
            shape_sets.finish(session, row.id, "cancelled")


def test_it_makes_a_set_when_due_and_joins_one_that_is_active(
    client: TestClient, context: Context, clock: Clock
) -> None:
    made = scheduled(client)
    assert (made["kind"], made["shapes"]["text"], made["job"]) == ("shapes", SHAPES["text"], None)
    clock.step(hours=1)
    assert fire_due(context) == 1
    (fire,) = fires(client, made)
    assert (fire["outcome"], fire["jobs"]) == ("created", [])
    found = client.get(f"/v1/shape-sets/{fire['shape_set']}").json()
    assert [shape["problem"]["m"] for shape in found["shapes"]] == [16, 32]
    clock.step(hours=1)
    fire_due(context)
    assert [(each["outcome"], each["shape_set"]) for each in fires(client, made)] == [
        ("joined", found["id"]),
        ("created", found["id"]),
    ]
    events = client.get("/v1/audit", params={"action": "shapes.create"}).json()["events"]
    assert [(event["actor"], event["subject"]) for event in events] == [("schedule", found["id"])] * 2


def test_missed_runs_wait_until_the_set_before_is_over(client: TestClient, context: Context, clock: Clock) -> None:
    made = scheduled(client, missed={"policy": "all", "most": 2})
    clock.step(hours=5)
    for _ in range(2):
        fire_due(context)
    assert [(each["due_at"][11:13], each["outcome"]) for each in fires(client, made)] == [
        ("16", "created"),
        ("13", "missed"),
    ]
    end_sets(context)
    fire_due(context)
    assert [each["outcome"] for each in fires(client, made)] == ["created", "created", "missed"]


def test_a_set_that_a_schedule_made_can_be_deleted_and_the_run_says_so(client: TestClient, context: Context) -> None:
    made = scheduled(client)
    run = client.post(f"/v1/schedules/{made['id']}/run").json()
    assert (run["outcome"], run["by_hand"]) == ("created", True)
    path = f"/v1/shape-sets/{run['shape_set']}"
    assert client.delete(path).json()["rule"] == "set-active"
    client.post(f"{path}/cancel")
    assert client.delete(path).status_code == 204
    (fire,) = fires(client, made)
    assert (fire["outcome"], fire["shape_set"]) == ("created", None)
    assert fire["reason"] == f"its set of shapes {run['shape_set']} was deleted"


def test_a_set_that_would_be_too_many_jobs_is_refused_with_the_reason(
    client: TestClient, context: Context, clock: Clock
) -> None:
    made = scheduled(client)
    object.__setattr__(context, "settings", context.settings.model_copy(update={"max_active_jobs": 1}))
    clock.step(hours=1)
    fire_due(context)
    (fire,) = fires(client, made)
    assert (fire["outcome"], fire["shape_set"]) == ("refused", None)
    assert "2 jobs would be queued or running, 1 may be" in fire["reason"]
    assert client.get("/v1/jobs").json()["jobs"] == []
    assert client.post(f"/v1/schedules/{made['id']}/run").status_code == 429


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"shapes": None}, "schedule-work"),
        ({"job": BODY}, "schedule-work"),
        ({"shapes": SHAPES | {"text": "m=16 n=96"}}, "shapes"),
        ({"shapes": SHAPES | {"csv": "m,n,k\n16,96,64\n"}}, "shapes"),
        ({"shapes": SHAPES | {"device": "b999"}}, "unknown-device"),
        ({"shapes": SHAPES | {"budget": {"trials": 1, "seconds": 60}}}, "budget"),
    ],
)
def test_what_cannot_be_asked_for_is_refused_when_it_is_made(
    client: TestClient, changes: dict[str, object], rule: str
) -> None:
    answer = client.post("/v1/schedules", json=HOURLY | changes)
    assert (answer.status_code, answer.json()["rule"]) == (400, rule), answer.text


def test_pages_tell_what_it_tunes_and_link_the_set(client: TestClient) -> None:
    made = scheduled(client)
    preset = scheduled(client, name="model", shapes={"preset": "llama-3-8b@tokens=16", "device": "b580"})
    run = client.post(f"/v1/schedules/{made['id']}/run").json()
    listed = text_of(client.get("/schedules").text)
    assert "tunes a set of shapes on b580" in listed
    assert "tunes the layers of llama-3-8b@tokens=16 on b580" in listed
    page = client.get(f"/schedules/{made['id']}").text
    assert f'href="/shapes/{run["shape_set"]}"' in page
    assert "The set stops after 20 trials or 1 min" in text_of(page)
    assert "25 trials a shape or 10 min" in text_of(client.get(f"/schedules/{preset['id']}").text)
