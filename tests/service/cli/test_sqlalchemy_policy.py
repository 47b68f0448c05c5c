"""The policy of a command for SQLAlchemy."""

import subprocess
import sys

import pytest

_USE = """
import sys
from service.cli import sqlalchemy_policy
if sys.argv[1] == "late":
    sqlalchemy_policy.compile_wrappers_when_called()
import inspect
import warnings
from sqlalchemy import Column, Integer, MetaData, Table, create_engine, exc, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column
from sqlalchemy.sql import Select

print(Select.where.__code__.co_name == "late", file=sys.stderr)
print(inspect.signature(Select.where), Select.where.__doc__ is not None, inspect.signature(Table.__init__))
class Base(DeclarativeBase):
    pass
class Tile(Base):
    __tablename__ = "tile"
    m: Mapped[int] = mapped_column(primary_key=True)
    n: Mapped[int]
print(repr(Column("k", Integer, nullable=False)), repr(Table("t", MetaData(), Column("k", Integer))))
engine = create_engine("sqlite://", pool_recycle=30)  # it reads the arguments of constructors
try:
    create_engine("sqlite://", pool_recycles=30)
except TypeError as error:
    print(str(error)[:46])
Base.metadata.create_all(engine)
with Session(engine) as session, session.begin():
    session.add_all([Tile(m=8, n=16), Tile(m=16, n=32)])
with Session(engine) as session:
    query = select(Tile).where(Tile.m > 8).order_by(Tile.n).limit(3)
    print(str(query).split(), [(tile.m, tile.n) for tile in session.scalars(query)])
    print([tile.n for tile in session.query(Tile).filter_by(m=8)])
try:
    select(Tile).where()
    select(Tile).limit()
except TypeError as error:
    print(error)
"""


def _used(how: str) -> tuple[str, str]:
    run = [sys.executable, "-W", "error", "-c", _USE, how]
    done = subprocess.run(run, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout, done.stderr.strip()


def test_sqlalchemy_behaves_the_same_with_wrappers_that_are_compiled_late() -> None:
    late, usual = _used("late"), _used("usual")
    assert (late[1], usual[1]) == ("True", "False")
    assert late[0] == usual[0]
    assert "[(16, 32)]" in late[0]


@pytest.mark.parametrize("module", ["sqlalchemy", "sqlalchemy.orm"])
def test_a_sqlalchemy_that_was_imported_stays_as_it_is(module: str) -> None:
    lines = f"import {module}, sqlalchemy.sql; from service.cli.sqlalchemy_policy import compile_wrappers_when_called"
    then = "compile_wrappers_when_called(); print(sqlalchemy.sql.Select.where.__code__.co_name)"
    run = [sys.executable, "-W", "error", "-c", f"{lines}; {then}"]
    assert subprocess.run(run, capture_output=True, text=True, check=True, timeout=60).stdout.strip() != "late"
