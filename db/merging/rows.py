"""Rows of one database as rows of another: every column is taken, references become those of the other."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar, cast

from sqlalchemy import Column, inspect
from sqlalchemy.orm import Session

from db.schema import Trial
from db.schema.base import Base

Value = TypeVar("Value")
_A_STATEMENT = 1000
Found = Callable[[object], object]
"""The identifier here of a row there; None where it has not come (yet)."""


class Copier:
    """Makes rows for the session `here`. `found` gives, for each table, the identifier here of one there."""

    def __init__(self, here: Session, found: Mapping[str, Found]) -> None:
        self._here, self._found = here, found
        self._late: list[tuple[Base, str, str, object]] = []

    def values(self, row: Base) -> dict[str, object]:
        """What the columns of a row would hold here, but for an identifier that the database counts."""
        return {name: self._value(row, name) for name in columns(type(row)) if name != _counted(type(row))}

    def put(self, made: Base, of: Base) -> Base:
        """Add a row that was made of one there; references to trials that come later are set by `finish`."""
        self._here.add(made)
        for name, table in references(type(of)).items():
            there = getattr(of, name)
            if there is not None and getattr(made, name) is None and table in self._found:
                self._late.append((made, name, table, there))
        return made

    def finish(self) -> None:
        """Set the references that could not be told before."""
        self._here.flush()
        for made, name, table, there in self._late:
            setattr(made, name, self._found[table](there))
        self._here.flush()

    def _value(self, row: Base, name: str) -> object:
        table, value = references(type(row)).get(name), getattr(row, name)
        if table is None or value is None:
            return value
        return self._found[table](value) if table in self._found else None


def references(model: type[Base]) -> dict[str, str]:
    """Columns that refer to the identifier of another row, and its table."""
    found: dict[str, str] = {}
    for name, column in columns(model).items():
        for key in column.foreign_keys:
            if key.column.primary_key:
                found[name] = key.column.table.name
    return found


def facts(row: Base | None, *leave: str) -> dict[str, object]:
    """What a row says, without identifiers and references, so that it can be compared with one elsewhere."""
    if row is None:
        return {}
    kept = set(columns(type(row))) - set(references(type(row))) - {"id", *leave}
    return {name: _comparable(getattr(row, name)) for name in sorted(kept)}


def differ(ours: Base | None, theirs: Base | None, *leave: str) -> bool:
    """Whether two versions of a row contradict each other. What only one of them says is no contradiction."""
    mine, other = facts(ours, *leave), facts(theirs, *leave)
    said = [(mine[name], other[name]) for name in mine.keys() & other.keys()]
    return any(a is not None and b is not None and a != b for a, b in said)


def agree(ours: Trial, theirs: Trial) -> bool:
    """Whether two versions of a trial contradict each other nowhere. Either may say more: who proposed it, a prediction
    of a measured trial, the kernel of one that gave no time.
    """
    pairs = (ours.measurement, theirs.measurement), (ours.prediction, theirs.prediction)
    return not differ(ours, theirs, "number") and not any(differ(*pair) for pair in pairs)


def fill(ours: Base, theirs: Base, *leave: str) -> None:
    """Take from the other version of a row what this one leaves open; identifiers and references stay."""
    for name in facts(ours, *leave):
        if getattr(ours, name) is None:
            setattr(ours, name, getattr(theirs, name))


def batched(values: Iterable[Value]) -> Iterator[list[Value]]:
    """The values a thousand at a time: databases bound how many a statement names."""
    listed = list(values)
    for start in range(0, len(listed), _A_STATEMENT):
        yield listed[start : start + _A_STATEMENT]


def columns(model: type[Base]) -> dict[str, Column[Any]]:
    """The columns of a table by the names of their attributes."""
    return {attribute.key: cast(Column[Any], attribute.columns[0]) for attribute in inspect(model).column_attrs}


def _counted(model: type[Base]) -> str | None:
    """The identifier that the database counts; UUIDs and identifiers that are references are kept."""
    return "id" if "id" in columns(model) and columns(model)["id"].type.python_type is int else None


def _comparable(value: object) -> object:
    # Files of JSON leave infinite errors out.
    return None if isinstance(value, float) and not math.isfinite(value) else value
