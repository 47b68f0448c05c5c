"""Frames of zstd in a library, with the optional package zstandard."""

from functools import cache
from importlib.util import find_spec

_RESERVED, _LEAST_BYTES = 0x08, 12
_WINDOW_BYTES = 128 << 20


@cache
def is_installed() -> bool:
    """Return whether frames can be unpacked."""
    return find_spec("zstandard") is not None


def zstd_frame(data: bytes, at: int, most: int) -> bytes | None:
    """Return the content of the frame that begins at `at`; None if none does, or it has more than `most` bytes.

    Without the package, the content of what has the header of a frame is empty.
    Source: RFC 8878, 3.1.1.
    """
    if at + _LEAST_BYTES > len(data) or data[at + 4] & _RESERVED:
        return None
    if not is_installed():
        return b""
    import zstandard

    unpacker = zstandard.ZstdDecompressor(max_window_size=_WINDOW_BYTES)
    try:
        with unpacker.stream_reader(memoryview(data)[at:]) as reader:
            content = reader.read(most + 1)
    except zstandard.ZstdError:
        return None
    return content if len(content) <= most else None
