"""Text of modules on the command line."""

from pathlib import Path

from codegen import CompileFailed


def read_source(file: Path) -> str:
    """Read a text file.

    Raises:
        CompileFailed: stage source; it is not text.
    """
    try:
        return file.read_text()
    except UnicodeDecodeError as error:
        raise CompileFailed("source", f"expected text in {file}: {error}") from error
