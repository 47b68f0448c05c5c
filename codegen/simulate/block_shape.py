"""Which 2-D block messages there are, and their shapes.

Source: OpenCL extension cl_intel_subgroup_2d_block_io 1.1.0, the table of block dimensions.
"""

import re
from dataclasses import dataclass

import numpy as np

from codegen.simulate.values import Array

_NAME = re.compile(
    r"intel_sub_group_2d_block_(?P<action>read|write|prefetch)(?:_(?P<layout>transform|transpose))?"
    r"_(?P<bits>\d+)b_(?P<rows>\d+)r(?P<columns>\d+)x(?P<count>\d+)c"
)
_ROWS = (1, 2, 4, 8, 16, 32)

# (action, layout, bits, columns) -> allowed rows, allowed block counts.
_SHAPES = {
    ("read", "", 16, 16): (_ROWS, (1, 2)),
    ("read", "", 32, 16): (_ROWS, (1,)),
    ("read", "transform", 8, 16): ((32,), (1, 2, 4)),
    ("read", "transform", 16, 16): ((16, 32), (1, 2)),
    ("read", "transpose", 32, 8): ((16,), (1,)),
    ("write", "", 16, 16): (_ROWS[:4], (1,)),
    ("write", "", 32, 16): (_ROWS[:4], (1,)),
    ("prefetch", "", 8, 32): (_ROWS, (1, 2)),
    ("prefetch", "", 8, 16): ((8, 16, 32), (1, 2, 4)),
    ("prefetch", "", 16, 16): (_ROWS, (1, 2)),
    ("prefetch", "", 32, 8): (_ROWS, (1, 2)),
    ("prefetch", "", 32, 16): (_ROWS, (1,)),
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

    def elements(self) -> tuple[Array, Array]:
        """Row and first column of each element that a work-item gets, in the order of its destination.

        Lane l gets column + l, or for a transposed read row + l.
        """
        if self.layout == "transpose":
            return np.zeros(self.columns, np.int64), np.arange(self.columns)
        order = np.arange(self.rows * self.count)
        return order % self.rows, order // self.rows * self.columns


def block_shape(name: str) -> BlockShape | None:
    """The shape that a built-in's name says; None if it is not one that exists."""
    m = _NAME.fullmatch(name)
    if m is None:
        return None
    layout, bits, rows = m["layout"] or "", int(m["bits"]), int(m["rows"])
    columns, count = int(m["columns"]), int(m["count"])
    allowed_rows, allowed_counts = _SHAPES.get((m["action"], layout, bits, columns), ((), ()))
    if rows not in allowed_rows or count not in allowed_counts:
        return None
    return BlockShape(m["action"], layout, bits // 8, rows, columns, count)
