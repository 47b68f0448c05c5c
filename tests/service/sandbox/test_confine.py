"""A confined child inherits nothing, reaches nothing outside, and ends at its limits with all that it started."""

import os
import tempfile
import time
from dataclasses import replace

import psutil
import pytest

from service.sandbox.limits import (
    Grants,
    Limit,
    Limits,
)
from service.sandbox.parent import (
    ChildEnded,
    LimitReached,
    probe,
    run_confined,
)

ACTS = "tests.service.sandbox.confined_acts"
LIMITS = Limits(memory_bytes=2**29, cpu_s=2, wall_s=20.0, file_bytes=2**20, processes=16)


def said(act: str, limits: Limits = LIMITS) -> str:
    """Run an act in a confined child and return its result."""
    return str(run_confined(ACTS, act, limits).document["said"])


def test_it_has_no_environment_no_open_file_and_an_empty_folder_that_goes_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XETUNE_DATABASE_URL", "postgresql://user:secret@host/name")
    with open(os.devnull) as kept:  # noqa: PTH123 (a file to inherit)
        os.set_inheritable(kept.fileno(), True)
        found = run_confined(ACTS, "surroundings", LIMITS).document
    assert set(found["environment"]) <= {"LC_CTYPE"}  # pyright: ignore[reportArgumentType]
    assert found["files"] == [3]  # where it writes its answer
    folder = str(found["folder"])
    assert "xetune-confined-" in folder
    assert not os.path.exists(folder)  # noqa: PTH110


@pytest.mark.parametrize(
    ("act", "fact"),
    [
        ("connect", "network"),
        ("write", "files"),
        ("write elsewhere", "files"),
        ("read", "files"),
        ("read the parent", "files"),
        ("start", "system_calls"),
        ("signal", "system_calls"),
        ("leave", "system_calls"),
    ],
)
def test_it_reaches_nothing_of_what_this_machine_can_keep_from_it(act: str, fact: str) -> None:
    held = probe(LIMITS)
    if getattr(held, fact) == "none":
        pytest.skip(f"{fact} of a child cannot be limited here: {held}")
    assert said(act) in ("PermissionError", "OSError" if fact == "network" else "")


@pytest.mark.parametrize(
    ("act", "limit"),
    [("loop", Limit.CPU_TIME), ("nest", Limit.NESTING), ("allocate", Limit.MEMORY), ("sleep", Limit.WALL_TIME)],
)
def test_a_limit_ends_it_and_is_named(act: str, limit: Limit) -> None:
    limits = replace(LIMITS, cpu_s=1, wall_s=0.3 if limit is Limit.WALL_TIME else 20.0)
    began = time.monotonic()
    with pytest.raises(LimitReached) as reached:
        said(act, limits)
    assert reached.value.limit is limit
    assert time.monotonic() - began < 15


def test_what_it_started_is_gone_with_it() -> None:
    own = replace(LIMITS, wall_s=20.015625)  # told by it from those of other tests
    forks = int(said("fork", own).removeprefix("did it: "))
    assert 0 < forks <= 200
    if probe(LIMITS).processes:
        assert forks <= LIMITS.processes
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline and _running(str(own.wall_s)):
        time.sleep(0.05)
    assert _running(str(own.wall_s)) == []


def _running(word: str) -> list[int]:
    """Return processes with a word in their arguments, orphans included."""
    found = psutil.process_iter(["cmdline", "status"])
    return [
        process.pid
        for process in found
        if process.info["status"] != psutil.STATUS_ZOMBIE and word in " ".join(process.info["cmdline"] or [])
    ]


@pytest.mark.parametrize(("act", "words"), [("abort", "SIGABRT"), ("raise", "KeyError: 'nothing'")])
def test_a_child_that_breaks_says_how(act: str, words: str) -> None:
    with pytest.raises(ChildEnded, match=words):
        said(act)


def test_with_programs_granted_it_starts_those_of_the_system_and_writes_to_its_own_folder_alone() -> None:
    grants = Grants(programs=("/opt",))

    def told(act: str) -> str:
        return str(run_confined(ACTS, act, LIMITS, grants).document["said"])

    assert (told("start")[:7], told("write")) == ("did it:", "did it: 1")
    if probe(LIMITS).files == "none":
        pytest.skip("files of a child cannot be limited here")
    assert {told(act) for act in ("write elsewhere", "read", "signal", "leave")} == {"PermissionError"}
    assert told("run what it wrote") == "PermissionError"


def test_a_file_that_is_granted_is_read_under_its_number() -> None:
    with tempfile.TemporaryFile() as file:
        file.write(b"granted")
        file.seek(0)
        found = run_confined(ACTS, f"inherited {file.fileno()}", LIMITS, Grants(files=(file.fileno(),)))
    assert found.document == {"said": "did it: b'granted'"}
