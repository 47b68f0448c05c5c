"""AMX micro-kernel for few rows and a transposed B read in place: C^T = B A^T, with rows of B as the left operand.

Stored rows of B are what rows of tile registers hold, so nothing is brought into another order; A, which is small, is
packed like columns. Weights are decoded to a buffer that tile registers are loaded from.

Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, chapter 18.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from codegen.cpu.emit.writer import Value
from codegen.cpu.isa import Multiply
from codegen.cpu.microkernel.tile import Tile
from codegen.cpu.microkernel.tile_setup import ROW_BYTES, ROWS, setup
from codegen.cpu.microkernel.weight_columns import Ready, WeightColumns
from codegen.cpu.nest.columns import Strip
from codegen.cpu.nest.plan import GROUP_BYTES, LINE, SUM_BYTES, Plan
from codegen.cpu.pack.transpose import write_transposed
from codegen.problem.dtype import DType

_SLOTS = 4  # decoded steps that wait for the multiply, so that the next are decoded meanwhile
_UNROLLED = 4


def registers_of_rows_of_b(plan: Plan) -> int:
    """Return the tile registers that a tile needs: sums, rows of B of two steps, and rows of A."""
    return plan.width // ROWS + 3


def setup_of_rows_of_b(plan: Plan, columns: int) -> list[tuple[int, int]]:
    """Return rows and bytes of a row of each register, for tiles of that many columns of C."""
    lines = [vector.count for vector in plan.columns.vectors(columns, ROWS)]
    sums = [(count, plan.mr * SUM_BYTES) for count in lines]
    a = (ROWS, plan.mr * GROUP_BYTES)
    # Vectors that are not full have a register of their shape: the last one of each strip.
    return [*sums, a, (ROWS, ROW_BYTES), (min(lines), ROW_BYTES)]


def write_tile_of_rows_of_b(tile: Tile) -> None:
    """Write the body of a tile's function."""
    f, plan = tile.f, tile.plan
    slots = f.op(f"alloca [{_SLOTS * ROWS * ROW_BYTES} x i8], align {LINE}")
    turned = f.op(f"alloca [{ROWS * ROW_BYTES} x i8], align {LINE}")
    usual = setup_of_rows_of_b(plan, plan.nr if plan.tiles_n > 1 else plan.last_columns)
    needed = setup_of_rows_of_b(plan, tile.columns)
    if needed != usual:
        f.call("void", "llvm.x86.ldtilecfg", [("ptr", setup(f.module, needed))])
    kernel = _Kernel(tile, slots)
    kernel.multiply()
    kernel.keep(turned)
    if needed != usual:
        f.call("void", "llvm.x86.ldtilecfg", [("ptr", setup(f.module, usual))])
    tile.leave_kept()


