"""The simulated seams, in place for each test of this folder."""

from collections.abc import Generator

import pytest

from tests.world.world import simulated


@pytest.fixture(autouse=True)
def _simulated(monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    with simulated(monkeypatch):
        yield
