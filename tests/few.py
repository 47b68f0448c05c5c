"""Parameters of which the fast tests take a part."""

from collections.abc import Iterable

import pytest


def few(cases: Iterable[object], every: int) -> list[object]:
    """Return parameters of which each `every`-th is for the fast suite and the others are slow."""
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=() if i % every == 0 else pytest.mark.slow)
        for i, case in enumerate(cases)
    ]
