"""Allow-list of system calls of a process on Linux. Uses only the standard library.

Every call that is not listed is refused: of those that a hostile process could harm others with, sockets, changes of
owner, mode, times and attributes of files, limits, priority and affinity of other processes, tracing, namespaces,
mounts, keys, and memory that no limit counts. Source: seccomp(2), linux/bpf_common.h, linux/audit.h.
"""

import ctypes
import platform
import struct

_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_SECCOMP, _FILTER_MODE = 22, 2

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | 1  # EPERM
_UNKNOWN = 0x00050000 | 38  # ENOSYS: libraries then use the older call
_NUMBER_AT, _ARCH_AT, _ARGUMENTS_AT = 0, 4, 16
_X32 = 0x40000000  # alternative numbers on x86-64
_FIRST_NEW = 424  # from here on both architectures have the same numbers, and libraries do without
_ARCHES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

Numbers = dict[str, tuple[int, int | None]]
# Numbers on x86-64 and 64-bit Arm.
ALLOWED: Numbers = {
    # Files that are open, and their opening, which Landlock limits.
    "read": (0, 63),
    "write": (1, 64),
    "readv": (19, 65),
    "writev": (20, 66),
    "pread64": (17, 67),
    "pwrite64": (18, 68),
    "preadv": (295, 69),
    "pwritev": (296, 70),
    "close": (3, 57),
    "close_range": (436, 436),
    "lseek": (8, 62),
    "fstat": (5, 80),
    "stat": (4, None),
    "lstat": (6, None),
    "newfstatat": (262, 79),
    "statx": (332, 291),
    "fstatfs": (138, 44),
    "statfs": (137, 43),
    "access": (21, None),
    "faccessat": (269, 48),
    "faccessat2": (439, 439),
    "readlink": (89, None),
    "readlinkat": (267, 78),
    "getdents64": (217, 61),
    "getcwd": (79, 17),
    "chdir": (80, 49),
    "fchdir": (81, 50),
    "flock": (73, 32),
    "dup": (32, 23),
    "dup2": (33, None),
    "dup3": (292, 24),
    "pipe": (22, None),
    "pipe2": (293, 59),
    "eventfd2": (290, 19),
    "epoll_create1": (291, 20),
    "epoll_ctl": (233, 21),
    "epoll_wait": (232, None),
    "epoll_pwait": (281, 22),
    "poll": (7, None),
    "ppoll": (271, 73),
    "select": (23, None),
    "pselect6": (270, 72),
    "sendfile": (40, 71),
    "copy_file_range": (326, 285),
    "ftruncate": (77, 46),
    "fallocate": (285, 47),
    "fadvise64": (221, 223),
    "fsync": (74, 82),
    "fdatasync": (75, 83),
    "umask": (95, 166),
    # Memory and threads.
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "munmap": (11, 215),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "brk": (12, 214),
    "msync": (26, 227),
    "mincore": (27, 232),
    "membarrier": (324, 283),
    "rseq": (334, 293),
    "futex": (202, 98),
    "set_robust_list": (273, 99),
    "get_robust_list": (274, 100),
    "set_tid_address": (218, 96),
    "sched_yield": (24, 124),
    "sched_getaffinity": (204, 123),
    "sched_getparam": (143, 121),
    "sched_getscheduler": (145, 120),
    "sched_get_priority_max": (146, 125),
    "sched_get_priority_min": (147, 126),
    "getcpu": (309, 168),
    # Processes, which a process id namespace or their number limits.
    "fork": (57, None),
    "vfork": (58, None),
    "exit": (60, 93),
    "exit_group": (231, 94),
    "wait4": (61, 260),
    "waitid": (247, 95),
    "gettid": (186, 178),
    "getpid": (39, 172),
    "getppid": (110, 173),
    "getuid": (102, 174),
    "geteuid": (107, 175),
    "getgid": (104, 176),
    "getegid": (108, 177),
    "getgroups": (115, 158),
    "getpgrp": (111, None),
    "getpgid": (121, 155),
    "getsid": (124, 156),
    "getresuid": (118, 148),
    "getresgid": (120, 150),
    "capget": (125, 90),
    "getpriority": (140, 141),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "rt_sigpending": (127, 136),
    "rt_sigtimedwait": (128, 137),
    "rt_sigsuspend": (130, 133),
    "sigaltstack": (131, 132),
    "pause": (34, None),
    "restart_syscall": (219, 128),
    # Time, the machine, limits of its own.
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "clock_nanosleep": (230, 115),
    "nanosleep": (35, 101),
    "gettimeofday": (96, 169),
    "time": (201, None),
    "times": (100, 153),
    "getrusage": (98, 165),
    "getitimer": (36, 102),
    "setitimer": (38, 103),
    "alarm": (37, None),
    "sysinfo": (99, 179),
    "uname": (63, 160),
    "arch_prctl": (158, None),
    "getrlimit": (97, 163),
    "setrlimit": (160, 164),
    "getrandom": (318, 278),
}
SIGNALS: Numbers = {
    "kill": (62, 129),
    "tkill": (200, 130),
    "tgkill": (234, 131),
}
"""Allowed where process ids are the child's own."""

PROGRAMS: Numbers = {
    "execve": (59, 221),
    "execveat": (322, 281),
    "mkdir": (83, None),
    "mkdirat": (258, 34),
    "rename": (82, None),
    "renameat": (264, 38),
    "renameat2": (316, 276),
    "unlink": (87, None),
    "unlinkat": (263, 35),
    "rmdir": (84, None),
}
"""Allowed to start programs and to write to the folder that Landlock allows."""

