"""Stores that compile defaults; without torch test_installed.py says so, and only what needs none is collected."""

from collections.abc import Generator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.xetune_torch.compiling import CompilingStore

collect_ignore: list[str] = []
if find_spec("torch") is None:
    without = ("test_installed.py", "test_repeats.py")
    collect_ignore += [path.name for path in Path(__file__).parent.glob("test_*.py") if path.name not in without]


@pytest.fixture
def store() -> "Generator[CompilingStore]":
    """The store in use: it compiles the default of each product, which is used whatever its time."""
    import xetune_torch
    from tests.xetune_torch.compiling import CompilingStore

    made = CompilingStore()
    with xetune_torch.using(made, "always"):
        yield made


@pytest.fixture(autouse=True)
def seeded() -> None:
    """Draw the same numbers in every test."""
    if find_spec("torch") is not None:
        import torch

        torch.manual_seed(0)