@dataclass(frozen=True, slots=True)
class _Kernel:
    """Tile whose `slots` are memory for decoded rows of B."""

    tile: Tile
    slots: str

    @property
    def vectors(self) -> Sequence[Strip]:
        """Columns of C, those of a register together."""
        return self.tile.vectors

    def multiply(self) -> None:
        """Write the products of all of K."""
        f, plan = self.tile.f, self.tile.plan
        for number in range(len(self.vectors)):
            self._tiles("llvm.x86.tilezero", number)
        if not plan.problem.has_weights:
            self._steps(0, plan.problem.k, None)
            return
        columns, begin, groups = WeightColumns(self.tile), 0, 0
        for length, count in columns.spans():
            with f.loop(0, count, enters=True) as loop:
                k = f.add(f.mul(loop.index, length), begin)
                for number in range(len(self.vectors)):
                    self._steps(k, length, (number, columns.some(self._lines(number), f.add(loop.index, groups))))
            begin, groups = begin + length * count, groups + count

    def keep(self, turned: str) -> None:
        """Store the sums, row by row of C."""
        f, plan = self.tile.f, self.tile.plan
        kind = f"<{ROWS} x i32>"
        for number, vector in enumerate(self.vectors):
            self._move("llvm.x86.tilestored64", number, turned, ROW_BYTES)
            lines = [f.load(kind, f.at(turned, n * ROW_BYTES), LINE) for n in range(ROWS)]
            for row, value in enumerate(write_transposed(f, lines)[: min(self.tile.rows, plan.mr)]):
                f.store(kind, value, self.tile.sums_at(row, vector.place), SUM_BYTES)

    def _lines(self, number: int) -> range:
        """Return the numbers of a vector's columns among all of the tile."""
        first = sum(vector.count for vector in self.vectors[:number])
        return range(first, first + self.vectors[number].count)

    def _steps(self, k: Value, length: int, ready: tuple[int, Sequence[Ready]] | None) -> None:
        """Write the products over `length` elements from `k` on; of weights, of one vector of columns."""
        f, unit = self.tile.f, self.tile.plan.depth_unit
        count = length // unit
        whole = count // _UNROLLED * _UNROLLED
        for low, high, unroll in ((0, whole, _UNROLLED), (whole, count, 1)):
            if low == high:
                continue
            with f.loop(low, high, unroll) as loop:
                here = f.add(k, f.mul(loop.index, unit))
                self._prefetch(here, unroll, ready[0] if ready else None)
                if ready is not None and self.tile.plan.by_lanes:
                    self._line(here, *ready)
                    continue
                for step in range(unroll):
                    self._step(f.add(here, step * unit), step, ready)

    def _line(self, k: Value, number: int, constants: Sequence[Ready]) -> None:
        """Write the products with a cache line of codes of each column of a vector."""
        f, plan, columns, b = self.tile.f, self.tile.plan, WeightColumns(self.tile), self._at(k)
        for line, constant in zip(self._lines(number), constants, strict=True):
            for step, value in enumerate(columns.by_lanes(b, line, constant)):
                place = f.at(self.slots, (step * ROWS + line - self._lines(number).start) * ROW_BYTES)
                f.store(f"<{plan.lanes * plan.group} x bfloat>", value, place, LINE)
        for step in range(_SLOTS):
            a = f.at("%a", f.mul(f.add(k, step * plan.depth_unit), plan.mr * plan.element_bytes))
            self._move("llvm.x86.tileloadd64", self._a, a, plan.mr * GROUP_BYTES)
            self._product(number, f.at(self.slots, step * ROWS * ROW_BYTES), ROW_BYTES)

    def _step(self, k: Value, step: int, ready: tuple[int, Sequence[Ready]] | None) -> None:
        f, plan = self.tile.f, self.tile.plan
        a = f.at("%a", f.mul(k, plan.mr * plan.element_bytes))
        if ready is not None:
            number, constants = ready
            columns, b = WeightColumns(self.tile), self._at(k)
            slot = f.at(self.slots, step % _SLOTS * ROWS * ROW_BYTES)
            for line, constant in zip(self._lines(number), constants, strict=True):
                value = columns.value(b, line, constant, 0)
                place = f.at(slot, (line - self._lines(number).start) * ROW_BYTES)
                f.store(f"<{plan.lanes * plan.group} x bfloat>", value, place, LINE)
            self._move("llvm.x86.tileloadd64", self._a, a, plan.mr * GROUP_BYTES)
            self._product(number, slot, ROW_BYTES)
            return
        self._move("llvm.x86.tileloadd64", self._a, a, plan.mr * GROUP_BYTES)
        for number, vector in enumerate(self.vectors):
            self._product(number, f.at(self._at(k), vector.memory * self._pitch), self._pitch)

    def _product(self, number: int, pointer: str, pitch: int) -> None:
        full = self.vectors[number].count == ROWS
        register = self._a + (1 if full else 2)
        self._move("llvm.x86.tileloadd64", register, pointer, pitch)
        self._tiles(self._instruction, number, register, self._a)

    @property
    def _a(self) -> int:
        return len(self.vectors)

    @property
    def _pitch(self) -> int:
        p = self.tile.plan.problem
        return p.pitch_b * p.dtype_b.nbytes

    def _at(self, k: Value) -> str:
        """Return the address of an element of the tile's first column."""
        f, bits = self.tile.f, self.tile.plan.problem.dtype_b.bits
        return f.at("%b", f.div(f.mul(k, bits), 8))

    @property
    def _instruction(self) -> str:
        p = self.tile.plan.problem
        if self.tile.plan.multiply is Multiply.BF16:
            return "llvm.x86.tdpbf16ps"
        signs = "".join("u" if dtype is DType.U8 else "s" for dtype in (p.dtype_b, p.dtype_a))
        return f"llvm.x86.tdpb{signs}d"

    def _prefetch(self, k: Value, steps: int, number: int | None) -> None:
        """Prefetch what the next tile reads of B, whose rows are too short for the hardware to predict."""
        plan, p = self.tile.plan, self.tile.plan.problem
        here, nbytes = self._at(k), steps * plan.depth_unit * p.dtype_b.bits // 8
        further = plan.nr * (2 if plan.columns.alternate else 1)
        lines = [*self.tile.lines] if number is None else [self.tile.lines[n] for n in self._lines(number)]
        for line in lines:
            for offset in range(0, nbytes, LINE):
                self.tile.prefetch(here, (line.memory + further) * self._pitch + offset, cache=2)

    def _tiles(self, name: str, *registers: int) -> None:
        self.tile.f.call("void", name, [("i8", number) for number in registers])

    def _move(self, name: str, register: int, pointer: str, pitch: int) -> None:
        self.tile.f.call("void", name, [("i8", register), ("ptr", pointer), ("i64", pitch)])
