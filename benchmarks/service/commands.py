"""Time of every command until its first output and its end: help, a refused option, and commands that list, show,
compile, tune, and take results in and out.

Run: python -m benchmarks.service.commands [--runs 5]

Each is a process of its own. Commands use a new database, then one with results, also by a service. The least
processor time and wall times of the runs are printed, so that other work on the machine counts little.
"""

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.service.filling import fill
from benchmarks.service.serving import serving
from db.migrate import prepare
from service.api.records.schemas import RECORD_EXAMPLE
from service.artifacts import ArtifactStore
from service.cli.commands import COMMANDS

_LIBRARIES = """import gc; gc.disable()
import os, sqlite3, typer, rich.console, pydantic, sqlalchemy.orm{more}
pydantic.BaseModel
engine = sqlalchemy.create_engine("sqlite:///" + os.environ["XETUNE_DATA_DIR"] + "/xetune.sqlite")
with engine.connect() as connection:
    print(connection.execute(sqlalchemy.text("SELECT count(*) FROM job")).scalar(), flush=True)
"""
"""Program of the libraries that every command with the database needs, as they are, and of one query."""

_LISTING = (
    ["jobs"],
    ["kernels"],
    ["devices"],
    ["shapes"],
    ["schedules"],
    ["keys"],
    ["recordings"],
    ["records"],
    ["audit"],
    ["toolchain"],
    ["devices", "show", "b580"],
    ["explain", "512", "384", "1024"],
)


_GEMM = ("512", "384", "1024", "--device", "b580")
_RECORD = ("--tuner", "triton", "--kernel", "matmul", "--problem", '{"M": 512}', "--device", "b60")
_SCHEDULE = ("schedules", "create", "nightly", "--cron", "30 2 * * *", "--stale", "3")
_BEFORE = (
    [*_SCHEDULE],
    ["export", "--device", "b570", "--runners-up", "--limit", "1", "-o", "runners-up.jsonl"],
    ["tune", *_GEMM, "--trials", "1"],
)
"""Commands that make what others use."""
_OF_RESULTS = (
    ["jobs"],
    ["kernels"],
    ["jobs", "show", "last"],
    ["kernels", "show", "last"],
    ["kernels", "binaries", "last"],
    ["kernels", "host-code", "last", "pyopencl"],
    ["kernels", "find", *_GEMM],
    ["kernels", "find", "511", *_GEMM[1:]],
    ["kernels", "withdraw", "last", "--reason", "wrong"],
    ["kernels", "restore", "last"],
    ["kernels", "rebuild-binaries"],
    ["records", "add", "record.json"],
    ["records", "find", *_RECORD],
    ["records", "pull", "sglang", "pulled", "--device", "b60", "--name", "a"],
    ["schedules", "show", "nightly"],
    ["schedules", "run", "nightly"],
    ["export", "--job", "last"],
    ["export", "--device", "b580"],
    ["import", "runners-up.jsonl", "--device", "opencl-cpu-as-b570"],
    ["xray", "kernel/kernel.spv", "--device", "b580"],
    ["jobs", "cancel", "last"],
    ["tune", *_GEMM, "--trials", "1"],
)
_LONG = ["measure", "runners-up.jsonl", "--device", "opencl-cpu-as-b570", "-o", "measured.jsonl"]
"""A command that is killed after its first output."""
_KERNELS, _TRIALS = 200, 2_000  # in 40 jobs
_ROOT = Path(__file__).parents[2]


def timed(arguments: list[str], folder: Path) -> tuple[float, float, float]:
    """Return the processor time of a command, and the wall times until its first output and its end, in seconds.

    The arguments may be "-c" and a program. It uses the database in `folder`, and files beside that.
    """
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    with _started(arguments, folder) as run:
        assert run.stdout is not None
        run.stdout.read(1)
        first_s = time.perf_counter() - began
        run.stdout.read()
    wall_s, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, first_s, wall_s


def _started(arguments: list[str], folder: Path) -> subprocess.Popen[bytes]:
    line = [sys.executable, *(arguments if arguments[0] == "-c" else ["-m", "service.cli", *arguments])]
    # Python keeps the bytecode of modules, as it does where a user installs them.
    environment = os.environ | {"XETUNE_DATA_DIR": str(folder), "PYTHONDONTWRITEBYTECODE": "", "PYTHONPATH": str(_ROOT)}
    return subprocess.Popen(
        line,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        cwd=folder.parent,
        bufsize=0,
        start_new_session=True,
    )


def first_output_s(arguments: list[str], folder: Path) -> float:
    """Return the wall time of a command until its first output, in seconds; it and its processes are then killed."""
    began = time.perf_counter()
    with _started(arguments, folder) as run:
        assert run.stdout is not None
        run.stdout.read(1)
        found_s = time.perf_counter() - began
        os.killpg(run.pid, signal.SIGKILL)
    return found_s


def print_row(name: str, arguments: list[str], folder: Path, runs: int) -> None:
    """Print the least times of a command, which works with the database in a folder."""
    found = [timed(arguments, folder) for _ in range(runs)]
    least = " | ".join(f"{min(times):.2f} s" for times in zip(*found, strict=True))
    print(f"| {name} | {least} |", flush=True)


def main() -> None:
    """Print a row per command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    runs: int = parser.parse_args().runs
    lines = [["--help"], ["--version"], ["tune", "--m", "3x"], *([name, "--help"] for name in COMMANDS), *_LISTING]
    print("| command | processor | first output | end |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        empty, filled = Path(folder) / "empty", Path(folder) / "filled"
        timed(["jobs"], empty)  # creates the database
        for line in lines:
            print_row(f"`xetune {' '.join(line)}`", line, empty, runs)
        print_row("`xetune compile`", ["compile", *_GEMM, "-o", "kernel"], empty, runs)

        database = prepare(f"sqlite:///{filled / 'xetune.sqlite'}", create=True)
        counts = fill(database, ArtifactStore(filled / "artifacts"), _KERNELS, _TRIALS)
        database.close()
        (Path(folder) / "record.json").write_text(
            json.dumps(RECORD_EXAMPLE | {"kernel": "matmul", "problem": {"M": 512}})
        )
        for line in _BEFORE:
            timed(line, filled)
        for name, more in (("the libraries alone", ""), ("with numpy", ", numpy")):
            print_row(name, ["-c", _LIBRARIES.format(more=more)], filled, runs)
        for line in _OF_RESULTS:
            name = f"`xetune {' '.join(line)}`, {counts['jobs']} jobs and {counts['kernels']} kernels"
            print_row(name, line, filled, runs)
        least_s = min(first_output_s(_LONG, filled) for _ in range(runs))
        print(f"| `xetune {' '.join(_LONG)}` | | {least_s:.2f} s | |", flush=True)
        with serving(filled, {"XETUNE_DATA_DIR": str(filled)}) as served:
            print_row("`xetune --server URL jobs`, the same", ["--server", served.url, "jobs"], filled, runs)


if __name__ == "__main__":
    main()
