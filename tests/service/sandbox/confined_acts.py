"""Acts that tests run in a confined child process."""

import os
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path


def _said(act: Callable[[], object]) -> str:
    try:
        return f"did it: {act()}"
    except OSError as error:
        return type(error).__name__


def _forks(most: int) -> int:
    children: list[int] = []
    try:
        for _ in range(most):
            child = os.fork()
            if child == 0:
                time.sleep(20)
                os._exit(0)
            children.append(child)
    except OSError:
        pass
    return len(children)


def _written_program() -> int:
    Path("program").write_text("#!/bin/sh\n")
    Path("program").chmod(0o755)
    return subprocess.run(["./program"], check=True).returncode


def _endless() -> None:
    while True:
        pass


def _nested(depth: int) -> int:
    return _nested(depth + 1)


def run(act: str) -> dict[str, object]:
    """Run one act and return its result."""
    acts: dict[str, Callable[[], object]] = {
        "surroundings": lambda: {
            "environment": sorted(os.environ),
            "folder": str(Path.cwd()),
            "files": sorted(int(name) for name in range(3, 256) if _is_open(name)),
        },
        "connect": lambda: socket.create_connection(("127.0.0.1", 9), timeout=1),
        "write": lambda: Path("x").write_text("x"),
        "write elsewhere": lambda: Path("/tmp/xetune-confined-x").write_text("x"),
        "read": lambda: Path("/etc/passwd").read_text(),
        "read the parent": lambda: Path(f"/proc/{os.getppid()}/environ").read_bytes(),
        "start": lambda: subprocess.run(["/bin/true"], check=True),
        "signal": lambda: os.kill(os.getppid(), 0),
        "leave": os.setsid,
        "sleep": lambda: time.sleep(60),
        "fork": lambda: _forks(200),
        "loop": _endless,
        "nest": lambda: _nested(0),
        "allocate": lambda: len(bytearray(2**33)),
        "abort": os.abort,
        "run what it wrote": _written_program,
        "raise": lambda: {}["nothing"],
    }
    if act.startswith("inherited "):
        return {"said": _said(lambda: os.read(int(act.split()[1]), 100))}
    if act == "surroundings":
        found = acts[act]()
        assert isinstance(found, dict)
        return found
    return {"said": _said(acts[act])}


def _is_open(file: int) -> bool:
    try:
        os.fstat(file)
    except OSError:
        return False
    return True
