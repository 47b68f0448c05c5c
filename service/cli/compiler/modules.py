"""Text of modules on the command line."""

import sys
from pathlib import Path

from codegen import CompileFailed

_STAGE = "source"


def read_source(file: Path) -> str:
    """Read a text file in UTF-8.

    Raises:
        CompileFailed: stage source; it cannot be read, is empty, or is not text.
    """
    try:
        data = file.read_bytes()
    except OSError as error:
        raise CompileFailed(_STAGE, f"{file}: {error.strerror}") from error
    return _text_of(str(file), data)


def read_stdin() -> str:
    """Read text in UTF-8 from standard input.

    Raises:
        CompileFailed: stage source; it is empty, or is not text.
    """
    return _text_of("<stdin>", sys.stdin.buffer.read())


def _text_of(name: str, data: bytes) -> str:
    if not data:
        raise CompileFailed(_STAGE, f"{name}:1:1: expected a module, got an empty file")
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        message = f"{name}: expected text in UTF-8: {error.reason} at byte {error.start}"
        raise CompileFailed(_STAGE, message) from error
