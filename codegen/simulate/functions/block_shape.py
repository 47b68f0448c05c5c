"""2-D block messages and their shapes.

Source: OpenCL extension cl_intel_subgroup_2d_block_io 1.1.0, the functions; Intel's graphics compiler, those beyond it.
"""

import re
from dataclasses import dataclass
from functools import cache

import numpy as np

from codegen.simulate.values import (
    LANES,
    Array,
)

_NAME = re.compile(
    r"intel_sub_group_2d_block_(?P<action>read|write|prefetch)(?:_(?P<layout>transform|transpose))?"
    r"_(?P<bits>\d+)b_(?P<rows>\d+)r(?P<columns>\d+)x(?P<count>\d+)c"
)
_ROWS = (1, 2, 4, 8, 16, 32)

# (action, layout, bits, columns) -> allowed rows, allowed block counts.
_SHAPES = {
    ("read", "", 8, 16): ((8, 16, 32), (4,)),
    ("read", "", 8, 32): (_ROWS, (1, 2)),
    ("read", "", 16, 16): (_ROWS, (1, 2)),
    ("read", "", 32, 8): (_ROWS, (1, 2)),
    ("read", "", 32, 16): (_ROWS, (1,)),
    ("read", "transform", 8, 16): ((32,), (1, 2, 4)),
    ("read", "transform", 16, 16): ((16, 32), (1, 2)),
    ("read", "transpose", 32, 8): ((16, 32), (1,)),
    ("write", "", 8, 16): (_ROWS[:4], (1,)),
    ("write", "", 8, 32): (_ROWS[:4], (1,)),
    ("write", "", 16, 16): (_ROWS[:4], (1,)),
    ("write", "", 32, 16): (_ROWS[:4], (1,)),
    ("prefetch", "", 8, 16): ((8, 16, 32), (1, 2, 4)),
    ("prefetch", "", 8, 32): (_ROWS, (1, 2)),
    ("prefetch", "", 16, 16): (_ROWS, (1, 2)),
    ("prefetch", "", 32, 8): (_ROWS, (1, 2)),
    ("prefetch", "", 32, 16): (_ROWS, (1,)),
    ("prefetch", "", 64, 8): ((8, 16, 32), (1,)),
}


@dataclass(frozen=True, slots=True)
class BlockShape:
    """The shape of one block message, in elements of `nbytes` bytes; `count` blocks side by side."""

    action: str
    layout: str
    nbytes: int
    rows: int
    columns: int
    count: int

    @property
    def bits(self) -> int:
        """Bits of an element."""
        return self.nbytes * 8

    @property
    def is_row_of_lanes(self) -> bool:
        """Return True if each register holds one row and lane l its column l."""
        return self.columns == LANES and self.layout != "transpose"

    @cache  # noqa: B019 - there are as many as there are built-ins
    def elements(self) -> tuple[Array, Array]:
        """Return row and column of each element of each work-item, [elements, lanes], in the order of its destination.

        A block lies in registers row after row, or column after column if it is transposed; each lane has as many
        elements of a register beside one another as make a row of 32 bytes one register. Elements after the last
        of a block have rows or columns outside of it.
        """
        adjacent = max(1, self.columns // LANES)
        length = self.rows if self.layout == "transpose" else self.columns
        registers = -(-self.rows * self.columns // (LANES * adjacent))
        register, lane, part = np.ogrid[:registers, :LANES, :adjacent]
        flat = ((register * LANES + lane) * adjacent + part).transpose(0, 2, 1).reshape(-1, LANES)
        major, minor = np.tile(flat // length, (self.count, 1)), np.tile(flat % length, (self.count, 1))
        block = np.repeat(np.arange(self.count), registers * adjacent)[:, None]
        if self.layout == "transpose":
            return minor, major
        return major, minor + block * self.columns


def block_shape(name: str) -> BlockShape | None:
    """Return the shape that a built-in's name encodes; None if it does not exist."""
    m = _NAME.fullmatch(name)
    if m is None:
        return None
    layout, bits, rows = m["layout"] or "", int(m["bits"]), int(m["rows"])
    columns, count = int(m["columns"]), int(m["count"])
    allowed_rows, allowed_counts = _SHAPES.get((m["action"], layout, bits, columns), ((), ()))
    if rows not in allowed_rows or count not in allowed_counts:
        return None
    return BlockShape(m["action"], layout, bits // 8, rows, columns, count)
