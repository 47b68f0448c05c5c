"""Short names of kernels in a binary: the disassembler names files after them, and names of templates are too long."""

import struct

_TEXT = b".text."


def with_short_names(zebin: bytes) -> tuple[bytes, dict[str, str]]:
    """Return a whole binary whose sections of instructions have short names, and the names that these stand for."""
    (sections,) = struct.unpack_from("<Q", zebin, 0x28)
    size, count, table = struct.unpack_from("<HHH", zebin, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", zebin, sections + size * number) for number in range(count)]
    strings, changed, names = headers[table][4], bytearray(zebin), dict[str, str]()
    for number, (name, *_) in enumerate(headers):
        begin = strings + name
        old, new = zebin[begin : zebin.index(b"\0", begin)], _TEXT + b"k%d" % number
        if old.startswith(_TEXT) and len(new) < len(old):
            changed[begin : begin + len(new) + 1] = new + b"\0"
            names[new.removeprefix(_TEXT).decode()] = old.removeprefix(_TEXT).decode(errors="replace")
    return bytes(changed), names
