"""Migrations go up, down and up again, and leave the tables that the models describe."""

import sqlite3
import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import CheckConstraint, Engine, inspect, select, text
from sqlalchemy.orm import Session

from db.errors import DatabaseNotMigrated, DatabaseUnavailable
from db.migrate import check_migrated, current, downgrade, head, prepare, upgrade
from db.queries import (
    predictions,
    warm_starts,
)
from db.schema import (
    Donor,
    ImportedDonor,
    Job,
    PredictionError,
    RecordedDonor,
    RecordedTrial,
    Recording,
)
from db.schema.base import (
    Base,
    new_id,
)
from db.session import Database, make_engine, open_database
from tests.db import rows
from tests.db.databases import BACKENDS, create_postgres, drop_postgres


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


def test_predictions_of_older_rows_are_judged_by_their_own_measurements(engine: Engine) -> None:
    upgrade(engine)
    database = Database(engine)
    with database.write() as session:
        job = rows.add_job(session, "b580")
        rows.predict(session, rows.add_measured(session, job, 0, 30.0), 20.0)
        rows.add_predicted(session, job, 1, 40.0)
        rows.add_measured(session, job, 2, 50.0)
    downgrade(engine, "0002")
    assert "prediction_error" not in inspect(engine).get_table_names()
    upgrade(engine)
    with database.read() as session:
        assert [(error.ratio, error.trial_id) for error in session.scalars(select(PredictionError))] == [(1.5, 1)]
        assert predictions.judged(session, "b580")[0].measured_us == 30.0


def test_donors_of_before_become_one_list_of_their_job(engine: Engine) -> None:
    upgrade(engine)
    database = Database(engine)
    with database.write() as session:
        job, other = rows.add_job(session), rows.add_job(session)
        source = rows.add_measured(session, other, 0, 10.0).id
        tried = add_recorded(session, other)
        for position in (0, 1):  # each table counted for itself
            session.add(Donor(job_id=job.id, position=position, source_trial_id=source, distance=1.0))
            session.add(RecordedDonor(job_id=job.id, position=position, recorded_trial_id=tried, distance=1.0))
        for position in (1, 4):  # a merge brought the first again as a trial
            session.add(imported_donor(job.id, position))
        session.add(RecordedDonor(job_id=other.id, position=0, recorded_trial_id=tried, distance=1.0))
        of = job.id, other.id
    downgrade(engine, "0029")
    upgrade(engine)
    with database.read() as session:
        found = [(type(donor), donor.position) for donor in warm_starts.of_job(session, of[0])]
        alone = [(type(donor), donor.position) for donor in warm_starts.of_job(session, of[1])]
    assert found == [(Donor, 0), (Donor, 1), (RecordedDonor, 2), (RecordedDonor, 3), (ImportedDonor, 4)]
    assert alone == [(RecordedDonor, 0)]


def add_recorded(session: Session, job: Job) -> int:
    """A recorded trial of the problem and device of a job."""
    of: dict[str, Any] = {"problem_id": job.problem_id, "device_id": job.device_id}
    named: dict[str, Any] = {
        "format": "t4",
        "digest": rows.digest("file"),
        "origin": "o",
        "named": "B580",
        "label": "native",
    }
    recording = Recording(id=new_id(), **of, **named)
    session.add(recording)
    session.flush()
    values: dict[str, Any] = {"config": {}, "config_hash": rows.digest(0), "status": "measured", "time_us": 40.0}
    tried = RecordedTrial(recording_id=recording.id, number=0, **values)
    session.add(tried)
    session.flush()
    return tried.id


def imported_donor(job_id: UUID, position: int) -> ImportedDonor:
    """A configuration of a job that is not here."""
    of: dict[str, Any] = {"source_job": new_id(), "number": 3, "definition": {}, "device": "b580", "config": {}}
    return ImportedDonor(job_id=job_id, position=position, distance=1.0, **of)


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
        assert compare_metadata(context, Base.metadata) == []


def test_check_constraints_say_the_same_in_models_and_migrations(sqlite_url: str) -> None:
    """Autogenerate compares checks by name only; here by their text, which SQLite keeps as it is."""
    engine = make_engine(sqlite_url)
    inspector = inspect(engine)
    for name, table in Base.metadata.tables.items():
        written = {c.name: str(c.sqltext) for c in table.constraints if isinstance(c, CheckConstraint)}
        found = {c["name"]: c["sqltext"] for c in inspector.get_check_constraints(name)}
        assert found == written
    engine.dispose()


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


def test_prepare_migrates_an_empty_database_when_asked(empty: str) -> None:
    with pytest.raises(DatabaseNotMigrated, match="xetune db upgrade"):
        prepare(empty, create=False)
    prepare(empty, create=True).close()
    prepare(empty, create=False).close()


def test_prepare_leaves_an_old_database_to_its_owner(engine: Engine, empty: str) -> None:
    upgrade(engine)
    downgrade(engine, "base")
    with pytest.raises(DatabaseNotMigrated, match="xetune db upgrade"):
        prepare(empty, create=True)


def test_database_of_a_newer_program_is_refused(engine: Engine) -> None:
    upgrade(engine)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(DatabaseNotMigrated, match=r"at revision 9999.*a newer program"):
        check_migrated(engine)


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
