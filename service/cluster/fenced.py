"""Database that a coordinator can write only while it holds the lease."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy.orm import Session

from db.queries.cluster import coordinators
from db.queries.cluster.coordinators import Fence
from db.session import Database


@dataclass(frozen=True, slots=True)
class FencedDatabase(Database):
    """A database whose writes check the fence in their own transaction, which blocks a new holder meanwhile.

    The statements of `write_rows` check it themselves, as those of `db.queries.cluster.own_job`.

    Raises:
        FenceLost: another coordinator has the lease; from `write`.
    """

    fence: Fence

    @property
    def guard(self) -> Fence:
        """The fence."""
        return self.fence

    @contextmanager
    def write(self) -> Generator[Session]:
        """Open a session that commits at the end, if the fence holds at its begin."""
        with Database.write(self) as session:
            coordinators.check(session, self.fence)
            yield session
