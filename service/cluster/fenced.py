"""A database in which a coordinator can change something only as long as it is the one who gives out work."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy.orm import Session

from db.queries import coordinators
from db.queries.coordinators import Fence
from db.session import Database


@dataclass(frozen=True, slots=True)
class FencedDatabase(Database):
    """As the database; each write checks the fence in its own transaction, which then keeps a new holder waiting.

    Raises:
        FenceLost: another gives out work now; from `write`.
    """

    fence: Fence

    @contextmanager
    def write(self) -> Generator[Session]:
        """A session that commits at the end, if the fence holds at its begin."""
        with Database.write(self) as session:
            coordinators.check(session, self.fence)
            yield session
