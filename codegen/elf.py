"""Symbols of a compiled binary, from its symbol tables."""

import struct
from collections.abc import Iterator

_MAGIC = b"\x7fELF\x02\x01"  # 64-bit, little-endian
_SYMBOL_TABLE = 2  # SHT_SYMTAB. Source: System V ABI, "Sections"
_FUNCTION = 2  # STT_FUNC, in the lower 4 bits of st_info
_GIVEN = "__INTEL"  # defined by the loader: addresses of its own tables


def undefined_symbols(elf: bytes) -> tuple[str, ...]:
    """Return the undefined symbols, sorted.

    Raises:
        ValueError: not an ELF file, or one that is cut short.
    """
    undefined = {name for name, section, _ in _symbols(elf) if section == 0}
    return tuple(sorted(name for name in undefined if not name.startswith(_GIVEN)))


def defined_functions(elf: bytes) -> frozenset[str]:
    """Return the names of the functions that a binary has.

    Raises:
        ValueError: not an ELF file, or one that is cut short.
    """
    return frozenset(name for name, section, kind in _symbols(elf) if section != 0 and kind == _FUNCTION)


def _symbols(elf: bytes) -> list[tuple[str, int, int]]:
    """Return the name, section (0 if undefined) and type of each symbol."""
    if not elf.startswith(_MAGIC):
        raise ValueError(f"expected a 64-bit ELF file, got {len(elf)} bytes that begin with {elf[:6]!r}")
    try:
        return list(_read(elf))
    except (struct.error, IndexError) as error:
        raise ValueError(f"the ELF file is cut short: {error}") from error


def _read(elf: bytes) -> Iterator[tuple[str, int, int]]:
    (sections,), (size, count) = struct.unpack_from("<Q", elf, 0x28), struct.unpack_from("<HH", elf, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", elf, sections + size * i) for i in range(count)]
    for _, kind, _, _, at, nbytes, strings, *_ in headers:
        if kind != _SYMBOL_TABLE:
            continue
        if at + nbytes > len(elf):
            raise IndexError(f"a symbol table ends at byte {at + nbytes} of {len(elf)}")
        for symbol in range(at, at + nbytes, 24):
            name, info, _, section = struct.unpack_from("<IBBH", elf, symbol)
            first = headers[strings][4] + name
            text = elf[first : elf.find(b"\0", first)].decode(errors="replace")
            if text:
                yield text, section, info & 15
