"""Quantities of a CPU kernel derived from a problem and a configuration."""

from dataclasses import dataclass
from functools import cached_property

from codegen.config.cpu import CpuConfig, Isa, Packing
from codegen.config.matmul import Extent
from codegen.cpu.isa import ISA_FACTS, Multiply, element_bytes, multiply_of, packed_bytes, parts_of, used_flags
from codegen.cpu.nest.columns import Columns
from codegen.problem.dtype import DType
from codegen.problem.experts import row_tiles
from codegen.problem.gemm import GemmProblem
from codegen.xe.rules.sizes import ceil_div

LINE = 64
"""Bytes of a cache line: what every region of the workspace begins on a multiple of."""
SUM_BYTES = 4
GROUP_BYTES = 4
"""Bytes of what one lane multiplies at a time: one f32, two 16-bit or four 8-bit elements along K."""


@dataclass(frozen=True)
class Plan:
    """Plan of one kernel. Lengths in elements, tiles or blocks as named; `*_bytes` in bytes.

    A panel holds a strip of one operand over the depth of one K block, in the order in which the micro-kernel reads:
    `mr` rows of A or `width` columns of B, zeros where the matrix ends. Panels of B are [depth / group][width][group];
    those of A are [depth / group][mr][group], and [depth / step][mr][step] with a step of 64 bytes for AMX, if B is
    packed. Of elements in several `parts` they are [depth / group][part][width][group] and
    [depth / step][mr][part][step]. Where `shifted`, the sums of the columns over the block, times 128, follow as i32:
    [width].

    Packed whole, an operand is [matrix][K block][panel], each block's panels as deep as the block.
    """

    problem: GemmProblem
    config: CpuConfig
    flags: tuple[str, ...]

    @cached_property
    def multiply(self) -> Multiply:
        """Multiply of the packed elements."""
        p = self.problem
        how = multiply_of(p.dtype_a, p.dtype_b, self.config.strategy.isa, self.flags)
        assert how is not None, "a rule checks it"
        return how

    @cached_property
    def used(self) -> tuple[str, ...]:
        """Flags of the optional instructions that the code uses."""
        p = self.problem
        read, written = ([o.dtype for o in p.operands if (o.role == "input") is inputs] for inputs in (True, False))
        if p.has_weights:  # decoded weights are written as elements of A's type
            written.append(p.dtype_a)
        return used_flags(self.isa, multiply_of(p.dtype_a, p.dtype_b, self.isa, self.flags), read, written, self.flags)

    @property
    def isa(self) -> Isa:
        """The instruction set."""
        return self.config.strategy.isa

    @property
    def element_bytes(self) -> int:
        """Bytes of a packed element, or of one of its parts."""
        return element_bytes(self.multiply)

    @property
    def parts(self) -> int:
        """Number of bf16 whose sum is a packed element; 1 if elements are multiplied as they are."""
        return parts_of(self.multiply)

    @property
    def packed_bytes(self) -> int:
        """Bytes of an element in a panel, with all its parts."""
        return packed_bytes(self.multiply)

    @property
    def group(self) -> int:
        """Elements along K that one lane multiplies at a time."""
        return GROUP_BYTES // self.element_bytes

    @property
    def lanes(self) -> int:
        """Sums in one vector register."""
        return ISA_FACTS[self.isa].vector_bytes // SUM_BYTES

    @property
    def depth_unit(self) -> int:
        """Unit that the depth of a panel is a multiple of."""
        return LINE // self.element_bytes if self.isa is Isa.AMX else self.group

    @property
    def reads_rows_of_b(self) -> bool:
        """Return whether tile registers are loaded with stored rows of a transposed B, and A is packed like columns."""
        return self.isa is Isa.AMX and self.problem.transpose_b and self.packs_b is Packing.NONE

    @property
    def reads_blocks_of_b(self) -> bool:
        """Return whether vectors read blocks of K of a B [K, N] in place: tiles along N read the same few rows."""
        return self.packs_b is Packing.NONE and not self.problem.transpose_b and self.k_blocks > 1

    @property
    def copies_in_tiles(self) -> bool:
        """Return whether the first tile of rows that multiplies by a block of B packs it, from rows read in place.

        Only elements multiplied as f32: others are interleaved first, which needs more registers.
        """
        p = self.problem
        plain = not (p.transpose_b or p.has_weights) and p.experts is None
        return plain and self.packs_b is Packing.BLOCK and self.multiply is Multiply.F32

    @property
    def by_lanes(self) -> bool:
        """Return whether codes of 4 bits are decoded a cache line at a time, in an order that A is packed in too."""
        p, line = self.problem, 8 * LINE // 4
        group = p.quantization.group if p.quantization is not None else None
        whole = p.k % line == 0 and (group is None or group % line == 0 or group >= p.k)
        return self.reads_rows_of_b and p.has_weights and p.dtype_b.bits == 4 and whole

    @property
    def sums_are_integers(self) -> bool:
        """Return whether accumulators are i32; else they are f32."""
        return self.multiply in (Multiply.S8, Multiply.S16)

    @property
    def shifted(self) -> bool:
        """Return whether A's signed bytes are read as unsigned ones, 128 larger, because B's are signed too."""
        p = self.problem
        vectors = self.isa is not Isa.AMX
        return vectors and self.multiply is Multiply.S8 and p.dtype_a is p.dtype_b is DType.S8

    @property
    def mr(self) -> int:
        """Rows of a tile of the micro-kernel."""
        return self.config.matmul.innermost.m

    @property
    def nr(self) -> int:
        """Columns of C in a tile of the micro-kernel."""
        return self.config.matmul.innermost.n

    @property
    def width(self) -> int:
        """Columns of sums in a tile, and of B in a panel: those of both products of a gate."""
        return self.nr * self.problem.products

    @cached_property
    def columns(self) -> Columns:
        """Columns of B behind those of C."""
        return Columns(self.problem, self.nr)

    @property
    def block(self) -> Extent:
        """Steps of the o loops."""
        return self.config.matmul.block

    @property
    def threads(self) -> Extent:
        """Threads over M, N and K."""
        return self.config.matmul.threads

    @property
    def pieces(self) -> int:
        """Pieces of each thread's part of C."""
        return self.config.strategy.pieces

    @property
    def cut_along(self) -> str:
        """Dimension that the pieces divide, "m" or "n": one that packs no panel twice, else the one with more tiles."""
        own_a, own_b = (packs is Packing.BLOCK for packs in (self.packs_a, self.packs_b))
        if own_a and own_b:
            return next(along for along in self.config.matmul.loop_order.blocks if along != "k")
        if own_a or own_b:
            return "m" if own_a else "n"
        more_rows = self.row_tiles * self.threads.n >= self.tiles_n * self.threads.m
        return "m" if more_rows else "n"

    @property
    def parts_m(self) -> int:
        """Parts of all rows of tiles, over all matrices: one per thread, or one per piece."""
        return self.threads.m * (self.pieces if self.cut_along == "m" else 1)

    @property
    def parts_n(self) -> int:
        """Parts of the columns of tiles."""
        return self.threads.n * (self.pieces if self.cut_along == "n" else 1)

    @property
    def tiles_m(self) -> int:
        """Tiles over the rows of one matrix."""
        return ceil_div(self.problem.m, self.mr)

    @property
    def tiles_n(self) -> int:
        """Tiles over the columns."""
        return ceil_div(self.problem.n, self.nr)

    @property
    def row_tiles(self) -> int:
        """Tiles over the rows of all matrices; of experts, with the rows that the problem is tuned for."""
        p = self.problem
        return p.batch * self.tiles_m if p.experts is None else row_tiles(p.rows_of_experts, self.mr)

    @property
    def last_rows(self) -> int:
        """Rows of the last tile."""
        return self.problem.m - (self.tiles_m - 1) * self.mr

    @property
    def last_columns(self) -> int:
        """Columns of the last tile."""
        return self.problem.n - (self.tiles_n - 1) * self.nr

    @property
    def k_blocks(self) -> int:
        """Blocks over K; each thread of `threads.k` has some consecutive ones."""
        return ceil_div(self.problem.k, self.block.k)

    @property
    def last_depth(self) -> int:
        """Depth of the last block, unpadded."""
        return self.problem.k - (self.k_blocks - 1) * self.block.k

    def padded(self, depth: int) -> int:
        """Depth of a panel."""
        return ceil_div(depth, self.depth_unit) * self.depth_unit

    def panel_bytes_a(self, depth: int) -> int:
        """Bytes of a panel of A."""
        return self.padded(depth) * self.mr * self.packed_bytes

    def panel_bytes_b(self, depth: int) -> int:
        """Bytes of a panel of B."""
        sums = self.width * SUM_BYTES if self.shifted else 0
        return self.padded(depth) * self.width * self.packed_bytes + sums

    @property
    def matrices_a(self) -> int:
        """Number of distinct matrices of A."""
        return 1 if self.problem.batch_stride_a == 0 else self.problem.batch

    @property
    def matrices_b(self) -> int:
        """Number of distinct matrices of B."""
        return 1 if self.problem.batch_stride_b == 0 else self.problem.experts or self.problem.batch

    @property
    def matrix_bytes_a(self) -> int:
        """Bytes of one matrix of A, packed whole."""
        full = (self.k_blocks - 1) * self.panel_bytes_a(self.block.k)
        return self.tiles_m * (full + self.panel_bytes_a(self.last_depth))

    @property
    def matrix_bytes_b(self) -> int:
        """Bytes of one matrix of B, packed whole."""
        full = (self.k_blocks - 1) * self.panel_bytes_b(self.block.k)
        return self.tiles_n * (full + self.panel_bytes_b(self.last_depth))

    @property
    def packed_b_bytes(self) -> int:
        """Bytes of the whole packed B."""
        return self.matrices_b * self.matrix_bytes_b

    @property
    def packed_a_bytes(self) -> int:
        """Bytes of the whole packed A."""
        return self.matrices_a * self.matrix_bytes_a

    @property
    def packs_a(self) -> Packing:
        """Time at which A is packed."""
        return self.config.strategy.pack_a

    @property
    def packs_b(self) -> Packing:
        """Time at which B is packed."""
        return self.config.strategy.pack_b
