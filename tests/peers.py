"""Packages of others that tests compare with: installed, or in the folders that TEST_PEERS lists like PATH."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

_FOLDERS = tuple(Path(each) for each in os.environ.get("TEST_PEERS", "").split(os.pathsep) if each)


def peer_folder(name: str) -> Path:
    """Return the folder of a package, which need not be importable; skip the test without it."""
    for folder in _FOLDERS:
        if (folder / name).is_dir():
            return folder / name
    found = importlib.util.find_spec(name)
    if found is None or not found.submodule_search_locations:
        pytest.skip(f"{name} is neither installed nor in a folder of TEST_PEERS")
    return Path(found.submodule_search_locations[0])


def run_with_peers(
    script: str | Path, *arguments: object, env: dict[str, str] | None = None, extra: tuple[str, ...] = ()
) -> str:
    """Run a script, or that of a file, in a process that can import these packages; return its output."""
    path = os.pathsep.join([*map(str, _FOLDERS), *extra])
    done = subprocess.run(
        [sys.executable, *((script,) if isinstance(script, Path) else ("-c", script)), *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": path, **(env or {})},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout
