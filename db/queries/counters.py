"""Counters of events that have no rows."""

from collections.abc import Mapping

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from db.queries.insert import insert_missing
from db.schema import (
    Tallied,
    Tally,
)


def add(session: Session, numbers: Mapping[Tallied, int]) -> None:
    """Increase counters, in the order of their names, so that two transactions cannot deadlock."""
    for name, number in sorted(numbers.items()):
        if number:
            insert_missing(session, Tally, {"name": name.value, "number": 0})
            session.execute(update(Tally).where(Tally.name == name.value).values(number=Tally.number + number))


def read(session: Session) -> dict[Tallied, int]:
    """Return the count of each event."""
    found = dict(session.execute(select(Tally.name, Tally.number)).all())
    return {name: found.get(name.value, 0) for name in Tallied}
