"""SQLite as a server that may be gone, slow or full: a driver whose connections give way and fail on request.

The write lock waits in virtual time. What a killed process has not committed is rolled back.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Engine, event
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.util import LRUCache

from db.session import LOCK_TIMEOUT_S, Database, make_engine
from tests.world.plan import Kind
from tests.world.virtual import Killed, Process, Scheduler

if TYPE_CHECKING:
    from tests.world.faults import Faults

_COMPILED = LRUCache[Any, Any](5000)


def failure(code: int, message: str) -> sqlite3.OperationalError:
    """Return an error of the driver with an error code of SQLite."""
    error = sqlite3.OperationalError(message)
    error.sqlite_errorcode = code
    return error


class Server:
    """The database of a world. `committed` is called after each commit that wrote, before anybody else runs."""

    def __init__(self, path: Path, scheduler: Scheduler, faults: Faults, committed: Callable[[Process], None]) -> None:
        self.path, self.scheduler, self.faults, self.committed = path, scheduler, faults, committed
        self.owner: SimConnection | None = None

    def open(self, process: Process) -> Database:
        """Return the database as a process opens it."""
        engine = make_engine(f"sqlite:///{self.path}")
        engine._compiled_cache = _COMPILED  # each statement is compiled once for all worlds
        engine.pool._timeout = 0.0  # pyright: ignore[reportAttributeAccessIssue] (it would wait in real time)
        made: list[SimConnection] = []

        def connect(_dialect: object, _record: object, cargs: Any, cparams: Any) -> sqlite3.Connection:
            self.check(process)
            connection = sqlite3.connect(*cargs, **cparams, factory=SimConnection)
            connection.server, connection.process = self, process
            made.append(connection)
            return connection

        event.listen(engine, "do_connect", connect)
        process.at_close.append(lambda: _close(engine, made))
        return Database(engine)

    def check(self, process: Process) -> None:
        """Check that the process lives and reaches the database.

        Raises:
            Killed, sqlite3.OperationalError: it does not.
        """
        if not process.alive:
            raise Killed
        if self.faults.database_gone:
            raise failure(sqlite3.SQLITE_CANTOPEN, "unable to open database file: it is gone")
        if process.host.cut_until_s > self.scheduler.now_s:
            raise failure(sqlite3.SQLITE_CANTOPEN, "unable to open database file: no network")


def _close(engine: Engine, connections: list[SimConnection]) -> None:
    engine.dispose()
    for connection in connections:
        connection.end()


class SimCursor(sqlite3.Cursor):
    """A cursor that begins transactions in virtual time."""

    @property
    def simulated(self) -> SimConnection:
        """The connection."""
        assert isinstance(self.connection, SimConnection)
        return self.connection

    def execute(self, sql: str, parameters: Any = (), /) -> SimCursor:
        if sql == "BEGIN IMMEDIATE":
            self.simulated.lock()
        elif sql.startswith("BEGIN"):
            self.simulated.reach("reads")
        elif not sql.startswith("PRAGMA"):
            self.simulated.say(sql)
        super().execute(sql, parameters)
        return self


class SimConnection(sqlite3.Connection):
    """A connection of a process."""

    server: Server
    process: Process
    ended = False

    def cursor(self, factory: Any = SimCursor) -> Any:
        return super().cursor(factory)

    def reach(self, what: str) -> None:
        """Give way, then check the database."""
        if self.server.scheduler.current is not None:
            self.server.scheduler.wait(what, self.server.faults.database_delay_s)
        self.server.check(self.process)

    def say(self, sql: str) -> None:
        """Check before a statement."""
        if self.server.faults.database_delay_s and self.server.scheduler.current is not None:
            self.server.scheduler.wait("slow statement", self.server.faults.database_delay_s)
        self.server.check(self.process)
        if self.server.owner is self and not sql.startswith("SELECT") and self.server.faults.take(Kind.SERIALISATION):
            raise failure(sqlite3.SQLITE_BUSY, "could not serialize access")

    def lock(self) -> None:
        """Take the write lock."""
        self.reach("writes")
        scheduler, until_s = self.server.scheduler, self.server.scheduler.now_s + LOCK_TIMEOUT_S
        if self.server.faults.take(Kind.LOCK_TIMEOUT):
            scheduler.wait("waits for a lock", LOCK_TIMEOUT_S)
            raise failure(sqlite3.SQLITE_BUSY, "database is locked")
        while self.server.owner is not None:
            if not scheduler.wait("waits for the lock", until_s - scheduler.now_s, lambda: self.server.owner is None):
                raise failure(sqlite3.SQLITE_BUSY, "database is locked")
        self.server.check(self.process)
        self.server.owner, self.process.locked_at = self, self.process.host.now(scheduler.now_s)

    def unlock(self) -> None:
        """Give the write lock back."""
        if self.server.owner is self:
            self.server.owner = None

    def commit(self) -> None:
        scheduler, faults = self.server.scheduler, self.server.faults
        if self.server.owner is not self:
            super().commit()
            return
        scheduler.point("commits")
        if faults.take(Kind.KILL_BEFORE_COMMIT):
            faults.kill(self.process, "before a commit")
        self.server.check(self.process)
        if faults.take(Kind.DATABASE_FULL):
            raise failure(sqlite3.SQLITE_FULL, "database or disk is full")
        super().commit()
        self.unlock()
        self.server.committed(self.process)
        if faults.take(Kind.KILL_AFTER_COMMIT):
            faults.kill(self.process, "after a commit")
        if faults.take(Kind.UNKNOWN_COMMIT):
            raise failure(sqlite3.SQLITE_IOERR, "connection lost in a commit")
        scheduler.point("committed")

    def rollback(self) -> None:
        if self.ended:
            return
        super().rollback()
        self.unlock()

    def end(self) -> None:
        """Close it, whatever it was doing."""
        if not self.ended:
            self.ended = True
            super().rollback()
            self.unlock()
            super().close()

    def close(self) -> None:
        self.end()


def compile_once(patch: Any) -> None:
    """Let engines share compiled statements: their keys hold the engine's dialect."""
    patch.setattr(DefaultDialect, "__hash__", lambda self: hash(type(self)))
    patch.setattr(DefaultDialect, "__eq__", lambda self, other: type(self) is type(other))
