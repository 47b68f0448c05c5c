"""Undefined functions of a compiled binary, from its symbol tables."""

import struct
from collections.abc import Iterator

_MAGIC = b"\x7fELF\x02\x01"  # 64-bit, little-endian
_SYMBOL_TABLE = 2  # SHT_SYMTAB. Source: System V ABI, "Sections"
_GIVEN = "__INTEL"  # defined by the loader: addresses of its own tables


def undefined_symbols(elf: bytes) -> tuple[str, ...]:
    """Return the undefined symbols, sorted.

    Raises:
        ValueError: not an ELF file, or one that is cut short.
    """
    if not elf.startswith(_MAGIC):
        raise ValueError(f"expected a 64-bit ELF file, got {len(elf)} bytes that begin with {elf[:6]!r}")
    try:
        return tuple(sorted(set(_undefined(elf))))
    except struct.error as error:
        raise ValueError(f"the ELF file is cut short: {error}") from error


def _undefined(elf: bytes) -> Iterator[str]:
    (sections,), (size, count) = struct.unpack_from("<Q", elf, 0x28), struct.unpack_from("<HH", elf, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", elf, sections + size * i) for i in range(count)]
    for _, kind, _, _, at, nbytes, strings, *_ in headers:
        if kind != _SYMBOL_TABLE:
            continue
        for symbol in range(at, at + nbytes, 24):
            name, _, _, section = struct.unpack_from("<IBBH", elf, symbol)
            text = elf[headers[strings][4] + name :].partition(b"\0")[0].decode(errors="replace")
            if section == 0 and text and not text.startswith(_GIVEN):
                yield text
