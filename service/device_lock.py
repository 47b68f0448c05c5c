"""One job on a device at a time, whatever the number of processes of this user on this host."""

import fcntl
import os
import tempfile
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import structlog

from service.artifacts import StorageError

_POLL_S = 0.2
_log = structlog.stdlib.get_logger(__name__)


def locks_dir() -> Path:
    """The folder of this user's locks on this host, the same for every data folder."""
    return Path(tempfile.gettempdir()) / f"xetune-locks-{os.getuid()}"


@contextmanager
def only_user(device: str, folder: Path, stopped: Callable[[], bool]) -> Generator[bool]:
    """Wait until no other job uses the device, then keep others away; False when `stopped` said so while waiting.

    A process that dies gives its devices back.

    Raises:
        StorageError: the lock's file cannot be made.
    """
    path = folder / f"{device}.lock"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = path.open("ab")
    except OSError as error:
        raise StorageError(f"lock {path} of device {device} cannot be opened: {error.strerror}; remove it") from error
    with file:
        held = _wait(file, device, stopped)
        try:
            yield held
        finally:
            if held:
                fcntl.flock(file, fcntl.LOCK_UN)  # closing would leave it to children that were forked meanwhile


def _wait(file: IO[bytes], device: str, stopped: Callable[[], bool]) -> bool:
    told = False
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if not told:
                _log.info(f"waits for device {device}, which another process uses")
                told = True
            if stopped():
                return False
            threading.Event().wait(_POLL_S)
        else:
            return True
