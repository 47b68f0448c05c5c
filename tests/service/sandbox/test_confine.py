"""A confined child inherits nothing, reaches nothing outside, and ends at its limits with all that it started."""

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from service import sandbox
from service.sandbox import seccomp
from service.sandbox.limits import (
    NO_GRANTS,
    Grants,
    Held,
    Limit,
    Limits,
)
from service.sandbox.linux import landlock_version
from service.sandbox.parent import (
    ChildEnded,
    LimitReached,
    probe,
    run_confined,
)

ACTS = "tests.service.sandbox.confined_acts"
HEADERS = Path("/usr/include")
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
    assert "xetune-tmp-confined-" in folder
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


REFUSALS = ("Operation not permitted", "Function not implemented")


def _restricted(fact: str) -> None:
    if getattr(held := probe(LIMITS), fact) == "none":
        pytest.skip(f"{fact} of a child cannot be limited here: {held}")


@pytest.fixture
def victim() -> Iterator[psutil.Popen]:
    """A process of the same user."""
    with psutil.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as process:
        yield process
        process.kill()


@pytest.mark.parametrize("grants", [NO_GRANTS, Grants(programs=("/opt",))], ids=["no grants", "programs"])
def test_nothing_outside_changes_whatever_it_tries(victim: psutil.Popen, tmp_path: Path, grants: Grants) -> None:
    _restricted("system_calls")
    _restricted("files")
    path = tmp_path / "file"
    path.write_text("as it was")
    path.chmod(0o600)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
        listening.listen()
        before = _state(victim, path)
        target = victim.pid, str(path), str(tmp_path / "socket")
        said = run_confined(ACTS, target, LIMITS, grants).document
    assert _state(victim, path) == before
    did = {act for act, result in said.items() if str(result).startswith("did it")}
    assert did == set(), said
    assert sorted(tmp_path.iterdir()) == [path, tmp_path / "socket"]


def _state(process: psutil.Popen, path: Path) -> list[object]:
    """Return all of a process and of a file that a hostile child might change."""
    limits = [process.rlimit(each) for each in (psutil.RLIMIT_CPU, psutil.RLIMIT_NOFILE, psutil.RLIMIT_AS)]
    of_process = [process.status(), process.nice(), process.cpu_affinity(), process.ionice(), limits]
    found = path.stat()
    of_file = [found.st_mode, found.st_uid, found.st_gid, found.st_mtime_ns, found.st_ctime_ns, found.st_nlink]
    return [*of_process, *of_file, os.listxattr(path), path.read_text()]


def test_every_system_call_that_is_not_listed_is_refused() -> None:
    _restricted("system_calls")
    said = run_confined(ACTS, "every other call", LIMITS).document
    assert len(said) > 300
    assert {call: result for call, result in said.items() if result not in REFUSALS} == {}


@pytest.mark.skipif(not HEADERS.exists(), reason="needs the headers of Linux: apt-get install linux-libc-dev")
def test_numbers_of_system_calls_are_those_of_linux() -> None:
    listed = (
        seccomp.ALLOWED
        | seccomp.SIGNALS
        | seccomp.PROGRAMS
        | seccomp.TRUNCATION
        | {n: each[0] for n, each in (seccomp.OPENING | seccomp.BY_ARGUMENT).items()}
    )
    generic = _numbers(HEADERS / "asm-generic/unistd.h") | {"newfstatat": 79}
    assert {name: arm for name, (_, arm) in listed.items()} == {name: generic.get(name) for name in listed}
    if (x86 := HEADERS / "x86_64-linux-gnu/asm/unistd_64.h").exists():
        numbers = _numbers(x86)
        assert {name: here for name, (here, _) in listed.items()} == {name: numbers[name] for name in listed}


def _numbers(header: Path) -> dict[str, int]:
    return {
        name: int(number) for name, number in re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)\s", header.read_text())
    }


