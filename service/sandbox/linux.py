"""Irrevocable restrictions of a process on Linux: user, namespaces, files. Uses only the standard library.

Each function returns whether the kernel applied it: older ones and some containers do not.
"""

import ctypes
import os
import stat
import struct
from collections.abc import Iterable

_LIBC = ctypes.CDLL(None, use_errno=True)

_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38
_SIGKILL = 9
_CLONE_NEWUSER, _CLONE_NEWNET, _CLONE_NEWIPC, _CLONE_NEWPID = 0x10000000, 0x40000000, 0x08000000, 0x20000000
# Ids from here on are given to nobody. Source: systemd, docs/UIDS-GIDS.md.
_FIRST_FREE_ID, _FREE_IDS = 0x70000000, 0x0FFF0000


def end_with_parent() -> None:
    """Kill this process when the thread that started it ends."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)


def gain_nothing() -> bool:
    """Prevent started programs from gaining rights (no_new_privs); required by the next two."""
    return _LIBC.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0


def leave_namespaces(*, as_root: bool) -> tuple[bool, bool]:
    """Enter a network namespace without any interface, and have later children enter a process id namespace.

    Unless `as_root`, this is done in a user namespace, in which root has no rights outside. Return whether each was
    entered.
    Source: user_namespaces(7), network_namespaces(7), pid_namespaces(7).
    """
    apart = _CLONE_NEWNET | _CLONE_NEWIPC
    user = 0 if as_root else _CLONE_NEWUSER
    for flags in (user | apart | _CLONE_NEWPID, user | apart):
        if _LIBC.unshare(flags) == 0:
            return True, bool(flags & _CLONE_NEWPID)
    return False, False


def may_own_user(readable: Iterable[str]) -> bool:
    """Return whether this is root, and a user without rights may read all these paths."""
    return os.geteuid() == 0 and all(map(_all_may_read, readable))


def become_own_user(folder: str) -> bool:
    """Become a user that nothing else runs as, who owns `folder`. Return False if there is no such id here."""
    own = _FIRST_FREE_ID + os.getpid() % _FREE_IDS
    try:
        os.chown(folder, own, own)
        os.setgroups([])
        os.setresgid(own, own, own)
        os.setresuid(own, own, own)
    except OSError:
        return False
    return True


def _all_may_read(path: str) -> bool:
    """Return whether users without rights of their own may read a path and enter the folders above; a missing one needs
    no permission.
    """
    path = os.path.realpath(path)
    while os.path.exists(path):  # noqa: PTH110 (pathlib is not imported yet)
        mode = os.stat(path).st_mode  # noqa: PTH116
        wanted = stat.S_IXOTH if stat.S_ISDIR(mode) else stat.S_IROTH
        if not mode & wanted:
            return False
        if path == os.sep:
            break
        path = os.path.dirname(path)  # noqa: PTH120
    return True


# Source: landlock(7), linux/landlock.h. The system calls have these numbers on every architecture.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG, _PATH_BENEATH = 1, 1
_EXECUTE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 2, 1 << 3
_WRITE_FILE, _TRUNCATE = 1 << 1, 1 << 14
_REMOVE_DIR, _REMOVE_FILE, _MAKE_DIR, _MAKE_FILE = 1 << 4, 1 << 5, 1 << 7, 1 << 8
_OF_FILES = _EXECUTE | _READ_FILE | _WRITE_FILE | _TRUNCATE
_RIGHTS_BY_VERSION = {1: 13, 2: 14, 3: 15, 4: 15}  # later: 16, including ioctl of devices
_TCP, _SCOPES = 0b11, 0b11  # bind and connect; abstract sockets and signals


TRUNCATES = 3
"""The first version of Landlock that restricts truncation; earlier ones permit it of every file."""


def landlock_version() -> int:
    """Return the version of Landlock here; less than 1 if there is none."""
    return _LIBC.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION_FLAG)


def read_only(paths: Iterable[str], programs: Iterable[str] = (), folders: Iterable[str] = ()) -> bool:
    """Allow only reading files beneath these paths, starting those beneath `programs`, and all beneath `folders`."""
    version = landlock_version()
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
