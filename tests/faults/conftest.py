"""Fixtures of this folder."""

from collections.abc import Generator

import pytest

from db.session import Database
from tests.db.databases import SQLITE_FIRST, opened
from tests.faults.jobs import place

__all__ = ["place"]


@pytest.fixture(params=SQLITE_FIRST)
def database(request: pytest.FixtureRequest) -> Generator[Database]:
    """A migrated, empty database."""
    yield from opened(request)
