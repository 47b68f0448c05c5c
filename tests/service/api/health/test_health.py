"""Readiness names each missing part; the service keeps serving where it can."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest
from fastapi.testclient import TestClient

from db.queries.cluster import (
    coordinators,
    heartbeats,
)
from db.schema.presence import Presence
from db.session import Database
from service.api.compile.service import Compiler
from service.api.health.storage import StorageCheck
from service.http.context import Context
from service.jobs.heartbeat import (
    Role,
    present,
)
from service.sandbox.limits import (
    Held,
    Limits,
)
from service.sandbox.parent import ConfinedFailure
from service.settings import Settings
from tests.service.api.compile.unconfined import NOTHING_HELD
from tests.service.rest import Clock


def checks(client: TestClient) -> dict[str, str | None]:
    """Return the detail of each failed check."""
    answer = client.get("/readyz")
    assert answer.status_code == 200
    ready = answer.json()
    failed = {check["name"]: check["detail"] for check in ready["checks"] if not check["ok"]}
    assert ready["status"] == ("degraded" if failed else "ready")
    return failed


def note(context: Context, role: Role) -> None:
    """Record a heartbeat of a process of a role."""
    with context.database.write() as session:
        heartbeats.note(session, role.value, f"lab/{role}", host="lab", version="1", now=context.now())


def test_processes_that_say_that_they_are_there_count_until_they_are_silent(
    client: TestClient, context: Context, clock: Clock
) -> None:
    failed = checks(client)
    assert all("just started is seen within" in (failed[role] or "") for role in ("worker", "scheduler"))
    for role in Role:
        note(context, role)
    assert not {"worker", "scheduler"} & checks(client).keys()
    clock.step(seconds=4.5 * context.settings.heartbeat_s)
    note(context, Role.SCHEDULER)
    failed = checks(client)
    assert "scheduler" not in failed
    assert "xetune worker" in (failed["worker"] or "")


def test_a_folder_of_artifacts_that_cannot_be_made_is_named_with_the_reason(
    client: TestClient, context: Context, tmp_path: Path
) -> None:
    context.artifacts.root.write_text("in the way")
    assert "cannot be written" in (checks(client)["artifacts"] or "")


def test_a_compiler_that_does_not_start_is_named(
    client: TestClient, context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(context.compiler), "confinement", lambda _self: None)
    assert "nothing is compiled on request" in (checks(client)["compiler"] or "")


def test_a_process_is_present_as_long_as_its_block_lasts(database: Database, clock: Clock) -> None:
    noted = Event()

    def now() -> object:
        noted.set()
        return clock()

    with present(database, Role.WORKER, "lab/1", 600.0, now):  # pyright: ignore[reportArgumentType]
        assert noted.wait(20)
        for _ in range(2000):
            if processes(database):
                break
            Event().wait(0.01)
        assert [(row.role, row.name, row.seen_at) for row in processes(database)] == [("worker", "lab/1", clock())]
    assert processes(database) == []


def processes(database: Database) -> list[Presence]:
    """Return the heartbeats."""
    with database.read() as session:
        return heartbeats.list_all(session)


def test_a_second_beat_moves_the_time_on_and_old_processes_are_forgotten(database: Database, clock: Clock) -> None:
    for name, hours in (("old", 0), ("new", 30), ("new", 1)):
        clock.step(hours=hours)
        with database.write() as session:
            heartbeats.note(session, "worker", name, host="lab", version="1", now=clock())
    with database.write() as session:
        new, old = heartbeats.list_all(session)
        assert (new.name, (new.seen_at - new.started_at).total_seconds()) == ("new", 3600)
        heartbeats.forget(session, old.seen_at.replace(year=2027))
    assert processes(database) == []


def test_a_lease_to_give_out_jobs_that_ran_out_is_named(client: TestClient, context: Context, clock: Clock) -> None:
    assert "no job is begun" in (checks(client)["coordinator"] or "")
    with context.database.write() as session:
        coordinators.acquire(session, "machine lab", "lab/1", 15.0, now=context.now())
    assert "coordinator" not in checks(client)
    clock.step(seconds=16.0)
    assert "coordinator" in checks(client)


def test_the_compiler_is_looked_for_again_after_it_did_not_start(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment, tries = [100.0], list[float]()

    def failing(_limits: Limits) -> Held:
        tries.append(moment[0])
        if len(tries) < 3:
            raise ConfinedFailure("no memory")
        return held

    held = NOTHING_HELD
    monkeypatch.setattr("service.api.compile.service.probe", failing)
    compiler = Compiler(settings, clock=lambda: moment[0])
    for later_s, found in ((0.0, False), (1.0, False), (20.0, False), (20.0, True), (20.0, True)):
        moment[0] += later_s
        assert (compiler.confinement() is not None) is found
    assert tries == [100.0, 121.0, 141.0]


def test_who_asks_while_the_compiler_is_first_looked_for_waits_for_it(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = NOTHING_HELD
    begun, may_end, tries = Event(), Event(), list[Limits]()

    def slow(limits: Limits) -> Held:
        tries.append(limits)
        begun.set()
        assert may_end.wait(30)
        return held

    monkeypatch.setattr("service.api.compile.service.probe", slow)
    compiler = Compiler(settings)
    with ThreadPoolExecutor() as pool:
        first = pool.submit(compiler.confinement)
        assert begun.wait(30)
        second = pool.submit(compiler.confinement)
        with pytest.raises(TimeoutError):
            second.result(timeout=0.1)
        may_end.set()
        assert first.result(30) is not None
        assert first.result(30) == second.result(30)
    assert len(tries) == 1


def test_the_folder_of_artifacts_is_written_once_however_often_readiness_is_asked(tmp_path: Path) -> None:
    now, folder = [0.0], tmp_path / "artifacts"
    check = StorageCheck(folder, lambda: now[0])
    assert check.fault() is None
    assert list(folder.iterdir()) == []
    folder.rmdir()
    folder.write_bytes(b"")
    assert check.fault() is None
    now[0] = 6.0
    assert "cannot be written" in (check.fault() or "")
