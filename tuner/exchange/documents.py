"""JSON documents of other programs: compressed or not, complete or truncated when the program was killed."""

import bz2
import gzip
import io
import json
import lzma
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TypeVar, cast

from codegen.serialization import (
    Malformed,
    decode,
)
from tuner.errors import InvalidFile

MAX_BYTES = 512 * 2**20


class SupportsRead(Protocol):
    """A stream of bytes."""

    def read(self, size: int = ..., /) -> bytes:
        """Return at most `size` bytes."""
        ...


_PACKED: dict[bytes, Callable[[BinaryIO], SupportsRead]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
}
_MOST_DIGITS = 300  # larger numbers would be infinite as a float
_CUTS = 4  # number of possible ends of an entry to try, the last first

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Document:
    """A JSON object, and whether its end was missing; incomplete entries are left out."""

    value: dict[str, object]
    was_cut: bool


def read_text(path: Path, most_bytes: int = MAX_BYTES) -> str:
    """Return the text of a file, decompressed if it is compressed by gzip, bzip2 or xz.

    Raises:
        InvalidFile: it is damaged, too large, or not UTF-8 text.
        OSError: it cannot be read.
    """
    packed = path.read_bytes()
    unpack = next((of for begin, of in _PACKED.items() if packed.startswith(begin)), _as_it_is)
    try:
        data = unpack(io.BytesIO(packed)).read(most_bytes + 1)
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise InvalidFile(f"{path.name}: its compression is damaged: {error}; fetch it again") from error
    if len(data) > most_bytes:
        raise InvalidFile(f"{path.name}: expected at most {most_bytes} bytes unpacked, got more")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidFile(f"{path.name}: expected UTF-8: {error.reason} at byte {error.start}") from error


def parse(name: str, text: str) -> Document:
    """Return the JSON object of a text; of a truncated one, the complete entries.

    Raises:
        InvalidFile: it is not a JSON object, nor the beginning of one.
    """
    first: json.JSONDecodeError | None = None
    for number, candidate in enumerate(_candidates(text)):
        try:
            value = json.loads(candidate, object_pairs_hook=strict_object, parse_int=strict_int)
        except json.JSONDecodeError as error:
            first = first or error
            continue
        except ValueError as error:
            raise InvalidFile(f"{name}: {error}") from error
        except RecursionError as error:
            raise InvalidFile(f"{name}: expected JSON of limited depth, got one that is nested too deeply") from error
        if not isinstance(value, dict):
            break
        try:
            check_texts(cast(object, value))
        except ValueError as error:
            raise InvalidFile(f"{name}: {error}") from error
        return Document(cast("dict[str, object]", value), was_cut=number > 0)
    why = "" if first is None else f": {first.msg} at line {first.lineno}, column {first.colno}"
    raise InvalidFile(
        f"{name}: expected one JSON object, got {text[:40]!r}{why}; tables are not read: name a cache or a T4 file"
    )


def strict_int(digits: str) -> int:
    """Parse an integer of JSON.

    Raises:
        ValueError: it has too many digits.
    """
    if len(digits) > _MOST_DIGITS:
        raise ValueError(f"expected numbers of at most {_MOST_DIGITS} digits, got {digits[:20]}... of {len(digits)}")
    return int(digits)


def strict_object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return the object of these keys and values; the standard library would keep the last of equal keys.

    Raises:
        ValueError: a key occurs twice.
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        most, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise ValueError(f"expected each key of an object once, got {most!r:.80} twice: keep one")
    return found


def known(kind: type[T], given: Mapping[str, object]) -> T:
    """Return a value from the fields that its type has; formats allow further fields.

    Raises:
        Malformed: a field that is missing, or of another type.
    """
    return decode(kind, {f.name: given[f.name] for f in fields(cast(Any, kind)) if f.name in given})


def check_texts(value: object) -> None:
    """Check that a database can store all texts of a JSON value: no NUL, no lone surrogates.

    Raises:
        ValueError: with the text.
    """
    if isinstance(value, str):
        if "\0" in value or any("\ud800" <= c <= "\udfff" for c in value):
            raise ValueError(f"expected text without NUL and lone surrogates, got {value[:40]!r}")
    elif isinstance(value, dict):
        for name, item in cast("dict[str, object]", value).items():
            check_texts(name)
            check_texts(item)
    elif isinstance(value, list):
        for item in cast("list[object]", value):
            check_texts(item)


def within(where: str, error: Malformed) -> Malformed:
    """Return the same fault, located in an enclosing value."""
    return Malformed(f"{where}.{error.field}" if error.field else where, error.message)


def _as_it_is(file: BinaryIO) -> BinaryIO:
    return file


def _candidates(text: str) -> Iterator[str]:
    """Yield the text; then the text with the missing brackets of a cache; then that without its incomplete
    last entry.
    """
    yield text
    yield text.rstrip() + "}"
    yield _closed(text)
    end = len(text)
    for _ in range(_CUTS):
        if (end := text.rfind("},", 0, end)) < 0:
            return
        yield _closed(text[: end + 1])


def _closed(text: str) -> str:
    return text.rstrip().removesuffix(",") + "}}"
