"""Byte ranges of a representation. Source: RFC 9110, section 14."""

import re
import secrets
from dataclasses import dataclass

_MOST_PARTS = 16  # more would let a response exceed the size of the file
_SPECIFIER = re.compile(r"(\d{0,1000})-(\d{0,1000})", re.ASCII)  # Python does not parse longer ones


@dataclass(frozen=True, slots=True)
class Part:
    """Bytes `first` to `last`, both included."""

    first: int
    last: int

    def content_range(self, size: int) -> str:
        """Return the Content-Range header of a part of `size` bytes."""
        return f"bytes {self.first}-{self.last}/{size}"


def parts_of(header: str, size: int) -> list[Part] | None:
    """Return the requested parts, empty if no byte is in them; None for a header that a server may ignore.

    Ignored are other units, malformed headers, and several parts that are many or together larger than the
    whole.
    """
    unit, _, wanted = header.partition("=")
    if unit.strip().lower() != "bytes":
        return None
    specifiers = [_SPECIFIER.fullmatch(each.strip()) for each in wanted.split(",") if each.strip()]
    found: list[Part] = []
    for spelled in specifiers:
        if spelled is None or spelled[1] == spelled[2] == "":
            return None
        if spelled[1] and spelled[2] and int(spelled[2]) < int(spelled[1]):
            return None
        if (part := _part(spelled[1], spelled[2], size)) is not None:
            found.append(part)
    is_more = sum(part.last - part.first + 1 for part in found) > size
    return None if not specifiers or len(specifiers) > _MOST_PARTS or is_more else found


def multipart(data: bytes, parts: list[Part], media_type: str) -> tuple[bytes, str]:
    """Return several parts as one body, and its media type."""
    boundary = secrets.token_hex(16)
    pieces: list[bytes] = []
    for part in parts:
        head = f"\r\n--{boundary}\r\nContent-Type: {media_type}\r\nContent-Range: {part.content_range(len(data))}\r\n"
        pieces += [head.encode(), b"\r\n", data[part.first : part.last + 1]]
    pieces.append(f"\r\n--{boundary}--\r\n".encode())
    return b"".join(pieces), f"multipart/byteranges; boundary={boundary}"


def _part(first: str, last: str, size: int) -> Part | None:
    if not first:
        begin, end = max(size - int(last), 0), size - 1
    else:
        begin, end = int(first), min(int(last or size), size - 1)
    return Part(begin, end) if begin <= end else None
