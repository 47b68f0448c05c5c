"""Migrations: bring the tables of a database to this program's version, or check that they are at it."""

import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

from sqlalchemy import Connection, Engine, inspect, text
from sqlalchemy.exc import OperationalError

from db.errors import NOT_MIGRATED_ADVICE, DatabaseNotMigrated, DatabaseUnavailable, UnknownRevision
from db.session import LOCK_TIMEOUT_S, Database, open_database, shown_url, sqlite_path, typed_errors

_SCRIPTS = Path(__file__).resolve().parents[1] / "migrations"
_UPGRADE_LOCK = 0x7865_7475  # any number that only we use
_RETRY_S = 0.05


@cache
def head() -> str:
    """Return the revision that this program needs."""
    return _revisions()[-1]


def current(engine: Engine) -> str | None:
    """Return the revision that the database is at; None when it was never migrated.

    Raises:
        DatabaseError: it cannot be read.
    """
    with typed_errors(engine), engine.connect() as connection:
        return _revision(connection)


def upgrade(engine: Engine) -> None:
    """Migrate to the newest revision, in one transaction; makes the file and folder of an SQLite database.

    Raises:
        DatabaseNotMigrated: a newer program migrated it.
        DatabaseError: it cannot be written.
    """
    with typed_errors(engine):
        _make_sqlite_file(engine)
        with engine.execution_options(sqlite_begin="IMMEDIATE").begin() as connection:
            _wait_for_others(connection)
            if (found := _revision(connection)) is not None:
                _check_known(engine, found)
            _alembic("upgrade", connection, "head")


def downgrade(engine: Engine, revision: str) -> None:
    """Migrate back to `revision` ("base" for nothing): what later revisions added is lost.

    Raises:
        UnknownRevision: there is no such revision.
        DatabaseError: it cannot be written.
    """
    if revision not in (known := ["base", *_revisions()]):
        raise UnknownRevision(f"revision: expected one of {', '.join(known)}, got {revision!r}")
    with typed_errors(engine), engine.execution_options(sqlite_begin="IMMEDIATE").begin() as connection:
        _wait_for_others(connection)
        _alembic("downgrade", connection, revision)


def check_migrated(engine: Engine) -> None:
    """Check that the database has this program's tables.

    Raises:
        DatabaseNotMigrated: it has none, older or newer ones.
        DatabaseError: it cannot be read.
    """
    shown = shown_url(engine.url)
    path = sqlite_path(engine)
    if path is not None and not path.exists():
        raise DatabaseNotMigrated(f"database {shown} does not exist; {NOT_MIGRATED_ADVICE}", is_empty=True)
    if (found := current(engine)) is None:
        message = f"database {shown} has none of this program's tables; {NOT_MIGRATED_ADVICE}"
        raise DatabaseNotMigrated(message, is_empty=_is_empty(engine))
    _check_known(engine, found)
    if found != head():
        raise DatabaseNotMigrated(f"{_place(engine, found)}; {NOT_MIGRATED_ADVICE}")


def prepare(url: str, *, create: bool) -> Database:
    """Return the database of `url`, ready to use. With `create`, one that is empty or missing is migrated first.

    Raises:
        DatabaseNotMigrated: its tables are missing (without `create`), older or newer.
        DatabaseError: it cannot be opened.
    """
    database = open_database(url)
    try:
        if create and _is_empty(database.engine):
            upgrade(database.engine)
        check_migrated(database.engine)
    except BaseException:
        database.close()
        raise
    return database


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.scalar(text("SELECT version_num FROM alembic_version"))


def _check_known(engine: Engine, found: str) -> None:
    if found not in _revisions():
        raise DatabaseNotMigrated(f"{_place(engine, found)}; a newer program migrated it, use that one")


def _place(engine: Engine, found: str) -> str:
    return f"database {shown_url(engine.url)} is at revision {found}, this program needs {head()}"


def _revisions() -> list[str]:
    """Return all revisions, oldest first: scripts are named by their revision, "0001_initial.py"."""
    return sorted(script.name.partition("_")[0] for script in (_SCRIPTS / "versions").glob("[0-9]*.py"))


def _alembic(command: str, connection: Connection, revision: str) -> None:
    # Imported here: a database that is at the needed revision does without.
    from alembic import command as commands
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
    config.attributes["connection"] = connection
    getattr(commands, command)(config, revision)


def _make_sqlite_file(engine: Engine) -> None:
    if engine.dialect.name != "sqlite":
        return
    path = sqlite_path(engine)
    if path is not None:
        try:
            for folder in (*reversed([above for above in path.parents if not above.exists()]), path.parent):
                folder.mkdir(mode=0o700, exist_ok=True)
            if not path.exists():
                path.touch(mode=0o600)  # before SQLite makes it readable by all; its journals have the mode of the file
        except OSError as error:
            raise DatabaseUnavailable(
                f"folder {path.parent} of the database cannot be created: {error.strerror}"
            ) from error
    with engine.execution_options(sqlite_begin=None).connect() as connection:
        # Kept in the file: readers and one writer do not wait for each other.
        _retry_while_locked(lambda: connection.exec_driver_sql("PRAGMA journal_mode = WAL"))


def _retry_while_locked(change: Callable[[], object]) -> None:
    """Retry a change of the journal mode: SQLite does not wait for the locks of others there."""
    deadline_s = time.monotonic() + LOCK_TIMEOUT_S
    while True:
        try:
            change()
            return
        except OperationalError as error:
            if "locked" not in str(error.orig) or time.monotonic() > deadline_s:
                raise
            time.sleep(_RETRY_S)


def _wait_for_others(connection: Connection) -> None:
    """Let one process migrate at a time; SQLite's write lock does the same."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _UPGRADE_LOCK})


def _is_empty(engine: Engine) -> bool:
    path = sqlite_path(engine)
    if path is not None and not path.exists():
        return True
    with typed_errors(engine):
        return not inspect(engine).get_table_names()
