"""Sets of shapes over REST: asked for in four ways, run by a coordinator, shown, cancelled and deleted."""

import threading
import time
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, NoReturn
from uuid import UUID

import pytest
from fastapi.testclient import TestClient

from db.queries import (
    jobs,
    shape_sets,
)
from db.session import Database
from db.values import utc_now
from hal import UnknownDevice
from service.api.shapes.running import leased, run_set
from service.api.shapes.service import find_set
from service.cluster.coordinator import Coordinator
from service.cluster.local import LocalEngine, LocalExecutor
from service.errors import Conflict
from service.http.context import Context
from service.jobs.job_runs import (
    ClaimedJob,
    JobEnd,
)
from service.jobs.tuning import Tuning
from service.jobs.worker_names import own_name
from service.settings import Settings
from tests.service.api.shapes.test_running import SHAPES, SPEC, AnyShape, Start, _request, database, start, submitted
from tests.service.http.test_limits import client_of
from tests.service.rest import Clock

__all__ = ["database", "start"]  # fixtures
PATH = "/v1/shape-sets"
TWO = [{"problem": {"m": 16, "n": 96, "k": 64}, "weight": 3.0, "name": "one"}, {"problem": {"m": 32, "n": 96, "k": 64}}]
BODY: dict[str, Any] = {"shapes": TWO, "device": "b580", "budget": {"trials": 20, "seconds": 60}}
CSV = "m,n,k,weight\n16,96,64,3\n32,96,64,1\n"


def made(client: TestClient, **changes: object) -> dict[str, Any]:
    """A set that was asked for."""
    answer = client.post(PATH, json=BODY | changes)
    assert answer.status_code == 202, answer.text
    assert answer.headers["location"] == f"{PATH}/{answer.json()['id']}"
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.parametrize(
    ("way", "said"),
    [("shapes", TWO), ("csv", CSV), ("text", "m=16 n=96 k=64 weight=3\nm=32 n=96 k=64\n")],
)
def test_shapes_are_said_in_several_ways(client: TestClient, way: str, said: object) -> None:
    found = made(client, **{"shapes": None, way: said})
    sizes = [(shape["problem"]["m"], shape["weight"]) for shape in found["shapes"]]
    name = "one and 1 more" if way == "shapes" else "16x96x64 and 1 more"
    assert (found["source"], sizes) == (name, [(16, 3.0), (32, 1.0)]), "two sets are told apart by their names"
    assert (found["status"], found["running"], found["cover"]) == ("active", False, None)


def test_a_preset_brings_the_layers_of_a_model(settings: Settings, clock: Clock) -> None:
    client = client_of(settings, clock, max_body_bytes=2**16)
    names = [preset["name"] for preset in client.get(f"{PATH}/presets").json()["presets"]]
    common = {"dtype_a": "bf16", "dtype_b": "bf16", "transpose_b": True, "epilogue": "relu", "gate": "gelu"}
    found = made(client, shapes=None, preset=f"{names[0]}@tokens=16", common=common, budget={"seconds": 60})
    problem = found["shapes"][0]["problem"]
    assert (problem["m"], problem["dtype_a"], problem["transpose_b"]) == (16, "bf16", True)
    assert [step["kind"] for step in problem["epilogue"]] == ["relu"]
    assert problem["gate"] == {"activation": "gelu", "interleave": None}
    assert found["budget"]["trials"] == 25 * len(found["shapes"])


def test_layers_of_a_preset_are_quantised_but_the_router_and_lm_head(client: TestClient) -> None:
    common = {"dtype_a": "bf16", "quant": "w4a16:64:zeros"}
    preset = "qwen3-30b-a3b@tokens=16@layers=o,router"
    found = made(client, shapes=None, preset=preset, common=common, device="b580")
    o, router = (shape["problem"] for shape in found["shapes"])
    assert (o["dtype_b"], o["quantization"]) == ("u4", {"group": 64, "scale": "bf16", "zero": 0, "zeros": True})
    assert (router["dtype_a"], router["dtype_b"], router["quantization"]) == ("bf16", "bf16", None)
    said = {"dtype_a": "bf16", "dtype_b": "s4", "quantization": "32:zero=1"}
    (whole,) = made(client, shapes=None, text="8x96x64", common=said, device="b580")["shapes"]
    quantization = {"group": 32, "scale": "bf16", "zero": 1, "zeros": False}
    assert (whole["problem"]["dtype_b"], whole["problem"]["quantization"]) == ("s4", quantization)
    for fault, field in (({"quant": "w5"}, "quant"), ({"dtype_b": "u4", "quantization": "7"}, "quantization")):
        body = {"text": "8x96x64", "device": "b580", "common": fault, "budget": {"trials": 5, "seconds": 5}}
        refused = client.post(PATH, json=body)
        assert (refused.status_code, refused.json()["errors"][0]["field"]) == (400, f"common.{field}")


