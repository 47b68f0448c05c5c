"""Memory and processor time of whole jobs without the GPU: bounded, whatever the sizes of the operands."""

import os
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

pytestmark = pytest.mark.slow
EVERY_S = 0.25
CPU_S = 90
"""Most processor time, twice that of a slow machine."""


@dataclass(frozen=True, slots=True)
class Used:
    """Most memory that a command and its children held at a time, shared pages once, and their processor time."""

    nbytes: int
    cpu_s: float


def used_by(folder: Path, *arguments: str) -> Used:
    """Run a command of `xetune` with a data folder of its own."""
    own = {"XETUNE_DATA_DIR": str(folder)}
    environment = {k: v for k, v in os.environ.items() if not k.startswith("XETUNE_")} | own
    before, most = _cpu_s(), 0
    with (folder / "log").open("wb") as log:
        command = [sys.executable, "-m", "service.cli", *arguments]
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        while process.poll() is None:
            most = max(most, _held(process.pid))
            time.sleep(EVERY_S)
    assert process.returncode == 0, (folder / "log").read_text()
    return Used(most, _cpu_s() - before)


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _held(pid: int) -> int:
    total = 0
    try:
        processes = [pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))]
    except psutil.NoSuchProcess:
        return 0
    for each in processes:
        try:
            lines = Path(f"/proc/{each}/smaps_rollup").read_text().splitlines()
        except OSError:  # it ended
            continue
        total += sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
    return total


def test_a_job_of_a_vocabulary_takes_a_part_of_its_operands(tmp_path: Path) -> None:
    """B has 1.05 GB, of which each trial needs 17 MB; the processes themselves hold about 0.4 GB."""
    used = used_by(
        tmp_path,
        "tune",
        "1x128256x4096",
        *("--layout", "nt", "--dtype", "bf16", "--device", "b580", "--trials", "8"),
    )
    assert used.nbytes < 1e9
    assert used.cpu_s < CPU_S


def test_a_set_of_vocabularies_holds_no_more_than_one_of_them(tmp_path: Path) -> None:
    """Each B has 0.62 GB; a reference that is no longer used is dropped when the next one is asked for."""
    shapes = "m=1,8,16 n=151936 k=2048"
    used = used_by(tmp_path, "tune", "--shapes", shapes, "--dtype", "f16", "--device", "b70", "--trials", "3")
    assert used.nbytes < 2e9
