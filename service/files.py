"""Files written whole or not at all."""

import errno
import os
import tempfile
from pathlib import Path


def write_atomically(path: Path, data: bytes) -> None:
    """Write beside, flush to disk, rename.

    Raises:
        OSError: the disk is full or the folder cannot be written; `path` is as before.
    """
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "No such folder", str(path.parent))
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
