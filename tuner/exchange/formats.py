"""Formats of result files, and their detection."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from tuner.errors import InvalidFile
from tuner.exchange import kernel_tuner, t1, t4
from tuner.exchange.documents import MAX_BYTES, Document, parse, read_text
from tuner.exchange.results import Results
from tuner.replay.recorded import RecordedSpace


class Format(StrEnum):
    """A format of result files."""

    JSONL = "jsonl"
    KERNEL_TUNER = "kernel-tuner"
    T1 = "t1"
    T4 = "t4"


_LONGEST_HEADER = 2**16
_MARKS = {
    "cache": Format.KERNEL_TUNER,
    "tune_params_keys": Format.KERNEL_TUNER,
    "results": Format.T4,
    "ConfigurationSpace": Format.T1,
}


@dataclass(frozen=True, slots=True)
class File:
    """A file that was read, and its format. `document` is None for JSON lines, which are read line by line."""

    name: str
    format: Format
    document: Document | None


def open_file(path: Path, said: Format | None = None, most_bytes: int = MAX_BYTES) -> File:
    """Read a file; its format is `said`, or detected from the content. `most_bytes` limits the decompressed size.

    Raises:
        InvalidFile: it is in none of the formats.
        OSError: it cannot be read.
    """
    if said is Format.JSONL or (said is None and _is_lines(path)):
        return File(path.name, Format.JSONL, None)
    document = parse(path.name, read_text(path, most_bytes))
    found = said or next((of for mark, of in _MARKS.items() if mark in document.value), None)
    if found is None:
        names = ", ".join(format.value for format in Format)
        raise InvalidFile(
            f"{path.name}: expected one of the formats {names}, got an object of "
            f"{', '.join(list(document.value)[:8]) or 'nothing'}"
        )
    return File(path.name, found, document)


def results_of(file: File) -> Results:
    """Return the results of a Kernel Tuner cache or a T4 file.

    Raises:
        InvalidFile: it is in another format, or does not follow its format.
    """
    if file.document is not None and file.format is Format.KERNEL_TUNER:
        return kernel_tuner.results_of(file.name, file.document)
    if file.document is not None and file.format is Format.T4:
        return t4.results_of(file.name, file.document)
    raise InvalidFile(f"{file.name}: expected results, a cache of Kernel Tuner or a T4 file; got {file.format.value}")


def specification_of(file: File) -> t1.Specification:
    """Return the space of a T1 file.

    Raises:
        InvalidFile: it is in another format, or does not follow its format.
    """
    if file.document is None or file.format is not Format.T1:
        raise InvalidFile(f"{file.name}: expected a T1 specification, got {file.format.value}")
    return t1.specification_of(file.name, file.document)


def read_recorded(
    path: Path, said: Format | None = None, on_note: Callable[[str], None] = lambda _: None
) -> RecordedSpace:
    """Read a cache of Kernel Tuner or a T4 file, of any kernel, as a space to search; notes report what is left out.

    Raises:
        InvalidFile: it is neither, does not follow its format, or holds nothing to search.
        OSError: it cannot be read.
    """
    try:
        results = results_of(open_file(path, said))
        for note in results.notes:
            on_note(f"{path.name}: {note}")
        return results.space(path.name)
    except ValueError as error:
        raise InvalidFile(str(error)) from error


def _is_lines(path: Path) -> bool:
    """Return True if the first line is a record, or the file is empty, which the line reader then rejects."""
    with path.open("rb") as file:
        first = file.readline(_LONGEST_HEADER)
    return not first.strip() or re.search(rb'"record"\s*:', first) is not None
