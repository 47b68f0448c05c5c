"""Migrations go up, down and up again, and leave the tables that the models describe."""

import sqlite3
import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Engine, inspect, text

from db.errors import DatabaseNotMigrated, DatabaseUnavailable, UnknownRevision
from db.migrate import check_migrated, current, downgrade, head, prepare, upgrade
from db.schema import all_tables
from db.session import Database, make_engine, open_database
from tests.db import rows
from tests.db.databases import BACKENDS, SQLITE_FIRST, create_postgres, drop_postgres


@pytest.fixture(params=BACKENDS)
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[str]:
    """URL of an empty database of each kind."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'a' / 'b' / 'new.sqlite'}"
    else:
        server = request.getfixturevalue("postgres_server")
        url = create_postgres(server)
        yield url
        drop_postgres(server, url)


sqlite_first = pytest.mark.parametrize("empty", SQLITE_FIRST, indirect=True)
"""Marks tests of what migrations do on both."""


@pytest.fixture
def engine(empty: str) -> Generator[Engine]:
    """An engine on the empty database."""
    made = make_engine(empty)
    yield made
    made.dispose()


def test_up_down_up_with_rows_in_every_step(engine: Engine) -> None:
    for _ in range(2):
        upgrade(engine)
        assert current(engine) == head()
        with Database(engine).write() as session:
            job = rows.add_job(session)
            job.best_trial_id = rows.add_measured(session, job, 0, 10.0).id
        downgrade(engine, "base")
        assert current(engine) is None
        assert inspect(engine).get_table_names() == ["alembic_version"]


@sqlite_first
def test_upgrade_of_an_upgraded_database_keeps_its_rows(engine: Engine) -> None:
    upgrade(engine)
    database = Database(engine)
    with database.write() as session:
        job_id = rows.add_job(session).id
    upgrade(engine)
    with database.read() as session:
        assert rows.jobs.get(session, job_id) is not None


def test_models_and_migrations_agree(engine: Engine) -> None:
    upgrade(engine)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
        assert compare_metadata(context, all_tables()) == []


def test_two_upgrades_at_once_both_succeed(empty: str) -> None:
    engines = [make_engine(empty) for _ in range(2)]
    with ThreadPoolExecutor() as pool:
        list(pool.map(upgrade, engines))
    assert [current(engine) for engine in engines] == [head(), head()]
    for engine in engines:
        engine.dispose()


def test_an_upgrade_waits_for_who_writes_a_new_file(tmp_path: Path) -> None:
    file = tmp_path / "new.sqlite"
    with closing(sqlite3.connect(file, isolation_level=None, check_same_thread=False)) as other:
        other.execute("CREATE TABLE other (x)")
        other.execute("BEGIN IMMEDIATE")
        other.execute("INSERT INTO other VALUES (1)")
        timer = threading.Timer(0.3, lambda: other.execute("COMMIT"))
        timer.start()
        engine = make_engine(f"sqlite:///{file}")
        upgrade(engine)
        timer.join()
        assert current(engine) == head()
        engine.dispose()


@sqlite_first
def test_prepare_migrates_an_empty_database_when_asked(empty: str) -> None:
    with pytest.raises(DatabaseNotMigrated, match="xetune db upgrade"):
        prepare(empty, create=False)
    prepare(empty, create=True).close()
    prepare(empty, create=False).close()


@sqlite_first
def test_prepare_leaves_an_old_database_to_its_owner(engine: Engine, empty: str) -> None:
    upgrade(engine)
    downgrade(engine, "base")
    with pytest.raises(DatabaseNotMigrated, match="xetune db upgrade"):
        prepare(empty, create=True)


@sqlite_first
def test_database_of_a_newer_program_is_refused(engine: Engine) -> None:
    upgrade(engine)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(DatabaseNotMigrated, match=r"at revision 9999.*a newer program"):
        check_migrated(engine)
    with pytest.raises(DatabaseNotMigrated, match=r"at revision 9999.*a newer program"):
        upgrade(engine)


@sqlite_first
def test_downgrade_to_an_unknown_revision_names_the_known_ones(engine: Engine) -> None:
    upgrade(engine)
    with pytest.raises(UnknownRevision, match=rf"expected one of base, 0001.*{head()}, got '0'"):
        downgrade(engine, "0")
    assert current(engine) == head()


def test_use_before_migration_says_what_to_do(empty: str, tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    database = open_database(empty)
    with pytest.raises(DatabaseNotMigrated, match="xetune db upgrade"), database.read() as session:
        rows.jobs.list_page(session, limit=1)
    database.close()


def test_sqlite_file_keeps_a_write_ahead_log(sqlite_url: str) -> None:
    engine = make_engine(sqlite_url)
    with engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1
    engine.dispose()


def test_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    engine = make_engine(f"sqlite:///{tmp_path / 'file' / 'new.sqlite'}")
    with pytest.raises(DatabaseUnavailable, match="file"):
        upgrade(engine)


def test_no_other_user_may_read_a_new_sqlite_file(tmp_path: Path) -> None:
    path = tmp_path / "some" / "data" / "xetune.sqlite"
    prepared = prepare(f"sqlite:///{path}", create=True)
    with prepared.read() as session:
        session.execute(text("SELECT 1"))
        found = {
            file.name: file.stat().st_mode & 0o777 for file in [path.parent.parent, path.parent, *path.parent.iterdir()]
        }
    prepared.close()
    assert found.pop("some") == found.pop("data") == 0o700
    assert set(found.values()) == {0o600}
    assert "xetune.sqlite" in found
