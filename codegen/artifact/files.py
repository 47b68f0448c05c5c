"""Atomic file writes, and checks of file names."""

import errno
import os
import re
import stat
from pathlib import Path

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
_OUTPUT = 1  # descriptor of the standard output
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


def is_plain_name(name: str) -> bool:
    """Return whether it is a file name in a folder, neither hidden nor a path."""
    return _PLAIN.fullmatch(name) is not None


def make_private(folder: Path) -> None:
    """Make a folder and the missing ones above it, which no other user may enter; existing ones stay as they are.

    Raises:
        OSError: it cannot be made.
    """
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except FileNotFoundError:
        make_private(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def write_named(path: Path, data: bytes) -> None:
    """Write a file that the user named: atomically and through links, but to a device or pipe, which stays one, and to
    the standard output of this process, such as /dev/stdout, behind what a file has that it is appended to.

    Raises:
        OSError: as `write_atomically`.
    """
    try:
        found = path.stat()
    except FileNotFoundError:
        found = None
    mode = stat.S_IFREG if found is None else found.st_mode
    is_output = found is not None and _is_output(found)
    if not is_output and (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        write_atomically(Path(os.path.realpath(path)), data)
        return
    try:
        if is_output:
            with os.fdopen(_OUTPUT, "wb", closefd=False) as output:
                output.write(data)
        else:
            path.write_bytes(data)
    except OSError as error:
        _name(error, path)
        raise


def _is_output(found: os.stat_result) -> bool:
    try:
        return os.path.samestat(found, os.fstat(_OUTPUT))
    except OSError:  # it is closed
        return False


def write_atomically(path: Path, data: bytes, *, private: bool = False) -> None:
    """Write a temporary file, flush it to disk, and rename it; no other user may read a `private` one.

    Raises:
        OSError: the disk is full, the folder cannot be written, or `path` is a folder; `path` is unchanged.
    """
    folder = os.path.dirname(path)  # noqa: PTH120
    name = os.path.join(folder, f".{os.urandom(8).hex()}.tmp")  # noqa: PTH118 (Path takes as long as the file)
    try:
        handle = os.open(name, _NEW, 0o600)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise FileNotFoundError(errno.ENOENT, "No such folder", folder) from error
    try:
        with open(handle, "wb", buffering=0) as file:  # noqa: PTH123 (a descriptor, not a path)
            left = memoryview(data)
            while left:
                left = left[file.write(left) :]
            os.fsync(handle)
        if not private:
            Path(name).chmod(0o644)
        os.replace(name, path)  # noqa: PTH105
    except BaseException as error:
        Path(name).unlink(missing_ok=True)
        if isinstance(error, IsADirectoryError):
            raise IsADirectoryError(errno.EISDIR, "Expected a file, got a folder", str(path)) from error
        if isinstance(error, OSError):
            _name(error, path)
        raise


def _name(error: OSError, path: Path) -> None:
    """Let an error name its file: that of a write, as on a full disk, does not."""
    if error.filename is None:
        error.filename = str(path)
