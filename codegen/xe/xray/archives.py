"""Members of ar archives, in which Intel's compiler puts the binaries of many GPUs."""

from collections.abc import Iterator

from codegen.xe.xray.refusal import XrayRefused

_MAGIC, _HEADER_BYTES, _END = b"!<arch>\n", 60, b"`\n"


def ar_members(where: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield names and contents. Source: System V ABI, "Archive file".

    Raises:
        XrayRefused: a header is not one, or the file is cut short.
    """
    at, names = len(_MAGIC), b""
    while at < len(data):
        header = data[at : at + _HEADER_BYTES]
        digits = header[48:58].strip()
        if len(header) < _HEADER_BYTES or header[58:60] != _END or not digits.isdigit():
            raise XrayRefused(where, f"expected the header of a member at {at:#x} of the ar archive")
        start, size = at + _HEADER_BYTES, int(digits)
        if start + size > len(data):
            raise XrayRefused(where, f"the ar archive is cut short: a member ends at {start + size:,} of {len(data):,}")
        name, content = header[:16].rstrip(), data[start : start + size]
        if name == b"//":
            names = content
        elif name.startswith(b"/") and name[1:].isdigit():
            yield names[int(name[1:]) :].partition(b"\n")[0].rstrip(b"/").decode(errors="replace"), content
        elif name not in (b"/", b"/SYM64/"):
            yield name.rstrip(b"/").decode(errors="replace"), content
        at = start + size + size % 2
