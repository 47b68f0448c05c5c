"""Output of tables and errors."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Times = NDArray[np.float64]


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table in Markdown."""
    print(f"\n#### {title}\n\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for row in rows:
        print(f"| {' | '.join(f'{cell:.3g}' if isinstance(cell, float) else str(cell) for cell in row)} |", flush=True)


def percent(errors: Times, quantile: float) -> str:
    """Return a quantile of errors, which are logarithms, as a percentage."""
    return f"{np.expm1(np.quantile(errors, quantile)):.0%}"


def spearman(a: Times, b: Times) -> str:
    """Return the rank correlation of two columns."""
    first, second = (np.argsort(np.argsort(x)) for x in (a, b))
    return f"{np.corrcoef(first, second)[0, 1]:.3f}"
