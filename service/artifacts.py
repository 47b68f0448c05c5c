"""The bytes of artifacts, as files named by their SHA-256.

StorageError
+-- StorageFull        the disk or the quota is full
+-- StorageUnwritable  the folder cannot be written
+-- ArtifactMissing    no file of that hash
+-- ArtifactDamaged    the file's bytes are not those of its hash
"""

import errno
import hashlib
from dataclasses import dataclass
from pathlib import Path

from codegen.artifact.files import make_private, write_atomically

_REPAIR = "delete it and tune the problem again"
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class StorageError(Exception):
    """Base of the errors of artifact files."""


class StorageFull(StorageError):
    """The disk or the quota is full; no partial file is left."""


class StorageUnwritable(StorageError):
    """The folder cannot be written."""


class ArtifactMissing(StorageError):
    """No file of that hash."""


class ArtifactDamaged(StorageError):
    """The bytes of the file do not match its hash."""


@dataclass(frozen=True, slots=True)
class ArtifactStore:
    """A content-addressed folder of files. Safe to share between threads and processes."""

    root: Path

    def put(self, data: bytes) -> str:
        """Store `data` and return its SHA-256 in hex; an existing file is not changed.

        Raises:
            StorageFull: the disk is full.
            StorageUnwritable: the folder cannot be written.
        """
        sha256 = hashlib.sha256(data).hexdigest()
        path = self.root / sha256[:2] / sha256
        try:
            if not _holds(path, sha256):
                try:
                    write_atomically(path, data, private=True)
                except FileNotFoundError:
                    make_private(path.parent)
                    write_atomically(path, data, private=True)
        except OSError as error:
            if error.errno in _FULL:
                raise StorageFull(
                    f"no room for an artifact of {len(data)} bytes in {self.root}: {error.strerror}; free some space"
                ) from error
            raise StorageUnwritable(
                f"artifacts cannot be written to {self.root}: {error.strerror}; change its permissions"
            ) from error
        return sha256

    def get(self, sha256: str) -> bytes:
        """Return the bytes of that hash, verified.

        Raises:
            ArtifactMissing: no such file.
            ArtifactDamaged: the file does not match its hash.
        """
        data = self.read(sha256)
        if data is None:
            raise ArtifactMissing(f"no artifact {sha256} in {self.root}: tune the problem again to make it")
        return data

    def read(self, sha256: str) -> bytes | None:
        """Return the bytes of that hash, verified; None if there is no such file.

        Raises:
            ArtifactDamaged: it does not match its hash, cannot be read, or is no file.
        """
        path = self.path(sha256)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ArtifactDamaged(f"artifact {path} cannot be read: {error.strerror}; {_REPAIR}") from error
        found = hashlib.sha256(data).hexdigest()
        if found != sha256:
            raise ArtifactDamaged(f"artifact {path} holds bytes of {found}: {_REPAIR}")
        return data

    def path(self, sha256: str) -> Path:
        """Return the path of the file of that hash, which may not exist."""
        if len(sha256) != 64 or not set(sha256) <= set("0123456789abcdef"):
            raise ValueError(f"expected a SHA-256 in hex, got {sha256!r}")
        return self.root / sha256[:2] / sha256


def _holds(path: Path, sha256: str) -> bool:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest() == sha256
    except FileNotFoundError:
        return False
