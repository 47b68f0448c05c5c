"""Queries on problems."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.queries.insert import insert_missing
from db.schema import Problem
from db.schema.base import JsonObject

_COLUMNS = (
    "m",
    "n",
    "k",
    "batch",
    "dtype_a",
    "dtype_b",
    "dtype_c",
    "dtype_acc",
    "transpose_a",
    "transpose_b",
)


def upsert(session: Session, *, key: str, definition: JsonObject) -> Problem:
    """Insert the problem of that key if it is missing; `definition` is its canonical JSON, from which the
    columns are filled.
    """
    columns = {name: definition[name] for name in _COLUMNS}
    columns["products"] = 1 if definition["gate"] is None else 2
    insert_missing(session, Problem, {"key": key, "definition": definition, **columns})
    return session.scalars(select(Problem).where(Problem.key == key)).one()
