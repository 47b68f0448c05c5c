"""An empty database that tests import into."""

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.service.api.exchange.data_folders import Place


@pytest.fixture
def here(tmp_path: Path, migrated_file: Path) -> Generator[Place]:
    """An empty data folder."""
    place = Place(tmp_path / "here", migrated_file)
    yield place
    place.database.close()
