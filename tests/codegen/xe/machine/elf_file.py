"""Small ELF files with sections of given contents."""

import struct
from collections.abc import Mapping


def elf_file(sections: Mapping[str, bytes]) -> bytes:
    """A 64-bit ELF file with these sections and a table of their names."""
    names, at = b"\0", 64
    body, headers = b"", [(0, 0, 0, 0, 0, 0)]
    for name, content in (*sections.items(), (".shstrtab", b"")):
        if name == ".shstrtab":
            content = names + name.encode() + b"\0"
        headers.append((len(names), 1, 0, 0, at, len(content)))
        names += name.encode() + b"\0"
        body, at = body + content, at + len(content)
    table = b"".join(struct.pack("<IIQQQQIIQQ", *header, 0, 0, 1, 0) for header in headers)
    ident = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    count = len(headers)
    return ident + struct.pack("<HHIQQQIHHHHHH", 1, 205, 1, 0, 0, at, 0, 64, 0, 0, 64, count, count - 1) + body + table
