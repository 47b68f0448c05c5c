"""The database refuses invalid rows: one for each constraint."""

import shutil
from collections.abc import Generator, Mapping

import pytest
from sqlalchemy import CheckConstraint, Constraint, ForeignKeyConstraint, Index, Table, UniqueConstraint, insert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from db.schema import all_tables
from db.session import Database, open_database
from tests.db import (
    constraint_rows,
    constraint_rows_cluster,
    constraint_rows_records,
    constraint_rows_requests,
    constraint_rows_reuse,
    constraint_rows_sets,
    rows,
)
from tests.db.constraint_rows import Row
from tests.db.databases import BACKENDS, create_postgres

GROUPS = (
    constraint_rows,
    constraint_rows_cluster,
    constraint_rows_records,
    constraint_rows_requests,
    constraint_rows_reuse,
    constraint_rows_sets,
)
VALID = {table: row for group in GROUPS for table, row in group.VALID.items()}
BESIDE = [row for group in GROUPS for row in group.BESIDE]
ACCEPTED = [*((table, Row()) for table in VALID), *(row for group in GROUPS for row in group.ACCEPTED)]
REFUSED = [row for group in GROUPS for row in group.REFUSED]


def table_of(constraint: str) -> Table:
    """Return the table of a constraint or unique index."""
    return next(t for t in all_tables().tables.values() if any(c.name == constraint for c in refusing(t)))


def refusing(table: Table) -> list[Constraint | Index]:
    """Return the constraints and unique indexes of a table."""
    kinds = CheckConstraint, UniqueConstraint, ForeignKeyConstraint
    return [*(c for c in table.constraints if isinstance(c, kinds)), *(i for i in table.indexes if i.unique)]


@pytest.fixture(scope="module", params=BACKENDS)
def database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Generator[Database]:
    """One migrated database of each kind for all rows; every test rolls back."""
    if request.param == "sqlite":
        folder = tmp_path_factory.mktemp("constraints")
        url = f"sqlite:///{shutil.copy(request.getfixturevalue('migrated_file'), folder)}"
    else:
        url = create_postgres(request.getfixturevalue("postgres_server"), request.getfixturevalue("migrated_postgres"))
    opened = open_database(url)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def ids(database: Database) -> Row:
    """Add rows and return their ids, by placeholders such as {job}."""
    with database.write() as session:
        job = rows.add_job(session)
        pending = rows.add_trial(session, job.id, 0)
        kernel = rows.add_kernel(session, job, 1)
        other = rows.add_job(session, m=80)
        predicted = rows.add_predicted(session, other, 2, 3.0)
        measured = rows.add_measured(session, other, 3, 2.5)
        found: Row = {"{job}": job.id, "{problem}": job.problem_id, "{device}": job.device_id}
        found |= {"{request}": job.request_hash, "{kernel}": kernel.id, "{pending}": pending.id, "{other}": other.id}
        found |= {"{predicted}": predicted.id, "{measured}": measured.id}
        for table, changes in BESIDE:
            add_row(session, found, table, changes)
    return found


def add_row(session: Session, ids: Row, table: str, changes: Mapping[str, object]) -> None:
    """Insert a valid row with changes."""
    row = VALID[table] | dict(changes)
    values = {name: ids.get(v, v) if isinstance(v, str) else v for name, v in row.items()}
    session.execute(insert(all_tables().tables[table]).values(**values))


@pytest.mark.parametrize(("table", "changes"), ACCEPTED)
def test_possible_row_is_accepted(database: Database, ids: Row, table: str, changes: Row) -> None:
    with database.write() as session:
        add_row(session, ids, table, changes)
        session.rollback()


@pytest.mark.parametrize(("constraint", "changes"), REFUSED)
def test_impossible_row_is_refused(database: Database, ids: Row, constraint: str, changes: Row) -> None:
    table = table_of(constraint)
    with pytest.raises(IntegrityError) as refusal, database.write() as session:
        add_row(session, ids, table.name, changes)
    assert sign_of(table, constraint, database) in str(refusal.value.orig)


def sign_of(table: Table, constraint: str, database: Database) -> str:
    """Return text of the driver's error for a constraint; SQLite names only CHECK constraints."""
    found = next(c for c in refusing(table) if c.name == constraint)
    if database.engine.dialect.name == "postgresql" or isinstance(found, CheckConstraint):
        return constraint
    if isinstance(found, ForeignKeyConstraint):
        return "FOREIGN KEY"
    assert isinstance(found, UniqueConstraint | Index)
    return ", ".join(f"{table.name}.{column.name}" for column in found.columns)


def test_every_constraint_has_a_bad_row() -> None:
    named = {c.name for t in all_tables().tables.values() for c in refusing(t)}
    # Not reachable through a row of their own: one gives job.best_trial_id something to refer to, one makes a column
    # part of what PostgreSQL takes for a key.
    assert named - {"uq_trial_job_id_id", "uq_coordinator_name_fence"} == {name for name, _ in REFUSED}
