"""Formats of result files, and their detection."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from tuner.errors import InvalidFile
from tuner.exchange import kernel_tuner, t1, t4
from tuner.exchange.documents import MAX_BYTES, Document, parse, read_text
from tuner.exchange.file_format import Format
from tuner.exchange.results import Results

if TYPE_CHECKING:
    from tuner.replay.recorded import RecordedSpace


@dataclass(frozen=True, slots=True)
class FormatRow:
    """A format: the keys of an object that tell it, and its readers and writer.

    JSON lines have none of these: they are read and written line by line, by `tuner.exchange.jsonl`.
    """

    marks: tuple[str, ...] = ()
    read_results: Callable[[Document], Results] | None = None
    read_space: Callable[[Document], t1.Specification] | None = None
    write: Callable[[Results, t1.Launch | None], dict[str, object]] | None = None


FORMATS: Mapping[Format, FormatRow] = {
    Format.JSONL: FormatRow(),
    Format.KERNEL_TUNER: FormatRow(
        marks=("cache", "tune_params_keys"),
        read_results=kernel_tuner.results_of,
        write=lambda results, _: kernel_tuner.to_cache(results),
    ),
    Format.T4: FormatRow(marks=("results",), read_results=t4.results_of, write=lambda results, _: t4.to_t4(results)),
    Format.T1: FormatRow(marks=("ConfigurationSpace",), read_space=t1.specification_of, write=t1.to_t1),
}
_LONGEST_HEADER = 2**16
_CUT = "its end was missing: what was not written whole is left out"
T = TypeVar("T")


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
    found = said or next((of for of, row in FORMATS.items() if any(mark in document.value for mark in row.marks)), None)
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
    found = _read(file, FORMATS[file.format].read_results, "results, a cache of Kernel Tuner or a T4 file")
    return replace(found, notes=(_CUT,)) if file.document is not None and file.document.was_cut else found


def specification_of(file: File) -> t1.Specification:
    """Return the space of a T1 file.

    Raises:
        InvalidFile: it is in another format, or does not follow its format.
    """
    return _read(file, FORMATS[file.format].read_space, "a T1 specification")


def _read(file: File, reader: Callable[[Document], T] | None, expected: str) -> T:
    if file.document is None or reader is None:
        raise InvalidFile(f"{file.name}: expected {expected}; got {file.format.value}")
    try:
        return reader(file.document)
    except ValueError as error:
        raise InvalidFile(f"{file.name}: {error}") from error


def read_recorded(path: Path, on_note: Callable[[str], None] = lambda _: None) -> "RecordedSpace":
    """Read a cache of Kernel Tuner or a T4 file, of any kernel, as a space to search; notes report what is left out.

    Raises:
        InvalidFile: it is neither, does not follow its format, or holds nothing to search.
        OSError: it cannot be read.
    """
    try:
        results = results_of(open_file(path))
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
