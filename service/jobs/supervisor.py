"""Supervised child process: restarted when it dies, and ended when this process does."""

import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from contextlib import suppress

from service.telemetry.loggers import Logger

LATE_S = 5.0
"""Time after XETUNE_SHUTDOWN_S at which a process that did not end is killed."""
_ORPHAN_S = 5.0
_SHORTEST_WAIT_S = 1.0
_LONGEST_WAIT_S = 30.0
_HEALTHY_S = 60.0
_log = Logger(__name__)


class Supervisor:
    """Supervisor of one process of a command, from `start` until `stop`. Owns one thread.

    A process that dies is restarted after 1 s, then after twice as long each time, up to 30 s; the delay is
    reset when one lived for a minute.

    A process that has not ended `stop_s` seconds after it was asked to is killed.
    """

    def __init__(self, command: Sequence[str], stop_s: float) -> None:
        self._command, self._stop_s = command, stop_s
        self._deadline: float | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._stopping = threading.Event()
        self._starting = threading.Lock()
        self._thread = threading.Thread(target=self._watch, name="supervisor", daemon=True)

    @property
    def pid(self) -> int | None:
        """Process id of the latest process; None before the first."""
        return self._process.pid if self._process is not None else None

    def start(self) -> None:
        """Start the process and its supervision."""
        self._thread.start()

    def ask(self) -> None:
        """Ask the process to end, once, and return at once."""
        with self._starting:
            if self._stopping.is_set():
                return
            self._stopping.set()
        self._deadline = time.monotonic() + self._stop_s
        if self._process is not None:
            self._process.terminate()

    def stop(self) -> None:
        """Ask the process to end, kill its group `stop_s` after the first request, and return when it is gone."""
        self.ask()
        process, deadline = self._process, self._deadline or 0.0
        self._thread.join(max(deadline - time.monotonic(), 0.0))
        if process is not None and self._thread.is_alive():
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        self._thread.join()

    def _watch(self) -> None:
        wait_s = _SHORTEST_WAIT_S
        while True:
            with self._starting:
                if self._stopping.is_set():
                    return
                process = self._process = subprocess.Popen(self._command, start_new_session=True)
            began = time.monotonic()
            code = process.wait()
            if self._stopping.is_set():
                return
            if time.monotonic() - began > _HEALTHY_S:
                wait_s = _SHORTEST_WAIT_S
            _log.warning("worker died", pid=process.pid, exit_code=code, starts_again_in_s=wait_s)
            if self._stopping.wait(wait_s):
                return
            wait_s = min(2 * wait_s, _LONGEST_WAIT_S)


def end_within(seconds: float) -> None:
    """Kill this process with its children if it has not ended after that time."""
    watch = threading.Timer(seconds, _end_late, args=(seconds,))
    watch.daemon = True
    watch.start()


def _end_late(seconds: float) -> None:
    _log.error("the process did not end in time and is killed", seconds=seconds)
    os.kill(os.getpid(), signal.SIGKILL)


def end_with(parent: int) -> None:
    """End this process soon after its parent process `parent`: it is asked to stop, and killed if it does not."""
    threading.Thread(target=_end_with, args=(parent,), name="parent watch", daemon=True).start()


def _end_with(parent: int) -> None:
    with suppress(ProcessLookupError):
        watched = os.pidfd_open(parent)
        if os.getppid() == parent:  # otherwise it died before, and its id may be reused
            select.select([watched], [], [])
    _log.warning("the process that started this one is gone", parent=parent)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_ORPHAN_S)
    os.kill(os.getpid(), signal.SIGKILL)
