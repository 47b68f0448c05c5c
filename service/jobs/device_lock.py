"""Device lock: one job on a device at a time, across all processes of this user on this host."""

import fcntl
import os
import tempfile
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from service.artifacts import StorageError
from service.telemetry.loggers import Logger

_POLL_S = 0.2
_LONGEST_NAME = 200
_log = Logger(__name__)


def locks_dir() -> Path:
    """Return the folder of this user's locks on this host, independent of the data folder."""
    return Path(tempfile.gettempdir()) / f"xetune-locks-{os.getuid()}"


@contextmanager
def only_user(
    device: str,
    folder: Path,
    stopped: Callable[[], bool],
    user: str = "",
    on_wait: Callable[[str], None] = lambda _message: None,
) -> Generator[bool]:
    """Lock a device, waiting for other jobs; yields False if `stopped` returned true while waiting.

    `user` is shown to other waiting processes; `on_wait` is called once with the user that this one waits
    for.

    The lock of a process that dies is released.

    Raises:
        StorageError: the lock's file cannot be created.
    """
    path = folder / f"{device}.lock"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = path.open("a+b")
    except OSError as error:
        raise StorageError(f"lock {path} of device {device} cannot be opened: {error.strerror}; remove it") from error
    with file:
        held = _wait(file, device, stopped, on_wait)
        try:
            if held:
                _sign(file, f"{user}, process {os.getpid()}," if user else f"process {os.getpid()}")
            yield held
        finally:
            if held:
                _sign(file, "")
                fcntl.flock(file, fcntl.LOCK_UN)  # closing would leave it locked by children that were forked meanwhile


def _wait(file: IO[bytes], device: str, stopped: Callable[[], bool], on_wait: Callable[[str], None]) -> bool:
    told = False
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if not told:
                message = f"waits for device {device}, which {_signed(file)} uses"
                _log.info(message)
                on_wait(message)
                told = True
            if stopped():
                return False
            threading.Event().wait(_POLL_S)
        else:
            return True


def _sign(file: IO[bytes], user: str) -> None:
    with suppress(OSError):  # failing to write the name must not prevent the use of the device
        os.ftruncate(file.fileno(), 0)
        os.write(file.fileno(), user.encode())


def _signed(file: IO[bytes]) -> str:
    """Return the holder of the lock; it may not have written its name yet."""
    return os.pread(file.fileno(), _LONGEST_NAME, 0).decode(errors="replace") or "another process"
