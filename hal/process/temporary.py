"""Temporary folders of this program, and the removal of those that a killed process left."""

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

_PREFIX = "xetune-tmp-"
_OLD_S = 3600.0
_FIRST_FREE_ID = 0x70000000
"""Users that confined processes run as, if root starts them, have ids from here on."""


@contextmanager
def temporary_folder(purpose: str) -> Generator[Path]:
    """Make a folder named after its purpose for the block, locked so that nobody takes it for one that was left.

    Raises:
        OSError: the folder for temporary files is full or cannot be written.
    """
    with tempfile.TemporaryDirectory(prefix=f"{_PREFIX}{purpose}-", ignore_cleanup_errors=True) as name:
        lock = os.open(name, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(lock, fcntl.LOCK_SH)
            yield Path(name)
        finally:
            os.close(lock)


def remove_leftovers() -> list[Path]:
    """Remove folders that processes of this user left, if an hour has passed since the last change; return them."""
    removed: list[Path] = []
    for folder in sorted(Path(tempfile.gettempdir()).glob(f"{_PREFIX}*")):
        with suppress(OSError):
            if _is_left(folder):
                shutil.rmtree(folder)
                removed.append(folder)
    return removed


def _is_left(folder: Path) -> bool:
    """Return whether a folder is this user's, old, and locked by nobody."""
    own = os.getuid()
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        found = os.fstat(lock)
        if found.st_uid != own and (own != 0 or found.st_uid < _FIRST_FREE_ID):
            return False
        if time.time() - found.st_mtime < _OLD_S:
            return False
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(lock)
    return True
