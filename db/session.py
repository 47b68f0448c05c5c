"""Engines and transactions: SQLite with the required pragmas, PostgreSQL through psycopg."""

import select
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, DBAPIError, DisconnectionError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.orm import Session
from sqlalchemy.pool import ConnectionPoolEntry

from db.errors import DatabaseUnavailable, typed_error

if TYPE_CHECKING:
    from db.queries.cluster.coordinators import Fence

LOCK_TIMEOUT_S = 10.0
CONNECT_TIMEOUT_S = 10
_CONNECTIONS = 15  # of a process, which keeps those that it opened: a new one takes PostgreSQL milliseconds

# Take SQLite's write lock before reading, so that the values read stay valid.
_LOCKED = {"sqlite_begin": "IMMEDIATE"}


@dataclass(slots=True)
class Commits:
    """Number of transactions that this process committed; each is counted before its `with` ends."""

    count: int = 0


@dataclass(frozen=True, slots=True)
class Database:
    """One database. Thread-safe; each `with` is one transaction in one session.

    Raises:
        DatabaseError: the driver's error, typed; from the `with` statements.
    """

    engine: Engine
    commits: Commits = field(default_factory=Commits, compare=False, repr=False, kw_only=True)

    @contextmanager
    def read(self) -> Generator[Session]:
        """Open a read-only session: it is rolled back at the end."""
        with typed_errors(self.engine), Session(self.engine, expire_on_commit=False) as session, kept_alive(session):
            yield session

    @property
    def guard(self) -> "Fence | None":
        """The fence under which writes are allowed; None if none guards them."""
        return None

    @contextmanager
    def write(self) -> Generator[Session]:
        """Open a session that commits at the end, or rolls back on an exception."""
        engine = self.engine.execution_options(**_LOCKED)
        with (
            typed_errors(self.engine),
            Session(engine, expire_on_commit=False) as session,
            session.begin(),
            kept_alive(session),
        ):
            session.connection()
            yield session
        self.commits.count += 1  # an increment lost in a race is harmless: the count still changes

    @contextmanager
    def write_rows(self) -> Generator[Connection]:
        """Open the same without the ORM, at half the cost; the caller's first statement checks the `guard`."""
        with typed_errors(self.engine), self.engine.execution_options(**_LOCKED).begin() as connection:
            yield connection
        self.commits.count += 1

    def close(self) -> None:
        """Close the pooled connections."""
        self.engine.dispose()


def open_database(url: str) -> Database:
    """Return the database of `url`; it connects at the first use.

    Raises:
        DatabaseUnavailable: not a URL of SQLite or PostgreSQL.
    """
    return Database(make_engine(url))


def make_engine(url: str, lock_timeout_s: float = LOCK_TIMEOUT_S) -> Engine:
    """Return an engine for `sqlite:///<path>` or `postgresql+psycopg://<user>:<password>@<host>/<name>`.

    Raises:
        DatabaseUnavailable: not such a URL.
    """
    expected = "expected sqlite:///<path> or postgresql+psycopg://<user>@<host>/<name>"
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError) as error:  # ValueError: a port that is not a number
        raise DatabaseUnavailable(f"database URL cannot be read: {expected}") from error
    match parsed.get_backend_name():
        case "sqlite" if parsed.database not in (None, "", ":memory:"):
            engine = create_engine(parsed, connect_args={"timeout": lock_timeout_s})
            event.listen(engine, "connect", _prepare_sqlite)
            event.listen(engine, "begin", _begin_sqlite)
            return engine
        case "postgresql" if parsed.drivername in ("postgresql", "postgresql+psycopg"):
            options = f"-c lock_timeout={round(lock_timeout_s * 1000)}"
            engine = create_engine(
                parsed.set(drivername="postgresql+psycopg"),
                pool_size=_CONNECTIONS,
                max_overflow=0,
                pool_use_lifo=True,  # the server's caches of the newest connection are warm
                connect_args={"connect_timeout": CONNECT_TIMEOUT_S, "options": options},
            )
            event.listen(engine, "checkout", partial(_check_connection, engine))
            return engine
        case _:
            raise DatabaseUnavailable(f"database URL {shown_url(parsed)} is not supported: {expected}")


def shown_url(url: URL) -> str:
    """Return the URL without the password, also one in the query, for messages and logs."""
    return url.set(query={}).render_as_string(hide_password=True)


def sqlite_path(engine: Engine) -> Path | None:
    """Return the file of an SQLite database; None for other databases and for file: URIs."""
    name = engine.url.database
    if engine.dialect.name != "sqlite" or name is None or name.startswith("file:"):
        return None
    return Path(name)


@contextmanager
def kept_alive(session: Session) -> Generator[None]:
    """Keep objects that the session knows at the end of this block alive as long as the session.

    Needed where a session rolls back or closes. It then writes into the ORM's state of each object. Python
    3.11 may collect garbage during that write; if it collects the object itself, the finalizer writes into
    the same state, whose memory is then freed twice.
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
    except PoolTimeout as error:
        raise DatabaseUnavailable(
            f"database {shown_url(engine.url)}: all connections of this process are in use; try again"
        ) from error


def _check_connection(engine: Engine, connection: Any, _record: object, _proxy: object) -> None:
    """Let the pool replace a connection that the server has closed, without a query for each transaction.

    A server that closes a connection tells why, and closes the socket: one that is silent is open.
    """
    driver = engine.dialect.loaded_dbapi
    try:
        poll = select.poll()
        poll.register(connection.pgconn.socket, select.POLLIN)
        if poll.poll(0):
            engine.dialect.do_ping(connection)
    except driver.Error as error:
        raise DisconnectionError from error


def _prepare_sqlite(connection: DBAPIConnection, _record: ConnectionPoolEntry) -> None:
    # The driver must not begin transactions itself: _begin_sqlite says which kind.
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute("PRAGMA foreign_keys = ON")
    # With the write-ahead log a commit survives a crash of this program without waiting for the disk. A power cut
    # may undo the last commits, but leaves earlier ones intact. Source:
    # https://www.sqlite.org/pragma.html#pragma_synchronous
    cursor.execute("PRAGMA synchronous = NORMAL")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    kind = connection.get_execution_options().get("sqlite_begin", "DEFERRED")
    if kind is not None:  # None: only for what SQLite does outside transactions
        connection.exec_driver_sql(f"BEGIN {kind}")
