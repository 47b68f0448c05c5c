"""SPIR-V modules that declare something and contain no code."""

import struct
from collections.abc import Iterator, Sequence

_CAPABILITY, _EXTENSION, _DECORATE, _LINKAGE = 17, 10, 71, 41
_ENTRY_POINT, _KERNEL = 15, 6
_MAGIC, _VERSION = 0x07230203, 0x00010400


def spirv_module(
    *,
    capabilities: Sequence[int] = (6,),
    extensions: Sequence[str] = (),
    imports: Sequence[str] = (),
    exports: Sequence[str] = (),
    kernels: Sequence[str] = (),
) -> bytes:
    """Return a module in SPIR-V 1.4."""
    words = [_MAGIC, _VERSION, 0, 1 + len(imports) + len(exports), 0]
    for number in capabilities:
        words += _instruction(_CAPABILITY, number)
    for name in extensions:
        words += _instruction(_EXTENSION, *_string(name))
    for name in kernels:
        words += _instruction(_ENTRY_POINT, _KERNEL, 1, *_string(name))
    for id_, name in enumerate((*imports, *exports), start=1):
        words += _instruction(_DECORATE, id_, _LINKAGE, *_string(name), 1 if id_ <= len(imports) else 0)
    return struct.pack(f"<{len(words)}I", *words)


def _instruction(opcode: int, *operands: int) -> tuple[int, ...]:
    return (len(operands) + 1) << 16 | opcode, *operands


def _string(text: str) -> Iterator[int]:
    raw = text.encode() + bytes(4 - len(text) % 4)
    return (word for (word,) in struct.iter_unpack("<I", raw))
