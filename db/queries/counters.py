"""Counts of what has no rows of its own."""

from collections.abc import Mapping

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from db.queries.insert import insert_missing
from db.schema import (
    Tallied,
    Tally,
)


def add(session: Session, numbers: Mapping[Tallied, int]) -> None:
    """Count so many more of each, in the order of their names, so that no two transactions wait for each other."""
    for name, number in sorted(numbers.items()):
        if number:
            insert_missing(session, Tally, {"name": name.value, "number": 0})
            session.execute(update(Tally).where(Tally.name == name.value).values(number=Tally.number + number))


def read(session: Session) -> dict[Tallied, int]:
    """How often each happened."""
    found = dict(session.execute(select(Tally.name, Tally.number)).all())
    return {name: found.get(name.value, 0) for name in Tallied}
