"""Quantities of the packing of one operand."""

from dataclasses import dataclass

from codegen.config.cpu import Isa
from codegen.cpu.emit.writer import Function, Value
from codegen.cpu.nest.plan import GROUP_BYTES, LINE, Plan
from codegen.problem.dtype import DType
from codegen.xe.rules.sizes import ceil_div

PACK_A, PACK_B = "pack_a", "pack_b"
_MOST_PREFETCHED = 512 * 1024  # bytes of a panel in memory, beside which another one stays in L2
PARAMETERS = (("ptr", "%source"), ("ptr", "%panel"), ("i64", "%lines"), ("i64", "%depth"))
"""Of the function that packs one panel."""


@dataclass(frozen=True)
class Packer:
    """Packing of one operand. A line is a row of A or a column of B; lengths in elements.

    `along_k`: lines are contiguous in memory. `by_lines`: a panel holds 64 bytes of each line together, for AMX.
    `lines` of the `panel_lines` of a panel are packed by a call: of B, the columns that are contiguous in memory.
    """

    plan: Plan
    name: str
    dtype: DType
    along_k: bool
    pitch: int
    lines: int
    panel_lines: int
    by_lines: bool

    @property
    def transposes(self) -> bool:
        """Return whether the contiguous dimension differs between memory and panel."""
        return self.along_k != self.by_lines

    @property
    def group(self) -> int:
        """Elements along K that are packed together."""
        return self.plan.group

    @property
    def lanes(self) -> int:
        """Groups in a vector."""
        return self.plan.lanes

    @property
    def parts(self) -> int:
        """Parts of an element in the panel."""
        return self.plan.parts

    @property
    def group_row_bytes(self) -> int:
        """Bytes of one group of all lines in the panel, with all parts."""
        return self.panel_lines * GROUP_BYTES * self.parts

    @property
    def line_bytes(self) -> int:
        """Bytes of a line's step in the panel, with all parts, where a panel holds lines together."""
        return LINE * self.parts

    @property
    def part_bytes(self) -> int:
        """Bytes between the parts of an element in the panel."""
        return LINE if self.by_lines else self.panel_lines * GROUP_BYTES

    @property
    def strip(self) -> int:
        """Lines of a block."""
        return self.lanes if self.transposes else self.lines

    @property
    def depth(self) -> int:
        """Depth of a block."""
        if self.along_k or self.by_lines:
            return self.group * self.lanes
        return max(self.group, self.unit_k)

    @property
    def has_room_for_next(self) -> bool:
        """Return whether the second-level cache has room for what the next panel is copied from."""
        return self.lines * self.plan.block.k * self.dtype.bits // 8 <= _MOST_PREFETCHED

    @property
    def decodes(self) -> bool:
        """Return whether memory holds codes of weights."""
        return self.name == PACK_B and self.plan.problem.has_weights

    @property
    def scales(self) -> bool:
        """Return whether the weights have scales."""
        return self.decodes and self.plan.problem.quantization is not None

    @property
    def looks_up(self) -> bool:
        """Return whether each line has a table of what its codes are, instead of a scale and a zero point."""
        return self.decodes and self.along_k and self.dtype.bits == 4

    @property
    def has_zeros(self) -> bool:
        """Return whether each group of a line has a zero point in memory."""
        quantization = self.plan.problem.quantization
        return self.decodes and quantization is not None and quantization.zeros

    @property
    def unit_k(self) -> int:
        """Elements along K in one unit of memory: of 4-bit types in a byte, or across K in a word."""
        if self.dtype.packed == 1:
            return 1
        return 2 if self.along_k else self.dtype.packed

    @property
    def unit_bytes(self) -> int:
        """Bytes of a unit of memory."""
        return self.unit_k * self.dtype.bits // 8

    @property
    def pitch_bytes(self) -> int:
        """Bytes between rows of memory."""
        return self.pitch * self.dtype.nbytes

    def offset(self, f: Function, k: Value) -> Value:
        """Return the bytes from one element to that `k` further along K, a whole number of units."""
        return f.mul(f.div(k, self.unit_k), self.unit_bytes if self.along_k else self.pitch_bytes)

    @property
    def read_lines(self) -> int:
        """Lines that a block reads: across K in whole vectors."""
        return self.strip if self.along_k else ceil_div(self.strip, self.lanes) * self.lanes

    @property
    def rows(self) -> int:
        """Rows of memory that a block reads."""
        return self.strip if self.along_k else self.depth // self.unit_k

    @property
    def elements(self) -> int:
        """Units of a row that a block reads."""
        return self.depth // self.unit_k if self.along_k else self.read_lines

    @property
    def bits(self) -> str:
        """Type of a unit of memory, as its bits."""
        return f"i{8 * self.unit_bytes}"

    @property
    def vector(self) -> str:
        """Type of a vector of groups."""
        return f"<{self.lanes} x i32>"

    def width(self, strip: int) -> int:
        """Lines of a strip that the panel has."""
        return min(self.strip, self.lines - strip * self.strip)


def packer_of_a(plan: Plan) -> Packer:
    """Return the packer of A."""
    p = plan.problem
    return Packer(
        plan,
        PACK_A,
        p.dtype_a,
        not p.transpose_a,
        p.pitch_a,
        plan.mr,
        plan.mr,
        plan.isa is Isa.AMX and not plan.reads_rows_of_b,
    )


def packer_of_b(plan: Plan) -> Packer:
    """Return the packer of B."""
    p, lines = plan.problem, next(plan.columns.strips(plan.nr)).count
    return Packer(plan, PACK_B, p.dtype_b, p.transpose_b, p.pitch_b, lines, plan.width, by_lines=False)
