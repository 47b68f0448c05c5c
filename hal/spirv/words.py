"""Instructions of a SPIR-V module. Source: SPIR-V specification, 2.3, "Physical Layout of a SPIR-V Module"."""

import struct
from collections.abc import Iterable, Iterator, Sequence

Instruction = tuple[int, tuple[int, ...]]
"""Opcode and operands, as words."""

_MAGIC = b"\x03\x02\x23\x07"
_HEADER_WORDS = 5
HEADER_BYTES = 4 * _HEADER_WORDS
_VERSION, _BOUND = 1, 3
_ENTRY_POINT, _NAME_AT = 15, 2  # OpEntryPoint, whose name is behind the execution model and the id


def version(spirv: bytes) -> str:
    """Return the version of SPIR-V that a module is written in: "1.4"."""
    packed = _words(spirv)[_VERSION]
    return f"{packed >> 16 & 0xFF}.{packed >> 8 & 0xFF}"


def bound(spirv: bytes) -> int:
    """Return the number that all ids are below."""
    return _words(spirv)[_BOUND]


def instructions(spirv: bytes) -> Iterator[Instruction]:
    """Yield the instructions in order.

    Raises:
        ValueError: the bytes are no module.
    """
    words, at = _words(spirv), _HEADER_WORDS
    end = len(words)
    while at < end:
        first = words[at]
        length = first >> 16
        if length == 0 or at + length > end:
            raise ValueError(f"an instruction at word {at} is {length} words long")
        yield first & 0xFFFF, words[at + 1 : at + length]
        at += length


def entry_points(spirv: bytes) -> frozenset[str]:
    """Return the names of the kernels of a module.

    Raises:
        ValueError: the bytes are no module.
    """
    points = (operands for opcode, operands in instructions(spirv) if opcode == _ENTRY_POINT)
    return frozenset(text_of(operands[_NAME_AT:]) for operands in points)


def header(spirv: bytes, ids: int) -> bytes:
    """Return the header of a module, for ids below `ids`."""
    words = list(_words(spirv[:HEADER_BYTES]))
    words[_BOUND] = ids
    return _packed(words)


def packed(new: Iterable[Instruction]) -> bytes:
    """Return instructions as they are in a module."""
    words: list[int] = []
    for opcode, operands in new:
        words.append((len(operands) + 1) << 16 | opcode)
        words += operands
    return _packed(words)


def text_of(operands: Iterable[int]) -> str:
    """Return the string that starts with the first of these words."""
    return _packed(tuple(operands)).partition(b"\0")[0].decode()


def _packed(words: Sequence[int]) -> bytes:
    return struct.pack(f"<{len(words)}I", *words)


def _words(spirv: bytes) -> tuple[int, ...]:
    if len(spirv) % 4 or len(spirv) < 4 * _HEADER_WORDS:
        raise ValueError(f"expected a SPIR-V module, got {len(spirv)} bytes")
    if not spirv.startswith(_MAGIC):
        raise ValueError(f"expected SPIR-V's magic number, got {spirv[:4]!r}")
    return struct.unpack(f"<{len(spirv) // 4}I", spirv)
