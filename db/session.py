"""Engines and transactions: SQLite with the pragmas it needs, PostgreSQL through psycopg."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.orm import Session
from sqlalchemy.pool import ConnectionPoolEntry

from db.errors import DatabaseUnavailable, typed_error

LOCK_TIMEOUT_S = 10.0
CONNECT_TIMEOUT_S = 10


@dataclass(slots=True)
class Commits:
    """How many transactions of this process were committed: each counts before its `with` ends."""

    count: int = 0


@dataclass(frozen=True, slots=True)
class Database:
    """One database. Thread-safe; each `with` is one transaction in one session.

    Raises:
        DatabaseError: what the driver said, typed; from the `with` statements.
    """

    engine: Engine
    commits: Commits = field(default_factory=Commits, compare=False, repr=False, kw_only=True)

    @contextmanager
    def read(self) -> Generator[Session]:
        """A session that changes nothing: it is rolled back at the end."""
        with typed_errors(self.engine), Session(self.engine, expire_on_commit=False) as session, kept_alive(session):
            yield session

    @contextmanager
    def write(self) -> Generator[Session]:
        """A session that commits at the end, or rolls back when an exception leaves it."""
        engine = self.engine.execution_options(sqlite_begin="IMMEDIATE")
        with (
            typed_errors(self.engine),
            Session(engine, expire_on_commit=False) as session,
            session.begin(),
            kept_alive(session),
        ):
            # Takes SQLite's write lock before anything is read, so that what is read stays true.
            session.connection()
            yield session
        self.commits.count += 1  # one lost between threads is another's: it changes all the same

    def close(self) -> None:
        """Close the pooled connections."""
        self.engine.dispose()


def open_database(url: str) -> Database:
    """The database of `url`; connects at the first use.

    Raises:
        DatabaseUnavailable: not a URL of SQLite or PostgreSQL.
    """
    return Database(make_engine(url))


def make_engine(url: str, lock_timeout_s: float = LOCK_TIMEOUT_S) -> Engine:
    """An engine for `sqlite:///<path>` or `postgresql+psycopg://<user>:<password>@<host>/<name>`.

    Raises:
        DatabaseUnavailable: not such a URL.
    """
    expected = "expected sqlite:///<path> or postgresql+psycopg://<user>@<host>/<name>"
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError) as error:  # ValueError: a port that is no number
        raise DatabaseUnavailable(f"database URL cannot be read: {expected}") from error
    match parsed.get_backend_name():
        case "sqlite" if parsed.database not in (None, "", ":memory:"):
            engine = create_engine(parsed, connect_args={"timeout": lock_timeout_s})
            event.listen(engine, "connect", _prepare_sqlite)
            event.listen(engine, "begin", _begin_sqlite)
            return engine
        case "postgresql" if parsed.drivername in ("postgresql", "postgresql+psycopg"):
            options = f"-c lock_timeout={round(lock_timeout_s * 1000)}"
            return create_engine(
                parsed.set(drivername="postgresql+psycopg"),
                pool_pre_ping=True,
                connect_args={"connect_timeout": CONNECT_TIMEOUT_S, "options": options},
            )
        case _:
            raise DatabaseUnavailable(f"database URL {shown_url(parsed)} is not supported: {expected}")


def shown_url(url: URL) -> str:
    """The URL as messages and logs may show it: without the password, also one in the query."""
    return url.set(query={}).render_as_string(hide_password=True)


def sqlite_path(engine: Engine) -> Path | None:
    """The file of an SQLite database; None for other databases and for file: URIs."""
    name = engine.url.database
    if engine.dialect.name != "sqlite" or name is None or name.startswith("file:"):
        return None
    return Path(name)


def check_writable(database: Database) -> None:
    """Return when the database can be written now.

    Raises:
        DatabaseError: it cannot, and why.
    """
    with database.write() as session:
        # SQLite begins even an immediate transaction on a read-only file; only a write tells.
        session.execute(text("UPDATE alembic_version SET version_num = version_num"))


@contextmanager
def kept_alive(session: Session) -> Generator[None]:
    """Objects that the session knows at the end of this block live as long as the session.

    Needed where a session rolls back or closes. It then writes into the state that the ORM has beside each object, and
    Python 3.11 collects garbage in the middle of such a write; if that takes the very object, its finalizer writes into
    the same state, whose memory is freed twice.
    """
    try:
        yield
    finally:
        session.info["kept"] = list(session.identity_map.values())


@contextmanager
def typed_errors(engine: Engine) -> Generator[None]:
    """Raise the driver's errors as errors of this room; those that mean a bug pass through."""
    try:
        yield
    except DBAPIError as error:
        typed = typed_error(error, engine.dialect.name, shown_url(engine.url))
        if typed is None:
            raise
        raise typed from error


def _prepare_sqlite(connection: DBAPIConnection, _record: ConnectionPoolEntry) -> None:
    # The driver must not begin transactions of its own: _begin_sqlite says which kind.
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute("PRAGMA foreign_keys = ON")
    # With the write-ahead log a commit outlives this program without waiting for the disk; only a power cut may undo
    # the last ones, and leaves what was before them whole. Source: https://www.sqlite.org/pragma.html#pragma_synchronous
    cursor.execute("PRAGMA synchronous = NORMAL")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    kind = connection.get_execution_options().get("sqlite_begin", "DEFERRED")
    if kind is not None:  # None is for what SQLite does outside transactions only
        connection.exec_driver_sql(f"BEGIN {kind}")
