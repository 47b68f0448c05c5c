"""SIGTERM during work: streams are closed, running requests answered and the job requeued, in time."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path

import httpx
import psutil
import pytest

from tests.system.processes import free_port, until

STREAMS, SHUTDOWN_S, LATE_S = 20, 20, 5


class Service:
    """`xetune serve` with a worker, on its own folder and port."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.folder, self.port = folder, free_port()
        environment = {k: v for k, v in os.environ.items() if not k.startswith("XETUNE_")}
        environment |= {"XETUNE_DATA_DIR": str(folder), "XETUNE_PORT": str(self.port)} | settings
        with (folder / "log").open("wb") as log:
            command = [sys.executable, "-m", "service.cli", "serve"]
            self.process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
        self.url = f"http://127.0.0.1:{self.port}"

    def is_up(self) -> bool:
        assert self.process.poll() is None, self.log()
        try:
            return httpx.get(f"{self.url}/healthz").status_code == 200
        except httpx.TransportError:
            return False

    def log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")

    def jobs(self) -> list[tuple[str, str | None, int]]:
        """Return status, worker and number of ended trials of each job."""
        with closing(sqlite3.connect(f"file:{self.folder / 'xetune.sqlite'}?mode=ro", uri=True)) as connection:
            return connection.execute(
                "SELECT status, worker, (SELECT count(*) FROM trial WHERE job_id = job.id AND status <> 'pending')"
                " FROM job"
            ).fetchall()


@pytest.fixture
def service(tmp_path: Path) -> Generator[Service]:
    """Start a service with `SHUTDOWN_S` seconds to stop."""
    made = Service(tmp_path, XETUNE_SHUTDOWN_S=str(SHUTDOWN_S), XETUNE_EVENTS_POLL_S="0.2")
    family = psutil.Process(made.process.pid)
    yield made
    for each in [*family.children(recursive=True), family] if made.process.poll() is None else []:
        each.kill()
    made.process.wait()


def listen(url: str) -> str:
    """Read a job's whole event stream, which must end as a complete answer."""
    with httpx.stream("GET", url, timeout=None) as answer:
        assert answer.status_code == 200
        return "".join(answer.iter_text())


def is_compiling(service: Service) -> bool:
    """Return whether the confined child of a request runs: a request that arrives later would be refused."""
    for process in psutil.Process(service.process.pid).children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if "service.sandbox.child" in process.cmdline():
                return True
    return False


@pytest.mark.slow
@pytest.mark.opencl
def test_streams_are_closed_a_request_is_answered_and_the_job_is_put_back(service: Service) -> None:
    until(service.is_up, "the service")
    body = {"problem": {"m": 96, "n": 160, "k": 224}, "device": "cpu", "budget": {"trials": 5000, "seconds": 3000}}
    answer = httpx.post(f"{service.url}/v1/jobs", json=body)
    assert answer.status_code == 202, answer.text
    events = f"{service.url}/v1/jobs/{answer.json()['id']}/events"
    with ThreadPoolExecutor(STREAMS + 1) as pool:
        until(lambda: service.jobs()[0][2] > 0, "the first trial")
        listeners = [pool.submit(listen, events) for _ in range(STREAMS)]
        streams = f"xetune_event_streams {STREAMS}.0"
        until(lambda: streams in httpx.get(f"{service.url}/metrics").text, "the streams")
        compiled = pool.submit(
            httpx.post,
            f"{service.url}/v1/compile",
            json={"problem": {"m": 512, "n": 384, "k": 1024}, "device": "b580"},
            timeout=60,
        )
        until(lambda: is_compiling(service), "the compilation")
        family = psutil.Process(service.process.pid).children(recursive=True)
        begun = time.monotonic()
        os.kill(service.process.pid, signal.SIGTERM)
        heard = [listener.result(SHUTDOWN_S + LATE_S) for listener in listeners]
        request = compiled.result(SHUTDOWN_S + LATE_S)
    service.process.wait(SHUTDOWN_S + LATE_S)
    assert time.monotonic() - begun < SHUTDOWN_S + LATE_S
    assert all("event: job" in text for text in heard)
    assert request.status_code == 200, request.text
    _, alive = psutil.wait_procs(family, timeout=20)
    assert alive == []
    ((status, worker, trials),) = service.jobs()
    assert (status, worker) == ("queued", None)
    assert trials > 0
