"""Small object files with functions of given names."""

import struct
from collections.abc import Sequence


def object_file(functions: Sequence[str], code: bytes = b"\xc3") -> bytes:
    """A 64-bit ELF object for x86-64 whose functions all begin with the first byte of `code`."""
    strings = b"\0" + b"".join(name.encode() + b"\0" for name in functions)
    places = [1 + sum(len(name) + 1 for name in functions[:place]) for place in range(len(functions))]
    symbols = bytes(24) + b"".join(struct.pack("<IBBHQQ", at, 0x12, 0, 1, 0, len(code)) for at in places)
    contents = [(0, 0, b""), (1, 0, code), (2, 3, symbols), (3, 0, strings)]
    body, headers = b"", b""
    for kind, link, content in contents:
        entry = 24 if kind == 2 else 0
        headers += struct.pack("<IIQQQQIIQQ", 0, kind, 0, 0, 64 + len(body), len(content), link, 1, 1, entry)
        body += content
    ident = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    start = 64 + len(body)
    header = ident + struct.pack("<HHIQQQIHHHHHH", 1, 62, 1, 0, 0, start, 0, 64, 0, 0, 64, len(contents), 3)
    return header + body + headers
