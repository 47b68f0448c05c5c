"""Acts that tests run in a confined child process."""

import ctypes
import os
import platform
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from service.sandbox import seccomp

LIBC = ctypes.CDLL(None, use_errno=True)
COLUMN = ["x86_64", "aarch64"].index(platform.machine())
_LAST_CALL = 480  # Linux 6.18 has 470
_PROBES = {335, 336}  # uretprobe and uprobe are not filtered; they end a process that no probe was set in


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


def _called(number: int, *arguments: object) -> str:
    """Make a system call; return "did it", or the name of its error."""
    values = [ctypes.c_long(a) if isinstance(a, int) else a for a in (*arguments, *([0] * (6 - len(arguments))))]
    ctypes.set_errno(0)
    if LIBC.syscall(ctypes.c_long(number), *values) >= 0:
        return "did it"
    return os.strerror(ctypes.get_errno())


def every_other_call(listed: list[int]) -> dict[str, object]:
    """Make every system call that is not listed, and some of the x32 numbers."""
    missing = set(range(_LAST_CALL)) - set(listed) - (_PROBES if COLUMN == 0 else set())
    others = [*sorted(missing), 0x40000000, 0x40000000 + 520]
    return {str(number): _called(number) for number in others}


def harm(target: tuple[int, str, str]) -> dict[str, object]:
    """Try to change a process outside, a file outside, and the machine; return what came of each."""
    pid, path, unix = target
    name = path.encode()
    number = {name: numbers[COLUMN] for name, numbers in _HARMFUL.items()}
    limit = (ctypes.c_ulong * 2)(1, 1)
    mask, old = ctypes.c_ulong(1), ctypes.c_ulong(0)
    here, times = -100, (ctypes.c_long * 4)(1, 0, 1, 0)
    into, value = ctypes.create_string_buffer(16), b"x"
    vector = (ctypes.c_void_p * 2)(ctypes.addressof(into), 16)
    acts: dict[str, tuple[object, ...]] = {
        "prlimit64": (pid, 0, limit, None),
        "setpriority": (0, pid, 19),
        "sched_setaffinity": (pid, 8, ctypes.byref(mask)),
        "sched_setscheduler": (pid, 3, ctypes.byref(old)),
        "ioprio_set": (1, pid, 3 << 13),
        "kill": (pid, int(signal.SIGCONT)),
        "tkill": (pid, int(signal.SIGCONT)),
        "tgkill": (pid, pid, int(signal.SIGCONT)),
        "rt_sigqueueinfo": (pid, int(signal.SIGCONT), ctypes.byref((ctypes.c_int * 32)(18, 0, -1))),
        "pidfd_open": (pid, 0),
        "ptrace": (16, pid, 0, 0),
        "process_vm_readv": (pid, vector, 1, vector, 1, 0),
        "migrate_pages": (pid, 1, ctypes.byref(mask), ctypes.byref(mask)),
        "fchmodat": (here, name, 0o777),
        "fchownat": (here, name, 1, 1, 0),
        "utimensat": (here, name, times, 0),
        "setxattr": (name, b"user.x", value, 1, 0),
        "linkat": (here, name, here, b"linked", 0),
        "symlinkat": (name, here, b"linked"),
        "unlinkat": (here, name, 0),
        "renameat": (here, name, here, name + b"2"),
        "truncate": (name, 0),
        "mknodat": (here, name + b"3", 0o010600, 0),
        "memfd_create": (b"memory", 0),
        "shmget": (0, 1 << 20, 0o1600),
        "msgget": (0, 0o1600),
        "socketpair": (1, 1, 0, (ctypes.c_int * 2)()),
        "setuid": (0,),
        "setns": (0, 0),
        "unshare": (0x10000000,),
        "clone": (0x10000000 | 17, 0, 0, 0, 0),
        "chroot": (b".",),
        "mount": (b"none", b".", b"tmpfs", 0, None),
        "sethostname": (b"x", 1),
        "personality": (0x0040000,),
        "add_key": (b"user", b"x", value, 1, -2),
        "perf_event_open": (into, 0, -1, -1, 0),
        "bpf": (5, into, 16),
        "inotify_init1": (0,),
        "fcntl": (1, 8, pid),
        "ioctl": (1, 0x5412, into),  # TIOCSTI types into a terminal
    }
    assert set(acts) == set(_HARMFUL)
    said: dict[str, object] = {each: _called(number[each], *arguments) for each, arguments in acts.items()}
    for family in (socket.AF_INET, socket.AF_UNIX, socket.AF_NETLINK, socket.AF_PACKET):
        said[family.name] = _said(partial(socket.socket, family, socket.SOCK_RAW))
    for folder in ("mem", "environ", "oom_score_adj", "fd"):
        said[f"/proc/{folder}"] = _said(partial(os.open, f"/proc/{pid}/{folder}", os.O_RDWR))
    said["connect"] = _said(partial(_connect, unix))
    said["write"] = _said(lambda: os.open(path, os.O_WRONLY))
    said["append"] = _said(lambda: os.open(path, os.O_RDONLY | os.O_TRUNC))
    said["read"] = _said(lambda: os.open(path, os.O_RDONLY))
    return said


def _connect(path: str) -> None:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(path)


# Numbers on x86-64 and 64-bit Arm.
_HARMFUL = {
    "prlimit64": (302, 261),
    "setpriority": (141, 140),
    "sched_setaffinity": (203, 122),
    "sched_setscheduler": (144, 119),
    "ioprio_set": (251, 30),
    "kill": (62, 129),
    "tkill": (200, 130),
    "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138),
    "pidfd_open": (434, 434),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "migrate_pages": (256, 238),
    "fchmodat": (268, 53),
    "fchownat": (260, 54),
    "utimensat": (280, 88),
    "setxattr": (188, 5),
    "linkat": (265, 37),
    "symlinkat": (266, 36),
    "unlinkat": (263, 35),
    "renameat": (264, 38),
    "truncate": (76, 45),
    "mknodat": (259, 33),
    "memfd_create": (319, 279),
    "shmget": (29, 194),
    "msgget": (68, 186),
    "socketpair": (53, 199),
    "setuid": (105, 146),
    "setns": (308, 268),
    "unshare": (272, 97),
    "clone": (56, 220),
    "chroot": (161, 51),
    "mount": (165, 40),
    "sethostname": (170, 161),
    "personality": (135, 92),
    "add_key": (248, 217),
    "perf_event_open": (298, 241),
    "bpf": (321, 280),
    "inotify_init1": (294, 26),
    "fcntl": (72, 25),
    "ioctl": (16, 29),
}


def run(act: str | tuple[int, str, str]) -> dict[str, object]:
    """Run one act and return its result."""
    if isinstance(act, tuple):
        return harm(act)
    if act == "every other call":
        listed = [*seccomp.ALLOWED.values(), *seccomp.SIGNALS.values()]
        by_argument = [*seccomp.OPENING.values(), *seccomp.BY_ARGUMENT.values()]
        numbers = [*listed, *(each[0] for each in by_argument), _HARMFUL["clone"]]
        return every_other_call([number for each in numbers if (number := each[COLUMN]) is not None])
    acts: dict[str, Callable[[], object]] = {
        "surroundings": lambda: {
            "environment": sorted(os.environ),
            "folder": str(Path.cwd()),
            "files": sorted(int(name) for name in range(3, 256) if _is_open(name)),
        },
        "connect": lambda: socket.create_connection(("127.0.0.1", 9), timeout=1),
        "write": lambda: Path("x").write_text("x"),
        "write elsewhere": lambda: Path("/tmp/xetune-tmp-confined-x").write_text("x"),
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
