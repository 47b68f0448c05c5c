"""A supervised process is started again when it dies, and only until it is stopped."""

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from service.jobs import supervisor
from service.jobs.supervisor import Supervisor

SLEEP = [sys.executable, "-S", "-c", "import time; time.sleep(600)"]


def wait_for(condition: Callable[[], bool]) -> None:
    """Return when the condition holds."""
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "it did not come true"
        time.sleep(0.01)


def test_a_process_that_is_killed_is_started_again_until_it_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "_SHORTEST_WAIT_S", 0.01)
    watched = Supervisor(SLEEP, 20.0)
    watched.start()
    wait_for(lambda: watched.pid is not None)
    first = watched.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    wait_for(lambda: watched.pid != first)
    second = watched.pid
    assert second is not None
    watched.stop()
    assert not psutil.pid_exists(second)
    assert watched.pid == second


def test_a_process_that_does_not_stop_is_killed(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    ignoring = "trap '' TERM; touch \"$0\"; while true; do sleep 600; done"
    watched = Supervisor(["sh", "-c", ignoring, str(ready)], 0.1)
    watched.start()
    wait_for(ready.exists)
    watched.stop()
    assert watched.pid is not None
    assert not psutil.pid_exists(watched.pid)


@pytest.mark.slow
def test_waits_double_up_to_the_longest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "_SHORTEST_WAIT_S", 0.01)
    monkeypatch.setattr(supervisor, "_LONGEST_WAIT_S", 0.03)
    waits: list[float] = []
    watched = Supervisor(["false"], 20.0)
    real = watched._stopping.wait

    def wait(seconds: float) -> bool:
        waits.append(seconds)
        return real(seconds)

    monkeypatch.setattr(watched._stopping, "wait", wait)
    watched.start()
    wait_for(lambda: len(waits) > 3)
    watched.stop()
    assert waits[:4] == [0.01, 0.02, 0.03, 0.03]
