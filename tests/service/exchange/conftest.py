"""Two databases of which one is merged into the other."""

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.service.exchange.places import Place


@pytest.fixture
def here(tmp_path: Path, migrated_file: Path) -> Generator[Place]:
    """The database that is merged into."""
    place = Place(tmp_path / "here", migrated_file)
    yield place
    place.database.close()


@pytest.fixture
def there(tmp_path: Path, migrated_file: Path) -> Generator[Place]:
    """The other database."""
    place = Place(tmp_path / "there", migrated_file)
    yield place
    place.database.close()
