"""The 2-D block messages for sub-groups of 16, and the lane that holds each element.

Source: OpenCL extension cl_intel_subgroup_2d_block_io 1.1.0 for the functions; Intel's graphics compiler for
those of 64 bits.

Source: OpenCL extension cl_intel_subgroup_2d_block_io 1.1.0, the functions; Intel's graphics compiler, that of 64 bits.
"""

from dataclasses import dataclass
from enum import StrEnum

from codegen.xe.layout.dpas import (
    COLUMN,
    ROW,
)
from codegen.xe.layout.linear import LinearLayout

LANES = 16
WORD = 32
_ROWS = (1, 2, 4, 8, 16, 32)


class Transfer(StrEnum):
    """Kind of a message: read, read and pack rows into words (VNNI), read and transpose, write, or prefetch.

    Values are parts of names.
    """

    PLAIN = "read"
    PACKED = "read_transform"
    TRANSPOSED = "read_transpose"
    WRITTEN = "write"
    PREFETCHED = "prefetch"


@dataclass(frozen=True, slots=True)
class BlockMessage:
    """One 2-D block message: `array_length` adjacent blocks of rows x width elements of `bits`."""

    transfer: Transfer
    bits: int
    rows: int
    width: int
    array_length: int

    @property
    def name(self) -> str:
        """Name of the built-in function."""
        shape = f"{self.bits}b_{self.rows}r{self.width}x{self.array_length}c"
        return f"intel_sub_group_2d_block_{self.transfer.value}_{shape}"

    @property
    def row_bytes(self) -> int:
        """Bytes of a row of all blocks."""
        return self.width * self.array_length * self.bits // 8

    @property
    def slot_elements(self) -> int:
        """Adjacent elements of the message in one element of its result, as XeVM types it."""
        if self.transfer is Transfer.PACKED:
            return WORD // self.bits
        return 1 if self.transfer is Transfer.TRANSPOSED else max(1, self.width // LANES)

    def lane_layout(self) -> LinearLayout:
        """Return register, lane -> (row, column); registers count elements of the message.

        Blocks follow each other. A block is stored in registers row by row, or column by column if it is
        transposed; elements of one slot are adjacent.
        """
        if self.transfer is Transfer.TRANSPOSED:
            lanes = min(LANES, self.rows)
            layout = LinearLayout.identity(lanes, "lane", ROW)
            layout *= LinearLayout.identity(LANES // lanes, "lane", COLUMN)
            layout *= LinearLayout.identity(self.rows // lanes, "register", ROW)
            layout *= LinearLayout.identity(self.width * lanes // LANES, "register", COLUMN)
            return layout.transpose_ins(("register", "lane"))
        packed, slot_dim = self.slot_elements, ROW if self.transfer is Transfer.PACKED else COLUMN
        layout = LinearLayout.identity(packed, "register", slot_dim)
        lanes = min(LANES, self.width)
        rows = self.rows // (packed if slot_dim == ROW else 1)
        layout *= LinearLayout.identity(lanes, "lane", COLUMN)
        together = min(rows, LANES // lanes)
        layout *= LinearLayout.identity(together, "lane", ROW)
        layout *= LinearLayout.zeros(LANES // lanes // together, "lane", ROW)
        layout *= LinearLayout.identity(rows // together, "register", ROW)
        layout *= LinearLayout.identity(self.array_length, "register", COLUMN)
        return layout.transpose_outs((ROW, COLUMN))


def _messages() -> tuple[BlockMessage, ...]:
    # (transfer, bits, width): rows, array lengths.
    shapes = {
        (Transfer.PLAIN, 8, 16): (_ROWS[3:], (4,)),
        (Transfer.PLAIN, 8, 32): (_ROWS, (1, 2)),
        (Transfer.PLAIN, 16, 16): (_ROWS, (1, 2)),
        (Transfer.PLAIN, 32, 8): (_ROWS, (1, 2)),
        (Transfer.PLAIN, 32, 16): (_ROWS, (1,)),
        (Transfer.PACKED, 8, 16): ((32,), (1, 2, 4)),
        (Transfer.PACKED, 16, 16): ((16, 32), (1, 2)),
        (Transfer.TRANSPOSED, 32, 8): ((16, 32), (1,)),
        (Transfer.TRANSPOSED, 64, 4): ((8,), (1,)),
        (Transfer.WRITTEN, 8, 16): (_ROWS[:4], (1,)),
        (Transfer.WRITTEN, 8, 32): (_ROWS[:4], (1,)),
        (Transfer.WRITTEN, 16, 16): (_ROWS[:4], (1,)),
        (Transfer.WRITTEN, 32, 16): (_ROWS[:4], (1,)),
        (Transfer.PREFETCHED, 8, 16): (_ROWS[3:], (1, 2, 4)),
        (Transfer.PREFETCHED, 8, 32): (_ROWS, (1, 2)),
        (Transfer.PREFETCHED, 16, 16): (_ROWS, (1, 2)),
        (Transfer.PREFETCHED, 32, 8): (_ROWS, (1, 2)),
        (Transfer.PREFETCHED, 32, 16): (_ROWS, (1,)),
        (Transfer.PREFETCHED, 64, 8): (_ROWS[3:], (1,)),
    }
    return tuple(
        BlockMessage(transfer, bits, rows, width, length)
        for (transfer, bits, width), (heights, lengths) in shapes.items()
        for rows in heights
        for length in lengths
    )


MESSAGES = _messages()
"""Every 2-D block message that compilers for these devices support."""
