"""Transactions commit or roll back, and what the driver refuses comes out typed."""

import gc
import sqlite3
import weakref
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from sqlalchemy import event, select, text
from sqlalchemy.exc import IntegrityError, StatementError
from sqlalchemy.orm import Session

from db.errors import DatabaseError, DatabaseFull, DatabaseLocked, DatabaseReadOnly, DatabaseUnavailable
from db.queries import (
    devices,
    jobs,
)
from db.schema.target import Device
from db.session import Database, make_engine, open_database
from db.values import new_id
from tests.db import rows


def check_writable(database: Database) -> None:
    """Write nothing new: SQLite begins even an immediate transaction on a read-only file; only a write fails."""
    with database.write() as session:
        session.execute(text("UPDATE alembic_version SET version_num = version_num"))


def path_of(url: str) -> Path:
    """The file of an SQLite URL."""
    return Path(url.removeprefix("sqlite:///"))


def test_write_commits_and_read_does_not(database: Database) -> None:
    with database.write() as session:
        rows.add_device(session, "kept")
    with database.read() as session:
        rows.add_device(session, "dropped")
    with database.read() as session:
        assert [device.slug for device in devices.list_all(session)] == ["kept"]


def test_exception_rolls_the_transaction_back(database: Database) -> None:
    def interrupted() -> None:
        with database.write() as session:
            rows.add_device(session)
            raise KeyError

    with pytest.raises(KeyError):
        interrupted()
    with database.read() as session:
        assert devices.list_all(session) == []


def test_rows_can_be_used_after_their_session(database: Database) -> None:
    with database.write() as session:
        device = rows.add_device(session)
    assert (device.slug, device.created_at.tzinfo) == ("opencl-cpu-as-b580", UTC)


def only_cycle(session: Session) -> weakref.ref[Device]:
    """An object that only the collection of garbage would take, and that has not been taken."""
    device = session.scalars(select(Device)).one()
    vars(device)["itself"] = device
    return weakref.ref(device)


