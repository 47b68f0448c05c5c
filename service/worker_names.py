"""Names of workers, by which others on the same host see that one has died."""

import socket

import psutil


def own_name() -> str:
    """The name of the worker in this process."""
    return _name(psutil.Process())


def is_dead(name: str) -> bool:
    """Whether the worker of that name was on this host and its process is gone; False when it cannot be known."""
    host, _, rest = name.partition("/")
    number = rest.partition("/")[0]
    if host != socket.gethostname() or not number.isdecimal():
        return False
    try:
        return _name(psutil.Process(int(number))) != name
    except psutil.NoSuchProcess:
        return True


def _name(process: psutil.Process) -> str:
    # The start time tells a process from a later one that was given its number.
    return f"{socket.gethostname()}/{process.pid}/{process.create_time():.2f}"
