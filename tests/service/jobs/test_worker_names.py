"""A worker is called dead only where its process id means something, and only when it is gone."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from service.jobs import worker_names
from service.jobs.worker_names import (
    is_dead,
    own_name,
)


def test_a_live_process_is_not_dead() -> None:
    assert own_name() == own_name()
    assert not is_dead(own_name())


def test_a_process_that_ended_is_dead() -> None:
    print_name = "from service.jobs.worker_names import own_name; print(own_name())"
    ran = subprocess.run([sys.executable, "-c", print_name], capture_output=True, text=True, check=True)
    assert is_dead(ran.stdout.strip())


def test_another_process_of_the_same_number_is_not_taken_for_it() -> None:
    host, place, number, ticks = own_name().split("/")
    assert is_dead(f"{host}/{place}/{number}/{int(ticks) - 1}")


def test_the_name_of_the_host_does_not_matter() -> None:
    assert not is_dead(f"renamed/{own_name().partition('/')[2]}")


@pytest.mark.parametrize("old", ["-", ":pid:["])
def test_nothing_is_known_of_another_boot_or_namespace(old: str) -> None:
    host, place, number, _ = own_name().split("/")
    assert old in place
    assert not is_dead(f"{host}/{place.replace(old, old + '1', 1)}/{number}/1")


def test_nothing_is_known_without_proc(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    gone = own_name().rpartition("/")[0] + "/1"
    assert is_dead(gone)
    monkeypatch.setattr(worker_names, "_PROC", tmp_path)
    assert not is_dead(gone)
    assert not is_dead(own_name())


@pytest.mark.parametrize("name", ["", "w", "host/1/2.00", "a/b/c/d/e"])
def test_nothing_is_known_of_other_names(name: str) -> None:
    assert not is_dead(name)


def test_a_process_that_proc_hides_is_not_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"{own_name().rsplit('/', 2)[0]}/{os.getppid()}/1"
    assert is_dead(name)
    monkeypatch.setattr(worker_names, "_start_ticks", lambda _pid: None)
    assert not is_dead(name)
