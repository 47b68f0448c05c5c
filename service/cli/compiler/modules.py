"""Modules on the command line: their text, and how their work is distributed."""

from pathlib import Path
from typing import Annotated

import typer

from codegen import CompileFailed, Distribution, Distributor

Way = Annotated[
    Distributor | None,
    typer.Option(
        "--distribution", help="Who deals the work out to lanes (default: mlir, where it has no known fault)."
    ),
]


def read_source(file: Path) -> str:
    """The text of a file.

    Raises:
        CompileFailed: stage source; it is not text.
    """
    try:
        return file.read_text()
    except UnicodeDecodeError as error:
        raise CompileFailed("source", f"expected text in {file}: {error}") from error


def described(distribution: Distribution) -> str:
    """Who distributed the work, and why not MLIR."""
    because = f" ({', '.join(distribution.because)})" if distribution.because else ""
    return f"by {distribution.by.value}{because}"