def test_options_are_those_of_jobs(client: TestClient, context: Context) -> None:
    budget = {"trials": 20, "seconds": 60.0, "no_gain": 7, "roofline": 0.75}
    found = made(client, reuse=False, warm_start=False, search="tpe", budget=budget)
    assert (found["reuse"], found["warm_start"], found["search"], found["budget"]) == (False, False, "tpe", budget)
    with context.database.read() as session:
        job = jobs.get(session, UUID(found["shapes"][1]["job_id"]))
    assert job is not None
    assert (job.search, job.budget_no_gain, job.budget_roofline) == ("tpe", 7, 0.75)
    other = made(client)
    assert other["id"] != found["id"]
    assert (other["reuse"], other["warm_start"], other["search"]) == (True, True, "portfolio")
    weighing = made(client, objective="time-memory")
    assert (weighing["search"], weighing["objective"], other["objective"]) == ("nsga2", "time-memory", "time")
    refused = client.post(PATH, json=BODY | {"objective": "time-memory", "search": "random"})
    assert (refused.status_code, "does not weigh time-memory" in refused.json()["detail"]) == (409, True)
    for name, status, rule in (("os:path", 400, "sampler"), ("hope", 409, "unknown-search")):
        refused = client.post(PATH, json=BODY | {"search": name})
        assert (refused.status_code, refused.json()["rule"]) == (status, rule)


def test_the_same_set_is_made_once_and_lists_have_pages(client: TestClient) -> None:
    first = made(client)
    again = client.post(PATH, json=BODY)
    assert (again.status_code, again.json()["id"]) == (200, first["id"])
    second = made(client, seed=5)
    page = client.get(f"{PATH}?limit=1").json()
    assert [line["id"] for line in page["shape_sets"]] == [second["id"]]
    older = client.get(f"{PATH}?limit=1&before={page['next_before']}").json()
    assert [line["id"] for line in older["shape_sets"]] == [first["id"]]
    assert older["next_before"] is None


def test_a_request_sent_again_with_its_key_is_answered_again(client: TestClient) -> None:
    key = {"Idempotency-Key": "set-1"}
    first, again = (client.post(PATH, json=BODY, headers=key) for _ in range(2))
    assert again.headers["idempotency-replayed"] == "true"
    assert (again.status_code, again.json()) == (first.status_code, first.json())


def test_a_set_is_cancelled_then_deleted_and_its_jobs_stay(client: TestClient) -> None:
    found = made(client)
    path = f"{PATH}/{found['id']}"
    refused = client.delete(path)
    assert (refused.status_code, refused.json()["rule"]) == (409, "set-active")
    cancelled = client.post(f"{path}/cancel").json()
    assert (cancelled["status"], cancelled["shapes"][0]["status"]) == ("cancelled", "cancelled")
    assert client.delete(path).status_code == 204
    assert client.get(path).status_code == client.delete(path).status_code == 404
    assert client.get(f"/v1/jobs/{found['shapes'][0]['job_id']}").status_code == 200
    actions = [event["action"] for event in client.get("/v1/audit").json()["events"]]
    assert actions[:3] == ["shapes.delete", "shapes.cancel", "shapes.create"]


@pytest.mark.parametrize(
    ("changes", "status", "rule"),
    [
        ({"csv": CSV}, 400, "shapes"),
        ({"shapes": None}, 400, "shapes"),
        ({"shapes": None, "csv": "m,n\n1,2\n"}, 400, "shapes"),
        ({"shapes": None, "preset": "../../etc/passwd"}, 400, "shapes"),
        ({"shapes": [{"problem": {"m": 0, "n": 1, "k": 1}}]}, 400, "shapes"),
        ({"budget": {"trials": 1, "seconds": 60}}, 400, "budget"),
        ({"budget": {"trials": 20, "seconds": 1e8}}, 400, "budget"),
        ({"device": "nosuch"}, 400, "unknown-device"),
        ({"within": 2}, 422, None),
        ({"shapes": []}, 422, None),
    ],
)
def test_what_cannot_be_meant_is_refused_by_name(
    client: TestClient, changes: dict[str, object], status: int, rule: str | None
) -> None:
    answer = client.post(PATH, json=BODY | changes)
    assert answer.status_code == status, answer.text
    assert rule is None or answer.json()["rule"] == rule
    assert client.get(PATH).json()["shape_sets"] == []