TRUNCATION: Numbers = {"truncate": (76, 45)}
"""Allowed with programs where Landlock restricts it."""

OPENING: dict[str, tuple[tuple[int, int | None], int]] = {"open": ((2, None), 1), "openat": ((257, 56), 2)}
"""Allowed, with the place of their flags: where Landlock does not restrict truncation, they must not truncate a file
that they open without writing, as Landlock then checks no right to write."""
_TRUNCATE, _ACCESS, _WRITE_ONLY, _READ_WRITE = 0o1000, 3, 1, 2  # of the flags, on both architectures

# Calls that are allowed for some values of one argument: its place, and the values or, of flags, the forbidden bits.
_GET_TERMINAL, _CLOSE_ON_EXEC, _KEEP_ON_EXEC, _READABLE = 0x5401, 0x5451, 0x5450, 0x541B
_SET_NAME, _GET_NAME, _NAME_MEMORY = 15, 16, 0x53564D41
_NAMESPACES = 0x7E020080
BY_ARGUMENT: dict[str, tuple[tuple[int, int], int, tuple[int, ...]]] = {
    "fcntl": ((72, 25), 1, (*range(8), *range(36, 39), 1030, 1031, 1032, 1034)),
    "ioctl": ((16, 29), 1, (_GET_TERMINAL, _CLOSE_ON_EXEC, _KEEP_ON_EXEC, _READABLE)),
    "prctl": ((157, 167), 0, (_SET_NAME, _GET_NAME, _NAME_MEMORY)),
    "prlimit64": ((302, 261), 0, (0,)),
}
_CLONE = (56, 220)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def allow_calls(*, own_process_ids: bool, programs: bool = False, landlock_truncates: bool = True) -> bool:
    """Refuse all system calls but those listed; signals only with `own_process_ids`, programs only with `programs`,
    truncation by path only if Landlock restricts it (`landlock_truncates`).

    Return whether the kernel applied it. Requires no_new_privs.
    """
    machine = platform.machine()
    if machine not in _ARCHES:
        return False
    column = list(_ARCHES).index(machine)
    allowed = ALLOWED | (SIGNALS if own_process_ids else {}) | (PROGRAMS if programs else {})
    if programs and landlock_truncates:
        allowed |= TRUNCATION
    steps = [
        _step(_LOAD, 0, 0, _ARCH_AT),
        _step(_EQUAL, 1, 0, _ARCHES[machine]),
        _step(_RETURN, 0, 0, _REFUSE),
        _step(_LOAD, 0, 0, _NUMBER_AT),
        _step(_AT_LEAST, 0, 1, _X32),
        _step(_RETURN, 0, 0, _REFUSE),
    ]
    for each in allowed.values():
        if (number := each[column]) is not None:
            steps += [_step(_EQUAL, 0, 1, number), _step(_RETURN, 0, 0, _ALLOW)]
    for numbers, place in OPENING.values():
        if (number := numbers[column]) is not None:
            steps += _opening(number, None if landlock_truncates else place)
    for numbers, place, values in BY_ARGUMENT.values():
        steps += _of_argument(numbers[column], place, values)
    steps += [
        _step(_EQUAL, 0, 4, _CLONE[column]),
        _step(_LOAD, 0, 0, _ARGUMENTS_AT),
        _step(_ANY_BIT, 1, 0, _NAMESPACES),
        _step(_RETURN, 0, 0, _ALLOW),
        _step(_RETURN, 0, 0, _REFUSE),
        _step(_AT_LEAST, 0, 1, _FIRST_NEW),
        _step(_RETURN, 0, 0, _UNKNOWN),
        _step(_RETURN, 0, 0, _REFUSE),
    ]
    program = _Program(len(steps), b"".join(steps))
    return _LIBC.prctl(_PR_SET_SECCOMP, _FILTER_MODE, ctypes.byref(program), 0, 0) == 0


def _of_argument(number: int, place: int, values: tuple[int, ...]) -> list[bytes]:
    """Return the steps that allow a call if an argument, of which the lower 32 bits count, is one of these values."""
    inner = [_step(_LOAD, 0, 0, _ARGUMENTS_AT + 8 * place)]
    for value in values:
        inner += [_step(_EQUAL, 0, 1, value), _step(_RETURN, 0, 0, _ALLOW)]
    inner.append(_step(_RETURN, 0, 0, _REFUSE))
    return [_step(_EQUAL, 0, len(inner), number), *inner]


def _opening(number: int, place: int | None) -> list[bytes]:
    """Return the steps that allow a call; with the `place` of its flags, unless it truncates what it does not write."""
    if place is None:
        return [_step(_EQUAL, 0, 1, number), _step(_RETURN, 0, 0, _ALLOW)]
    return [
        _step(_EQUAL, 0, 7, number),
        _step(_LOAD, 0, 0, _ARGUMENTS_AT + 8 * place),
        _step(_ANY_BIT, 0, 3, _TRUNCATE),
        _step(_AND, 0, 0, _ACCESS),
        _step(_EQUAL, 1, 0, _WRITE_ONLY),
        _step(_EQUAL, 0, 1, _READ_WRITE),
        _step(_RETURN, 0, 0, _ALLOW),
        _step(_RETURN, 0, 0, _REFUSE),
    ]


def _step(code: int, if_true: int, if_false: int, value: int) -> bytes:
    return struct.pack("<HBBI", code, if_true, if_false, value)