_TRUNCATIONS = """
import os, sys
from service.sandbox import child, limits, linux
outside, seen = sys.argv[1:3]
linux.landlock_version = lambda: int(sys.argv[3])
sys.path.append(os.path.dirname(seen))
held = child.confine(limits.Limits(), ["/bin"] if sys.argv[4] else [])
if sys.argv[4]:
    for how in (os.O_WRONLY, os.O_RDWR):
        os.close(os.open("own", how | os.O_CREAT | os.O_TRUNC))
did = []
for path in (outside, seen):
    for how in (os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_ACCMODE):
        try:
            os.open(path, how | os.O_TRUNC)
            did.append((path, how))
        except OSError:
            pass
    try:
        os.truncate(path, 0)
        did.append((path, "truncate"))
    except OSError:
        pass
os.close(os.open(seen, os.O_RDONLY))
print(held.truncation, did)
"""


@pytest.mark.parametrize("programs", ["", "programs"])
@pytest.mark.parametrize("version", [1, 2, 3])
def test_no_file_is_emptied_where_landlock_does_not_know_truncation(
    tmp_path: Path, version: int, programs: str
) -> None:
    """Landlock of Linux 5.13 to 6.1, by the rights that it knew; from 6.2 on it knows this one."""
    _restricted("system_calls")
    _restricted("files")
    if landlock_version() < version:
        pytest.skip(f"needs Landlock {version}")
    outside, seen, own = tmp_path / "outside", tmp_path / "readable/file", tmp_path / "own folder"
    own.mkdir()
    seen.parent.mkdir()
    for path in (outside, seen):
        path.write_text("as it was")
    said = subprocess.run(
        [sys.executable, "-c", _TRUNCATIONS, str(outside), str(seen), str(version), programs],
        cwd=own,
        env={"PYTHONPATH": str(Path(sandbox.__file__).parents[2])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.stdout == f"{'seccomp' if version < 3 else 'landlock'} []\n", said.stderr
    assert {path.read_text() for path in (outside, seen)} == {"as it was"}


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_a_child_of_root_is_a_user_of_its_own_where_all_may_read_python() -> None:
    if (python := shutil.which("python3", path="/usr/bin")) is None:
        pytest.skip("needs the system's Python: apt-get install python3")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        shutil.copytree(Path(sandbox.__file__).parent, folder / "service/sandbox")
        (own := folder / "own").mkdir(mode=0o700)
        text = (
            f"import os, sys; sys.path.insert(0, {name!r})\n"
            "from service.sandbox import child, limits\n"
            "held = child.confine(limits.Limits(), ['/bin'])\n"
            "open('written', 'w').close()\n"
            "print(held.user, held.processes, os.getuid(), os.getgid(), os.getgroups(), os.getpid(), os.listdir())\n"
        )
        done = subprocess.run([python, "-I", "-c", text], cwd=own, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    user, counted, uid, gid, groups, pid, files = done.stdout.split(" ", 6)
    assert (user, counted, groups, pid, files.strip()) == ("own", "True", "[]", "2", "['written']")
    assert int(uid) == int(gid) > 0x70000000


def test_what_a_machine_lacks_is_named_with_the_remedy() -> None:
    held = Held("namespace", "landlock", "landlock", "seccomp", "namespace", "own", processes=True)
    assert held.lacks == []
    (words,) = replace(held, files="none").lacks
    assert "Landlock" in words
    assert len(Held("none", "none", "none", "none", "none", "service", processes=False).lacks) == 6


@pytest.mark.parametrize(
    ("act", "limit"),
    [("loop", Limit.CPU_TIME), ("nest", Limit.NESTING), ("allocate", Limit.MEMORY), ("sleep", Limit.WALL_TIME)],
)
def test_a_limit_ends_it_and_is_named(act: str, limit: Limit) -> None:
    limits = replace(LIMITS, cpu_s=1, wall_s=0.3 if limit is Limit.WALL_TIME else 60.0)
    began = time.monotonic()
    with pytest.raises(LimitReached) as reached:
        said(act, limits)
    assert reached.value.limit is limit
    assert time.monotonic() - began < 45


def test_what_it_started_is_gone_with_it() -> None:
    own = replace(LIMITS, wall_s=20.015625)  # told by it from those of other tests
    forks = int(said("fork", own).removeprefix("did it: "))
    assert 0 < forks <= 200
    if probe(LIMITS).processes:
        assert forks <= LIMITS.processes
    deadline = time.monotonic() + 30
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
