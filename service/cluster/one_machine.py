"""SQLite is only for programs of one machine: others would not see its locks, and could corrupt it."""

from collections.abc import Callable
from pathlib import Path

import psutil

from db.queries.cluster import coordinators
from db.session import Database, sqlite_path
from service.jobs.worker_names import is_elsewhere
from service.settings import InvalidSettings

# Source: https://www.sqlite.org/wal.html, "All processes using a database must be on the same host computer"
_NETWORK = frozenset(
    {"afs", "beegfs", "ceph", "cifs", "fuse.ceph", "fuse.glusterfs", "fuse.sshfs", "glusterfs", "gpfs", "lustre"}
    | {"nfs", "nfs4", "smb3", "smbfs"}
)
_ADVICE = "SQLite is for one machine; for several, set XETUNE_DATABASE_URL to a PostgreSQL database"


def check_one_machine(database: Database, file_system: Callable[[Path], str | None] | None = None) -> None:
    """Check for signs that several machines share an SQLite file; nothing is checked for PostgreSQL.

    Raises:
        InvalidSettings: it is on a network file system, or a coordinator of another machine uses it.
        DatabaseError: it does not answer.
    """
    path = sqlite_path(database.engine)
    if path is None:
        return
    kind = (file_system or file_system_of)(path)
    if kind in _NETWORK:
        raise InvalidSettings(f"{path} is on a network file system ({kind}), where its locks do not hold: {_ADVICE}")
    with database.read() as session:
        others = [row.holder for row in coordinators.live(session) if is_elsewhere(row.holder)]
    if others:
        host = others[0].partition("/")[0]
        raise InvalidSettings(f"{path} is in use on another machine, {host}, too: {_ADVICE}")


def file_system_of(path: Path) -> str | None:
    """Return the type of the file system of a path; None if unknown."""
    whole = path.resolve()
    found = [
        (len(Path(mount.mountpoint).parts), mount.fstype)
        for mount in psutil.disk_partitions(all=True)
        if whole.is_relative_to(mount.mountpoint)
    ]
    return max(found)[1] if found else None
