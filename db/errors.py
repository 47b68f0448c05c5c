"""Errors of the database.

DatabaseError
+-- DatabaseUnavailable    no connection, or the file is no database
+-- DatabaseNotMigrated    its tables are missing, older or newer than this program's
+-- UnknownRevision        no migration leads to that revision
+-- DatabaseReadOnly       it may be read, not written
+-- DatabaseLocked         another process held its lock for too long
+-- DatabaseFull           its disk is full
+-- LeaseLost              the job is not, or no longer, this worker's
|   +-- FenceLost          another coordinator gives out work now
+-- AlreadyFired           that due time of the schedule was handled before
"""

import sqlite3

from sqlalchemy.exc import DBAPIError, OperationalError

NOT_MIGRATED_ADVICE = "run `xetune db upgrade`"


class DatabaseError(Exception):
    """Base of the errors of this room."""


class DatabaseUnavailable(DatabaseError):
    """No connection, or the file is no database."""


class DatabaseNotMigrated(DatabaseError):
    """Its tables are missing, older or newer than this program's.

    `is_empty`: it is not there yet, or has no tables at all, so that the first command makes them.
    """

    def __init__(self, message: str, *, is_empty: bool = False) -> None:
        super().__init__(message)
        self.is_empty = is_empty


class UnknownRevision(DatabaseError):
    """No migration leads to that revision."""


class DatabaseReadOnly(DatabaseError):
    """It may be read, not written."""


class DatabaseLocked(DatabaseError):
    """Another process held its lock for too long."""


class DatabaseFull(DatabaseError):
    """Its disk is full."""


class LeaseLost(DatabaseError):
    """The job is not, or no longer, this worker's: stop working on it."""


class FenceLost(LeaseLost):
    """Another coordinator gives out work now, or may: write nothing more."""


class AlreadyFired(DatabaseError):
    """That due time of the schedule was handled before, perhaps by another process."""


_FULL = "its disk is full; free some space"

# Primary result codes, and extended ones that say more. Source: https://www.sqlite.org/rescode.html
_SQLITE: dict[int, tuple[type[DatabaseError], str]] = {
    sqlite3.SQLITE_BUSY: (DatabaseLocked, "another process holds its lock; stop that one or try again"),
    sqlite3.SQLITE_LOCKED: (DatabaseLocked, "another connection holds its lock; try again"),
    sqlite3.SQLITE_READONLY: (DatabaseReadOnly, "it cannot be written; change the file's or the folder's permissions"),
    sqlite3.SQLITE_FULL: (DatabaseFull, _FULL),
    sqlite3.SQLITE_CANTOPEN: (
        DatabaseUnavailable,
        "the file cannot be opened; check that its folder exists and may be written",
    ),
    sqlite3.SQLITE_NOTADB: (DatabaseUnavailable, "the file is not an SQLite database; name another one"),
    sqlite3.SQLITE_CORRUPT: (DatabaseUnavailable, "the file is damaged; restore it from a copy"),
    sqlite3.SQLITE_IOERR: (DatabaseUnavailable, "its disk failed to read or write"),
    sqlite3.SQLITE_IOERR_SHMSIZE: (DatabaseFull, _FULL),  # the first connection makes the index of the WAL, 32 KiB
}

# SQLSTATE codes. Source: PostgreSQL documentation, appendix A
_POSTGRESQL: dict[str, tuple[type[DatabaseError], str]] = {
    "42P01": (DatabaseNotMigrated, f"a table is missing; {NOT_MIGRATED_ADVICE}"),
    "42703": (DatabaseNotMigrated, f"a column is missing; {NOT_MIGRATED_ADVICE}"),
    "25006": (DatabaseReadOnly, "it accepts no writes; use the primary server"),
    "55P03": (DatabaseLocked, "another session holds a lock; try again"),
    "40P01": (DatabaseLocked, "two sessions waited for each other; try again"),
    "53100": (DatabaseFull, _FULL),
}


def typed_error(error: DBAPIError, backend: str, database: str) -> DatabaseError | None:
    """Return the error of this room for a driver's error; None when it is a bug of ours.

    `database` is its URL as people may see it.
    """
    found = _sqlite_case(error.orig) if backend == "sqlite" else _postgresql_case(error)
    if found is None:
        return None
    kind, meaning = found
    return kind(f"database {database}: {meaning} ({_first_line(error)})")


def _sqlite_case(cause: BaseException | None) -> tuple[type[DatabaseError], str] | None:
    if str(cause).startswith(("no such table", "no such column")):
        return DatabaseNotMigrated, f"its tables are missing or old; {NOT_MIGRATED_ADVICE}"
    code = getattr(cause, "sqlite_errorcode", None)
    return None if code is None else _SQLITE.get(code) or _SQLITE.get(code & 0xFF)


def _postgresql_case(error: DBAPIError) -> tuple[type[DatabaseError], str] | None:
    state = getattr(error.orig, "sqlstate", None)
    if state in _POSTGRESQL:
        return _POSTGRESQL[state]
    # A failure to connect has no state; the classes are connection, login, catalog, resources, operator.
    unreachable = isinstance(error, OperationalError) if state is None else state[:2] in ("08", "28", "3D", "53", "57")
    return (DatabaseUnavailable, "no connection; check its URL and its server") if unreachable else None


def _first_line(error: DBAPIError) -> str:
    return str(error.orig).strip().split("\n", maxsplit=1)[0]
