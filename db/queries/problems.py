"""Queries on problems."""

from typing import cast

from sqlalchemy import ColumnElement, or_, select
from sqlalchemy.orm import Session

from db.queries.insert import insert_missing
from db.schema.target import Problem
from db.values import JsonObject

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
    columns["quantization"] = _quantization(definition["quantization"])
    insert_missing(session, Problem, {"key": key, "definition": definition, **columns})
    return session.scalars(select(Problem).where(Problem.key == key)).one()


def _quantization(said: object) -> str:
    """Return the text form of a quantization: `128:f16:zero=8`, `32:e8m0`, `column:bf16:zeros`; "" of None."""
    if said is None:
        return ""
    of = cast(JsonObject, said)
    zero = ":zeros" if of["zeros"] else f":zero={of['zero']}" if of["zero"] else ""
    return f"{of['group'] or 'column'}:{of['scale']}{zero}"


def is_quantized_by(text: str) -> ColumnElement[bool]:
    """Return the condition on a problem whose quantization begins with the parts of a text; "" for none."""
    same = Problem.quantization == text
    return or_(same, Problem.quantization.startswith(f"{text}:", autoescape=True)) if text else same
