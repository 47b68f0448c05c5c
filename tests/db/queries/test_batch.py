"""A batch gives the values of its statements by their types, and errors as those of this room."""

import pytest
from sqlalchemy import bindparam, delete, insert, select, text, update
from sqlalchemy.exc import IntegrityError

from db.errors import DatabaseUnavailable
from db.queries.batch import batch
from db.schema.base import table_of
from db.schema.cluster import Coordinator
from db.session import Database
from tests.db.rows import NOON

TABLE = table_of(Coordinator)
ROW = {"name": "a", "holder": "b", "fence": 1, "since": NOON, "expires_at": NOON}
ADD = insert(TABLE).inline()
GIVE = (
    update(TABLE).where(TABLE.c.name == bindparam("of_name")).values(fence=TABLE.c.fence + 1).returning(TABLE.c.fence)
)
SEE = select(TABLE.c.since, TABLE.c.fence).where(TABLE.c.name == bindparam("of_name"), TABLE.c.holder == "b")


def test_statements_see_each_other_and_answer_in_their_types(database: Database) -> None:
    with database.write_rows() as connection:
        with batch(connection) as several:
            added = several.execute(ADD, ROW)
            given = [several.execute(GIVE, {"of_name": name}) for name in ("a", "x")]
            seen = several.execute(SEE, {"of_name": "a"})
            deleted = several.execute(delete(TABLE), {})
        assert (added.count, deleted.count) == (1, 1)
        assert [answer.first() for answer in given] == [(2,), None]
        assert seen.rows == [(NOON, 2)]


def test_a_parameter_without_a_value_is_refused(database: Database) -> None:
    for values in ({}, {"of_nmae": "a"}, {"of_name": "a", "fence": 1}):
        with (
            database.write_rows() as connection,
            pytest.raises(ValueError, match=r"expected values of .*'of_name'.* at least; got"),
            batch(connection) as single,
        ):
            single.execute(GIVE, values)


def test_a_constraint_is_reported_with_its_statement_and_undoes_all(database: Database) -> None:
    with pytest.raises(IntegrityError, match="INSERT INTO coordinator"):
        add(database, 2)
    with database.write_rows() as connection:
        with batch(connection) as single:
            seen = single.execute(SEE, {"of_name": "a"})
        assert seen.rows == []


def test_a_connection_that_is_lost_is_replaced(database: Database) -> None:
    if database.engine.dialect.name == "sqlite":
        pytest.skip("SQLite has no connections to lose")
    with pytest.raises(DatabaseUnavailable):
        add(database, 1, is_lost=True)
    add(database, 1)


def add(database: Database, times: int, *, is_lost: bool = False) -> None:
    """Add the row some times, by a connection that the server ends before if it is lost."""
    with database.write_rows() as connection:
        process = connection.scalar(text("SELECT pg_backend_pid()")) if is_lost else None
        if process is not None:
            with database.write() as session:
                session.execute(text("SELECT pg_terminate_backend(:process, 5000)"), {"process": process})
        with batch(connection) as several:
            for _ in range(times):
                several.execute(ADD, ROW)
