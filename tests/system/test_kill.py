"""A job whose process is killed goes on where it was: no trial is lost, none is done twice."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

pytestmark = pytest.mark.opencl

TRIALS = 16
BEGIN_S, ORPHANS_S = 60.0, 20.0


def start(data: Path, *arguments: str) -> subprocess.Popen[str]:
    """`xetune` with its own data folder, in a process group of its own."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("XETUNE_")} | {"XETUNE_DATA_DIR": str(data)}
    command = [sys.executable, "-m", "service.cli", *arguments]
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )


def ended_trials(data: Path) -> dict[int, tuple[str, str]]:
    """Number -> (configuration, status) of the trials that ended."""
    try:
        with sqlite3.connect(f"file:{data / 'xetune.sqlite'}?mode=ro", uri=True) as connection:
            rows = connection.execute(
                "SELECT number, config_hash, status FROM trial WHERE status <> 'pending'"
            ).fetchall()
    except sqlite3.OperationalError:  # killed before the first migration
        return {}
    finally:
        if "connection" in locals():
            connection.close()
    return {number: (config, status) for number, config, status in rows}


def kill_at_random(data: Path, rng: random.Random, tune: tuple[str, ...]) -> dict[int, tuple[str, str]]:
    """Start tuning, kill -9 its process alone while it tries, and wait until its children are gone."""
    before = len(ended_trials(data))
    process = start(data, *tune)
    deadline = time.monotonic() + BEGIN_S
    while len(ended_trials(data)) == before and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(rng.uniform(0.0, 1.5))
    assert process.poll() is None, "it ended before it was killed"
    children = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.communicate()
    _, alive = psutil.wait_procs(children, timeout=ORPHANS_S)
    assert alive == [], "children outlive a killed program"
    return ended_trials(data)


@pytest.mark.parametrize(
    "kills", [pytest.param(2, id="2 kills"), pytest.param(20, id="20 kills", marks=pytest.mark.slow)]
)
def test_a_killed_job_goes_on_without_loss(tmp_path: Path, kills: int) -> None:
    rng = random.Random(7)
    trials = TRIALS if kills == 2 else 4 * kills
    size = ("--m", "72", "--n", "96", "--k", "128")
    tune = ("tune", *size, "--trials", str(trials), "--seconds", "600", "--json")
    before: dict[int, tuple[str, str]] = {}
    for kill in range(kills):
        after = kill_at_random(tmp_path, rng, tune)
        assert {number: after.get(number) for number in before} == before, f"kill {kill} lost or changed a trial"
        print(f"kill {kill + 1}: {len(after)} trials ended")
        assert len(before) < len(after) < trials, f"kill {kill} did not hit a job that goes on"
        before = after
    last = start(tmp_path, *tune)
    output, _ = last.communicate(timeout=400)
    assert last.returncode == 0, output
    final = ended_trials(tmp_path)
    assert {number: final[number] for number in before} == before
    assert sorted(final) == list(range(trials))
    assert len({config for config, _ in final.values()}) == trials
    with sqlite3.connect(tmp_path / "xetune.sqlite") as connection:
        jobs = connection.execute("SELECT status, attempts FROM job").fetchall()
    connection.close()
    assert jobs == [("succeeded", kills + 1)]


def test_ctrl_c_puts_the_job_back_and_says_how_to_go_on(tmp_path: Path) -> None:
    process = start(tmp_path, "tune", "--m", "72", "--n", "96", "--k", "128", "--trials", "500")
    deadline = time.monotonic() + 60
    while not ended_trials(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 130, output
    assert "xetune jobs resume" in output
    with sqlite3.connect(tmp_path / "xetune.sqlite") as connection:
        statuses = connection.execute("SELECT status FROM job").fetchall()
        pending = connection.execute("SELECT count(*) FROM trial WHERE status = 'pending'").fetchone()
    connection.close()
    assert (statuses, pending) == ([("queued",)], (0,))
