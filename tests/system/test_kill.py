"""A job whose process is killed goes on where it was: no trial is lost, none is done twice."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

import psutil
import pytest

pytestmark = [pytest.mark.opencl, pytest.mark.slow]

TRIALS = 12
MOST_A_LIFE = 3  # trials of one life, or a fast machine would end the job before the last kill
BEGIN_S = 90.0  # of processor time
HANGS_S, ORPHANS_S, AT_ONCE_S = 900.0, 20.0, 30.0  # on a machine that others use too


def start(data: Path, *arguments: str) -> subprocess.Popen[str]:
    """`xetune` with its own data folder, in a process group of its own."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("XETUNE_")} | {"XETUNE_DATA_DIR": str(data)}
    command = [sys.executable, "-m", "service.cli", *arguments]
    return subprocess.Popen(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        preexec_fn=_heed_ctrl_c,
    )


def _heed_ctrl_c() -> None:
    """Undo what a shell does to its background processes, which may be these tests."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def ended_trials(data: Path) -> dict[int, tuple[str, str]]:
    """Number -> (configuration, status) of the trials that ended; none before the first migration."""
    if not (data / "xetune.sqlite").exists():
        return {}
    with closing(sqlite3.connect(f"file:{data / 'xetune.sqlite'}?mode=ro", uri=True)) as connection:
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'trial'").fetchone():
            return {}
        rows = connection.execute("SELECT number, config_hash, status FROM trial WHERE status <> 'pending'").fetchall()
    return {number: (config, status) for number, config, status in rows}


def spent_s(process: psutil.Process) -> float:
    """Seconds of processor time of a process and its children."""
    spent = 0.0
    for each in (process, *process.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            times = each.cpu_times()
            spent += times.user + times.system
    return spent


def wait_for_trial(data: Path, process: subprocess.Popen[str], before: int = 0) -> None:
    """Wait until more than `before` trials ended, for some processor time: other programs may need the machine."""
    running, deadline = psutil.Process(process.pid), time.monotonic() + HANGS_S
    while len(ended_trials(data)) <= before:
        assert process.poll() is None, f"it ended with status {process.returncode}: {process.communicate()[0]}"
        assert spent_s(running) < BEGIN_S, f"no trial ended in {BEGIN_S} s of processor time"
        assert time.monotonic() < deadline, f"no trial ended in {HANGS_S} s"
        time.sleep(0.3)


def kill_at_random(data: Path, rng: random.Random, tune: tuple[str, ...]) -> dict[int, tuple[str, str]]:
    """Start tuning, kill -9 its process alone while it tries, and wait until its children are gone."""
    before = len(ended_trials(data))
    process = start(data, *tune)
    wait_for_trial(data, process, before)
    moment = time.monotonic() + rng.uniform(0.0, 1.5)
    while time.monotonic() < moment and len(ended_trials(data)) < before + MOST_A_LIFE:
        time.sleep(0.05)
    assert process.poll() is None, "it ended before it was killed"
    children = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.communicate()
    _, alive = psutil.wait_procs(children, timeout=ORPHANS_S)
    assert alive == [], "children outlive a killed program"
    return ended_trials(data)


@pytest.mark.parametrize("kills", [pytest.param(1, id="1 kill"), pytest.param(20, id="20 kills")])
def test_a_killed_job_goes_on_without_loss(tmp_path: Path, kills: int) -> None:
    rng = random.Random(7)
    trials = TRIALS if kills == 1 else 4 * kills
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
    output, _ = last.communicate(timeout=HANGS_S)
    assert last.returncode == 0, output
    final = ended_trials(tmp_path)
    assert {number: final[number] for number in before} == before
    assert sorted(final) == list(range(trials))
    assert len({config for config, _ in final.values()}) == trials
    with sqlite3.connect(tmp_path / "xetune.sqlite") as connection:
        jobs = connection.execute("SELECT status, attempts FROM job").fetchall()
    connection.close()
    assert jobs == [("succeeded", kills + 1)]


def begin(data: Path) -> subprocess.Popen[str]:
    """A job of many trials, one of which has ended."""
    process = start(data, "tune", "--m", "72", "--n", "96", "--k", "128", "--trials", "500")
    wait_for_trial(data, process)
    return process


def jobs_and_pending(data: Path) -> tuple[list[tuple[str, str | None]], int]:
    """Status and worker of each job; how many trials have begun and not ended."""
    with sqlite3.connect(data / "xetune.sqlite") as connection:
        jobs = connection.execute("SELECT status, worker FROM job").fetchall()
        (pending,) = connection.execute("SELECT count(*) FROM trial WHERE status = 'pending'").fetchone()
    connection.close()
    return jobs, pending


def test_ctrl_c_puts_the_job_back_and_says_how_to_go_on(tmp_path: Path) -> None:
    process = begin(tmp_path)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 130, output
    assert "xetune jobs resume" in output
    assert jobs_and_pending(tmp_path) == ([("queued", None)], 0)


def test_ctrl_c_twice_ends_at_once_and_leaves_the_job_to_be_resumed_and_no_process(tmp_path: Path) -> None:
    process = begin(tmp_path)
    # All its processes are up by then: one that is stopped while it starts does not see its parent end.
    wait_for_trial(tmp_path, process, before=5)
    children = psutil.Process(process.pid).children(recursive=True)
    for child in psutil.Process(process.pid).children():
        ended = child.status() == psutil.STATUS_ZOMBIE  # has told what drivers there are
        if not ended and "spawn_main" in " ".join(child.cmdline()):  # compiles, or runs kernels
            child.suspend()  # the present trial does not end by itself
    try:
        process.send_signal(signal.SIGINT)
        assert process.stdout is not None
        while "stopping after the present trial" not in process.stdout.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=AT_ONCE_S)
    finally:
        _, alive = psutil.wait_procs(children, timeout=ORPHANS_S)
    assert alive == []
    assert process.returncode == 130, output
    assert "stopped at once; finished trials are stored; `xetune jobs resume" in output
    jobs, pending = jobs_and_pending(tmp_path)
    assert (jobs, pending <= 1) == ([("queued", None)], True)
