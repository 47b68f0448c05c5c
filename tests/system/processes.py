"""Processes of a cluster on this machine, which can be killed and restarted."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

WAIT_S = 600.0


def free_port() -> int:
    """Return a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@dataclass
class Processes:
    """`xetune` commands by name, each with its own folder and log, all with one database and one scheduler."""

    folder: Path
    database_url: str
    port: int = field(default_factory=free_port)
    settings: dict[str, str] = field(default_factory=dict)
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def address(self) -> str:
        """Address of the scheduler."""
        return f"tcp://127.0.0.1:{self.port}"

    def start(self, name: str, *arguments: str, prefix: tuple[str, ...] = ()) -> None:
        """Start a command, after the words of `prefix`."""
        own = {"XETUNE_DATA_DIR": str(self.folder / name), "XETUNE_DATABASE_URL": self.database_url}
        environment = {k: v for k, v in os.environ.items() if not k.startswith("XETUNE_")} | own | self.settings
        with (self.folder / f"{name}.log").open("ab") as log:
            self.running[name] = subprocess.Popen(
                [*prefix, sys.executable, "-m", "service.cli", *arguments],
                env=environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def kill(self, name: str) -> None:
        """Kill only the command with SIGKILL; its children must end by themselves."""
        process = self.running.pop(name)
        children = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        process.wait(WAIT_S)
        _, alive = psutil.wait_procs(children, timeout=60)
        assert alive == [], f"children of {name} outlive it"

    def stop_all(self) -> None:
        """Stop all running processes."""
        for process in self.running.values():
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
        for process in self.running.values():
            try:
                process.wait(40)
            except subprocess.TimeoutExpired:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait(WAIT_S)

    def log(self, name: str) -> str:
        """Return the output of a command."""
        return (self.folder / f"{name}.log").read_text(errors="replace")


def until(condition: Callable[[], bool], what: str) -> float:
    """Wait until a condition holds and return the seconds."""
    begun = time.monotonic()
    while not condition():
        assert time.monotonic() - begun < WAIT_S, f"{what}: not within {WAIT_S} s"
        time.sleep(0.1)
    return time.monotonic() - begun
