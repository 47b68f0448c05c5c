"""The service in a process of its own, as an operator starts it, for benchmarks that ask it over loopback."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

_START_S, _STOP_S = 120.0, 60.0


@dataclass(frozen=True, slots=True)
class Served:
    """A service that answers at `url`; its log is a file."""

    url: str
    process: psutil.Process
    log: Path

    @property
    def rss_mb(self) -> float:
        """Memory of its own process that is in use, in MB; its worker's is not."""
        return self.process.memory_info().rss / 1e6

    @property
    def processor_s(self) -> float:
        """Processor time that it took since it began, in seconds."""
        times = self.process.cpu_times()
        return times.user + times.system

    @property
    def worker(self) -> psutil.Process | None:
        """The worker that it started; None where there is none just now."""
        for child in self.process.children():
            with suppress(psutil.Error):  # it ended a moment ago
                if "worker" in child.cmdline():
                    return child
        return None


@contextmanager
def serving(folder: Path, variables: Mapping[str, str], command: tuple[str, ...] = ()) -> Generator[Served]:
    """A service on a free port of loopback with those settings, until the block ends."""
    port = _free_port()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("XETUNE_")}
    environment |= {"XETUNE_PORT": str(port), "XETUNE_HOST": "127.0.0.1", **variables}
    log = folder / "serve.log"
    line = [sys.executable, "-m", *(command or ("service.cli", "serve", "--no-worker"))]
    with log.open("ab") as file:
        started = subprocess.Popen(line, env=environment, stdout=file, stderr=file, start_new_session=True)
    served = Served(f"http://127.0.0.1:{port}", psutil.Process(started.pid), log)
    try:
        _wait_until_up(served, started)
        yield served
    finally:
        started.terminate()
        try:
            started.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            os.killpg(started.pid, signal.SIGKILL)
            started.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait_until_up(served: Served, started: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline:
        if started.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"{served.url}/healthz", timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError(f"the service did not come up; its log ends:\n{served.log.read_text()[-2000:]}")
