"""Reads a database that may not be there, for commands that do without it."""

from collections.abc import Callable
from typing import TypeVar

from sqlalchemy.orm import Session

from db.errors import DatabaseError
from service.cli.backend.stored import stored_before
from service.cli.printing.output import ERRORS

Answer = TypeVar("Answer")


def peek(ask: Callable[[Session], Answer], otherwise: Answer, unknown: str) -> Answer:
    """What the database tells; `otherwise` without one, which is not made for this, or where it does not answer.

    Then it is said that `unknown` is not known.
    """
    try:
        with stored_before() as store:
            if store is None:
                return otherwise
            with store.database.read() as session:
                return ask(session)
    except DatabaseError as error:
        ERRORS.print(f"{unknown} is not known: {error}", highlight=False, soft_wrap=True)
        return otherwise
