"""Ctrl-C ends a job of the command line after its present trial: it is back in the queue and resumes."""

import os
import signal
import threading
from collections.abc import Generator
from contextlib import nullcontext
from pathlib import Path

import pytest
import typer

from db.queries.results import trials
from db.session import Database
from service.cli.access.opening import open_access
from service.cli.printing.progress import INTERRUPTED
from service.cli.tuning import running
from service.cluster import local
from service.cluster.coordinator import Coordinator
from service.cluster.executor import Executor
from service.cluster.local import LocalExecutor
from service.jobs.tuning import Tuning
from tests.faults.jobs import HERE, SPEC, Place, Steps, check_whole, ended, job_of, queue
from tests.tuner.fakes import SMALL, FakeCompiler, FakeDevice

BEFORE = 2  # trials that have ended when it comes
WAIT_S = 60.0


@pytest.fixture(autouse=True)
def heeded() -> Generator[None]:
    """Undo what a shell does to its background processes, which these tests may be."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_a_job_that_is_interrupted_resumes(
    database: Database, place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = database.engine.url.render_as_string(hide_password=False)
    for name, value in (("DATA_DIR", str(tmp_path)), ("DATABASE_URL", url), ("WORKER_POLL_S", "0.02")):
        monkeypatch.setenv(f"XETUNE_{name}", value)
    job_id, sent, heard = queue(database), False, threading.Event()

    class Heard(Coordinator):
        """Tells that the signal has stopped it."""

        def stop(self) -> None:
            super().stop()
            heard.set()

    def interrupt() -> None:
        nonlocal sent
        if not sent and len(ended(database, job_id)) == BEFORE:
            sent = True
            os.kill(os.getpid(), signal.SIGINT)
            assert heard.wait(WAIT_S)  # in the main thread; this one would end the job

    steps, here = Steps(interrupt), LocalExecutor(lambda _: HERE, tmp_path / "locks")
    monkeypatch.setattr(local, "CompilePool", lambda *_: nullcontext(FakeCompiler(fuse=steps)))
    monkeypatch.setattr(local, "open_device", lambda _: FakeDevice(SMALL, SPEC, fuse=steps))

    def tuning(fenced: Database, _: Executor) -> Tuning:
        return Tuning(fenced, place.artifacts, tmp_path / "cache", executor=here)

    monkeypatch.setattr(running, "tuning_at", lambda _: tuning)
    monkeypatch.setattr(running, "Coordinator", Heard)
    with open_access() as access, pytest.raises(typer.Exit) as ended_by:
        running.work_on_job(access, job_id, quiet=True)
    assert (ended_by.value.exit_code, sent) == (INTERRUPTED, True)
    job, before = job_of(database, job_id), ended(database, job_id)
    assert (job.status, job.worker, job.error) == ("queued", None, None)
    with database.read() as session:
        assert len(trials.list_page(session, job_id)) == len(before) < 4
    with open_access() as access:
        running.work_on_job(access, job_id, quiet=True)
    assert {number: ended(database, job_id)[number] for number in before} == before
    check_whole(database, job_id, place.artifacts)
