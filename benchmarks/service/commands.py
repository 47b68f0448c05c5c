"""Time of every command until its first output and its end: help, a refused option, and commands that list.

Run: python -m benchmarks.service.commands [--runs 5]

Each is a process of its own, with a new database where it lists; the least processor time and wall times of the runs
are printed, so that other work on the machine counts little.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from service.cli.commands import COMMANDS

_LISTING = (
    ["jobs"],
    ["kernels"],
    ["devices"],
    ["shapes"],
    ["schedules"],
    ["keys"],
    ["recordings"],
    ["toolchain"],
    ["explain", "512", "384", "1024"],
)


def timed(arguments: list[str], folder: str) -> tuple[float, float, float]:
    """Return the processor time of a command, and the wall times until its first output and its end, in seconds."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    line = [sys.executable, "-m", "service.cli", *arguments]
    # Python keeps the bytecode of modules, as it does where a user installs them.
    environment = os.environ | {"XETUNE_DATA_DIR": folder, "PYTHONDONTWRITEBYTECODE": ""}
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment, bufsize=0) as run:
        assert run.stdout is not None
        run.stdout.read(1)
        first_s = time.perf_counter() - began
        run.stdout.read()
    wall_s, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, first_s, wall_s


def main() -> None:
    """Print a row per command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    runs: int = parser.parse_args().runs
    lines = [["--help"], ["--version"], ["tune", "--m", "3x"], *([name, "--help"] for name in COMMANDS), *_LISTING]
    print("| command | processor | first output | end |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        timed(["jobs"], str(Path(folder)))  # creates the database
        for line in lines:
            found = [timed(line, folder) for _ in range(runs)]
            least = " | ".join(f"{min(times):.2f} s" for times in zip(*found, strict=True))
            print(f"| `xetune {' '.join(line)}` | {least} |")


if __name__ == "__main__":
    main()
