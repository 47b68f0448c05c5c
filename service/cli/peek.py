"""Reads a database that may not be there, for commands that do without it."""

from collections.abc import Callable
from typing import TypeVar

from sqlalchemy.orm import Session

from db.errors import DatabaseError
from db.migrate import prepare
from db.session import open_database, sqlite_path
from service.cli.output import ERRORS
from service.settings import read_settings

Answer = TypeVar("Answer")


def peek(ask: Callable[[Session], Answer], otherwise: Answer, unknown: str) -> Answer:
    """What the database tells; `otherwise` without one, which is not made for this, or where it does not answer.

    Then it is said that `unknown` is not known.
    """
    url = read_settings().database_url
    try:
        path = sqlite_path(open_database(url).engine)
        if path is not None and not path.exists():
            return otherwise
        database = prepare(url, create=False)
        try:
            with database.read() as session:
                return ask(session)
        finally:
            database.close()
    except DatabaseError as error:
        ERRORS.print(f"{unknown} is not known: {error}", highlight=False, soft_wrap=True)
        return otherwise