@pytest.mark.slow
def test_a_coordinator_runs_a_set_when_no_job_waits(
    database: Database,
    start: Start,
    tmp_path: Path,
) -> None:
    set_id = submitted(database, _request(6))
    settings = Settings(data_dir=tmp_path, worker_poll_s=0.05)
    tuning = start(AnyShape()).tuning

    def no_job(_job: ClaimedJob, _interrupt: threading.Event) -> JobEnd:
        raise AssertionError("jobs of the set are the set's")

    executor = tuning.executor
    assert isinstance(executor, LocalExecutor)
    engine = LocalEngine(replace(executor, here=lambda: {SPEC.id}))
    coordinator = Coordinator(
        database,
        settings,
        engine,
        lambda _database, _executor: no_job,
        set_at=lambda _database, _executor: partial(run_set, tuning, settings),
    )
    thread = threading.Thread(target=coordinator.run)
    thread.start()
    try:
        deadline = time.monotonic() + 120
        while _status(database, set_id) == "active" and time.monotonic() < deadline:
            time.sleep(0.1)
    finally:
        coordinator.stop()
        thread.join()
    assert _status(database, set_id) == "succeeded"


def _status(database: Database, set_id: UUID) -> str:
    with database.read() as session:
        found = shape_sets.get(session, set_id)
    assert found is not None
    return found.status


def test_one_process_runs_a_set_at_a_time(database: Database) -> None:
    set_id, now = submitted(database), utc_now()
    with database.write() as session:
        assert shape_sets.claim(session, set_id, "another", 60.0, lambda _: False, now) is None
    with database.read() as session:
        assert shape_sets.waiting(session, lambda _: False, now) == []
        later = now + timedelta(seconds=61)
        assert [row.id for row in shape_sets.waiting(session, lambda _: False, later)] == [set_id]
        assert [row.id for row in shape_sets.waiting(session, lambda name: name == "another", now)] == [set_id]
    with pytest.raises(Conflict, match="is run by another"), leased(database, set_id, 60.0, threading.Event()):
        pass
    with database.write() as session:
        shape_sets.give_up(session, set_id, "another", now)
    with leased(database, set_id, 60.0, threading.Event()), database.write() as session:
        held = shape_sets.claim(session, set_id, "a third", 60.0, lambda _: False, utc_now())
    assert held == own_name()


def test_a_lease_that_was_lost_stops_the_run(database: Database) -> None:
    set_id, stopped = submitted(database), threading.Event()
    with leased(database, set_id, 0.2, stopped):
        with database.write() as session:
            shape_sets.claim(session, set_id, "another", 60.0, lambda _: True, utc_now())
        assert stopped.wait(30)


def test_a_set_for_a_device_that_a_newer_version_stored_ends_and_says_why(database: Database, start: Start) -> None:
    set_id = submitted(database)
    with database.write() as session:
        device = find_set(session, set_id).device
        device.spec = device.spec | {"colour": "blue"}
    run = start(AnyShape())
    assert run(set_id)
    with database.read() as session:
        found = find_set(session, set_id)
    assert found.status == "cancelled"
    assert "OtherVersion: another version of this program stored the facts of device" in (found.error or "")


def test_a_set_that_cannot_go_on_ends_and_says_why(
    database: Database,
    start: Start,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    set_id = submitted(database)
    tuning = start(AnyShape()).tuning

    def away(*_: object) -> NoReturn:
        raise UnknownDevice("it is not in this machine")

    monkeypatch.setattr(Tuning, "opened", away)
    run_set(tuning, Settings(data_dir=tmp_path), set_id, threading.Event())
    with database.read() as session:
        found = shape_sets.get(session, set_id)
    assert found is not None
    assert (found.status, found.error) == ("cancelled", "UnknownDevice: it is not in this machine")
    assert {member.job.status for member in found.members} == {"cancelled"}
    assert len(found.members) == len(SHAPES)
    assert SPEC.id == found.device.slug


def test_the_presets_are_no_set(client: TestClient) -> None:
    for method in ("DELETE", "OPTIONS", "POST"):
        answer = client.request(method, f"{PATH}/presets")
        assert (answer.status_code, answer.headers["allow"]) == (405, "GET"), (method, answer.text)
    assert client.get(f"{PATH}/nothing").status_code == 404