@pytest.mark.slow
def test_garbage_of_a_session_is_not_collected_while_it_closes(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with database.write() as session:
        rows.add_device(session)
    alive: list[bool] = []
    with database.read() as session:
        device, close = only_cycle(session), session.expunge_all

        def collect_and_close() -> None:
            gc.collect()
            alive.append(device() is not None)
            close()

        monkeypatch.setattr(session, "expunge_all", collect_and_close)
    assert alive == [True]


def test_garbage_of_a_session_is_not_collected_while_it_rolls_back(database: Database) -> None:
    with database.write() as session:
        rows.add_device(session)
    alive: list[bool] = []

    def roll_back() -> None:
        with database.write() as session:
            device = only_cycle(session)

            def collect(_session: Session) -> None:
                gc.collect()
                alive.append(device() is not None)

            event.listen(session, "after_rollback", collect)
            raise KeyError

    with pytest.raises(KeyError):
        roll_back()
    assert alive == [True]


def test_moments_come_back_in_utc(database: Database) -> None:
    east = timezone(timedelta(hours=5, minutes=30))
    with database.write() as session:
        rows.add_device(session).created_at = datetime(2026, 3, 4, 17, 30, 0, 123456, tzinfo=east)
    with database.read() as session:
        (device,) = devices.list_all(session)
    assert device.created_at == datetime(2026, 3, 4, 12, 0, 0, 123456, tzinfo=UTC)
    assert device.created_at.utcoffset() == timedelta(0)


def test_naive_moment_is_refused(database: Database) -> None:
    with pytest.raises(StatementError, match="time zone"), database.write() as session:
        rows.add_device(session).created_at = datetime(2026, 3, 4)


def test_broken_constraint_is_not_taken_for_a_fault_of_the_database(database: Database) -> None:
    with pytest.raises(IntegrityError), database.write() as session:
        rows.add_device(session, slug="")


def test_ids_sort_by_time() -> None:
    first, second = new_id(), new_id()
    assert (first.version, first.variant) == (7, "specified in RFC 4122")
    assert first != second
    assert second.int >> 80 >= first.int >> 80 > 1_700_000_000_000


def test_writable_database_is_writable(database: Database) -> None:
    check_writable(database)


def test_read_only_file_can_be_read_not_written(sqlite_url: str) -> None:
    database = open_database(f"sqlite:///file:{path_of(sqlite_url)}?mode=ro&uri=true")
    with database.read() as session:
        assert jobs.list_page(session, limit=1) == []
    with pytest.raises(DatabaseReadOnly, match="cannot be written"):
        check_writable(database)
    with pytest.raises(DatabaseReadOnly), database.write() as session:
        rows.add_device(session)
    database.close()


def test_locked_file_is_given_up_after_a_while(sqlite_url: str) -> None:
    other = sqlite3.connect(path_of(sqlite_url), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    database = Database(make_engine(sqlite_url, lock_timeout_s=0.05))
    with pytest.raises(DatabaseLocked, match="another process"), database.write():
        pytest.fail("the lock was had")
    with database.read() as session:
        assert jobs.list_page(session, limit=1) == []
    other.execute("ROLLBACK")
    check_writable(database)
    other.close()
    database.close()


def test_connections_that_are_all_in_use_are_told(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As while other requests of the process wait for a slow database."""
    database = open_database(sqlite_url)
    monkeypatch.setattr(database.engine.pool, "_timeout", 0.01)
    with ExitStack() as others:
        for _ in range(15):  # SQLAlchemy's limit
            others.enter_context(database.read()).execute(text("SELECT 1"))
        with pytest.raises(DatabaseUnavailable, match="all connections of this process are in use"), database.write():
            pass
    check_writable(database)
    database.close()


def test_full_disk_is_told_and_loses_nothing_stored(sqlite_url: str) -> None:
    database = open_database(sqlite_url)
    with database.write() as session:
        rows.add_device(session)

    def fill() -> None:
        with database.write() as session:
            pages = session.scalar(text("PRAGMA page_count"))
            session.execute(text(f"PRAGMA max_page_count = {pages}"))
            for number in range(1000):
                rows.add_device(session, f"device {number}")

    with pytest.raises(DatabaseFull, match="disk is full"):
        fill()
    with database.read() as session:
        assert len(devices.list_all(session)) == 1
    database.close()


def test_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a database, but long enough to be looked at as one " * 20)
    database = open_database(f"sqlite:///{path}")
    with pytest.raises(DatabaseUnavailable, match=r"notes\.txt"), database.read() as session:
        jobs.list_page(session, limit=1)
    database.close()


def test_missing_folder_is_told(tmp_path: Path) -> None:
    database = open_database(f"sqlite:///{tmp_path / 'nowhere' / 'x.sqlite'}")
    with pytest.raises(DatabaseUnavailable, match="folder"), database.write():
        pytest.fail("it was opened")


@pytest.mark.parametrize("url", ["postgresql://me:secret@127.0.0.1:1/x", "postgresql://127.0.0.1:1/x?password=secret"])
def test_server_that_is_not_there_is_told_without_the_password(url: str) -> None:
    database = open_database(url)
    with pytest.raises(DatabaseUnavailable, match="no connection") as refusal, database.write():
        pytest.fail("it was opened")
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize(
    "url", ["", "notes.sqlite", "sqlite://", "sqlite:///:memory:", "mysql://host/x", "postgresql+asyncpg://host/x"]
)
def test_other_urls_are_refused_with_what_is_expected(url: str) -> None:
    with pytest.raises(DatabaseUnavailable, match="expected sqlite:///"):
        open_database(url)


def test_url_of_another_database_is_shown_without_the_password() -> None:
    with pytest.raises(DatabaseUnavailable, match=r"mysql://me:\*+@host/x is") as refusal:
        open_database("mysql://me:secret@host/x?password=secret")
    assert "secret" not in str(refusal.value)


@pytest.mark.postgres
@pytest.mark.slow
def test_read_only_server_is_told(postgres_url: str) -> None:
    database = open_database(postgres_url)
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        name = database.engine.url.database
        connection.execute(text(f"ALTER DATABASE {name} SET default_transaction_read_only = on"))
    database.close()
    with pytest.raises(DatabaseReadOnly, match="no writes"):
        check_writable(database)
    database.close()


@pytest.mark.postgres
def test_locked_row_of_a_server_is_given_up_after_a_while(postgres_url: str) -> None:
    database = open_database(postgres_url)
    impatient = Database(make_engine(postgres_url, lock_timeout_s=0.2))
    with database.write() as session:
        session.execute(text("LOCK TABLE device"))
        with pytest.raises(DatabaseLocked, match="try again"), impatient.write() as other:
            rows.add_device(other)
    database.close()
    impatient.close()


@pytest.mark.postgres
def test_killed_connection_is_told_and_the_next_use_works(postgres_url: str) -> None:
    database = open_database(postgres_url)
    with pytest.raises(DatabaseError), database.write() as session:
        session.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))
    check_writable(database)
    database.close()


@pytest.mark.postgres
def test_a_connection_that_the_server_closed_meanwhile_is_replaced(postgres_url: str) -> None:
    """No error, and no query before each transaction: what the server said waits at the socket."""
    database, other = open_database(postgres_url), open_database(postgres_url)
    statements: list[str] = []
    event.listen(database.engine, "before_cursor_execute", lambda _c, _x, said, *_: statements.append(said))
    with database.read() as session:
        before = session.scalar(text("SELECT pg_backend_pid()"))
    with other.write() as session:
        assert session.scalar(text("SELECT pg_terminate_backend(:pid, 5000)"), {"pid": before})
    with database.write() as session:
        assert session.scalar(text("SELECT pg_backend_pid()")) != before
    assert statements == ["SELECT pg_backend_pid()"] * 2
    database.close()
    other.close()
