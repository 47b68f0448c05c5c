"""Setups of AMX's tile registers: constants of the module, as the instruction that loads them expects.

Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, chapter 18.
"""

from collections.abc import Sequence

from codegen.cpu.emit.writer import Module
from codegen.cpu.nest.plan import LINE
from codegen.serialization import content_hash

ROWS = 16
"""Rows of a tile register, at most."""
REGISTERS = 8
ROW_BYTES = 64
_PALETTE = 1
_RESERVED_BYTES = 14
_CONFIGURED = 16  # registers that the memory of a setup has room for
_NAME_DIGITS = 8

Shapes = Sequence[tuple[int, int]]
"""Rows, and bytes of a row, of each register; those not listed are whole."""


def setup(module: Module, *shapes: Shapes) -> str:
    """Return a global with setups, 64 bytes each."""
    raw = b"".join(_setup(each) for each in shapes)
    text = "".join(f"\\{byte:02X}" for byte in raw)
    name = f"@tile_setup_{content_hash(text)[:_NAME_DIGITS]}"
    module.head(f'{name} = internal unnamed_addr constant [{len(raw)} x i8] c"{text}", align {LINE}')
    return name


def _setup(shapes: Shapes) -> bytes:
    all_shapes = [*shapes, *[(ROWS, ROW_BYTES)] * (REGISTERS - len(shapes))]
    unused = _CONFIGURED - REGISTERS
    widths = [nbytes for _, nbytes in all_shapes] + [0] * unused
    heights = [rows for rows, _ in all_shapes] + [0] * unused
    return (
        bytes([_PALETTE, 0, *[0] * _RESERVED_BYTES])
        + b"".join(w.to_bytes(2, "little") for w in widths)
        + bytes(heights)
    )
