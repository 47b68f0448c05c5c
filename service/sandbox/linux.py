"""Irrevocable restrictions of a process on Linux: network, files, system calls. Uses only the standard
library.

Each function returns whether the kernel applied it: older ones and some containers do not.
"""

import ctypes
import os
import platform
import struct
from collections.abc import Iterable

_LIBC = ctypes.CDLL(None, use_errno=True)

_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP = 1, 38, 22
_SIGKILL = 9
_CLONE_NEWUSER, _CLONE_NEWNET, _CLONE_NEWIPC = 0x10000000, 0x40000000, 0x08000000


def end_with_parent() -> None:
    """Kill this process when the thread that started it ends."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)


def gain_nothing() -> bool:
    """Prevent started programs from gaining rights (no_new_privs); required by the next two."""
    return _LIBC.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0


def leave_network() -> bool:
    """Enter a user and a network namespace without any interface. Source: user_namespaces(7),
    network_namespaces(7).
    """
    return _LIBC.unshare(_CLONE_NEWUSER | _CLONE_NEWNET | _CLONE_NEWIPC) == 0


# Source: landlock(7), linux/landlock.h. The system calls have these numbers on every architecture.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG, _PATH_BENEATH = 1, 1
_EXECUTE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 2, 1 << 3
_WRITE_FILE, _TRUNCATE = 1 << 1, 1 << 14
_REMOVE_DIR, _REMOVE_FILE, _MAKE_DIR, _MAKE_FILE = 1 << 4, 1 << 5, 1 << 7, 1 << 8
_OF_FILES = _EXECUTE | _READ_FILE | _WRITE_FILE | _TRUNCATE
_RIGHTS_BY_VERSION = {1: 13, 2: 14, 3: 15, 4: 15}  # later: 16, including ioctl of devices
_TCP, _SCOPES = 0b11, 0b11  # bind and connect; abstract sockets and signals


def read_only(paths: Iterable[str], programs: Iterable[str] = (), folders: Iterable[str] = ()) -> bool:
    """Allow only reading files beneath these paths, starting those beneath `programs`, and all beneath `folders`."""
    version = _LIBC.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION_FLAG)
    if version < 1:
        return False
    rights = (1 << _RIGHTS_BY_VERSION.get(version, 16)) - 1
    rules = struct.pack("<QQQ", rights, _TCP if version >= 4 else 0, _SCOPES if version >= 6 else 0)
    size = 8 if version < 4 else 16 if version < 6 else 24
    ruleset = _LIBC.syscall(_CREATE_RULESET, rules, ctypes.c_size_t(size), 0)
    if ruleset < 0:
        return False
    try:
        reading = _READ_FILE | _READ_DIR
        writing = reading | _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_FILE | _TRUNCATE
        for beneath, allowed in ((paths, reading), (programs, reading | _EXECUTE), (folders, writing)):
            for path in beneath:
                _allow(ruleset, path, allowed & rights)
        return _LIBC.syscall(_RESTRICT_SELF, ruleset, 0) == 0
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:  # a missing path needs no permission
        return
    rights &= -1 if os.path.isdir(path) else _OF_FILES  # noqa: PTH112 (pathlib is not imported yet)
    _LIBC.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("<Qi", rights, place), 0)
    os.close(place)


# Source: seccomp(2), linux/bpf_common.h, linux/audit.h.
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | 1  # EPERM
_NUMBER_AT, _ARCH_AT = 0, 4
_X32 = 0x40000000  # alternative numbers on x86-64
_FILTER_MODE = 2
_ARCHES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
# Opening sockets and other access beyond the process; starting programs; leaving the process group.
_REFUSED: dict[str, tuple[int, int]] = {
    "socket": (41, 198),
    "connect": (42, 203),
    "bind": (49, 200),
    "listen": (50, 201),
    "execve": (59, 221),
    "execveat": (322, 281),
    "kill": (62, 129),
    "tkill": (200, 130),
    "pidfd_send_signal": (424, 424),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "setsid": (112, 157),
    "setpgid": (109, 154),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
}


_STARTING = ("execve", "execveat")


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def refuse_calls(*, programs: bool = False) -> bool:
    """Forbid opening sockets, signalling other processes, leaving the process group, and starting programs unless
    `programs` are allowed.
    """
    machine = platform.machine()
    if machine not in _ARCHES:
        return False
    column = list(_ARCHES).index(machine)
    numbers = [each[column] for name, each in _REFUSED.items() if not (programs and name in _STARTING)]
    steps = [
        _step(_LOAD, 0, 0, _ARCH_AT),
        _step(_EQUAL, 0, len(numbers) + 3, _ARCHES[machine]),  # another architecture: refused
        _step(_LOAD, 0, 0, _NUMBER_AT),
        _step(_AT_LEAST, len(numbers) + 1, 0, _X32),
        *(_step(_EQUAL, len(numbers) - place, 0, number) for place, number in enumerate(numbers)),
        _step(_RETURN, 0, 0, _ALLOW),
        _step(_RETURN, 0, 0, _REFUSE),
    ]
    program = _Program(len(steps), b"".join(steps))
    return _LIBC.prctl(_PR_SET_SECCOMP, _FILTER_MODE, ctypes.byref(program), 0, 0) == 0


def _step(code: int, if_true: int, if_false: int, value: int) -> bytes:
    return struct.pack("<HBBI", code, if_true, if_false, value)
