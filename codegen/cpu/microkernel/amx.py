"""AMX micro-kernel: tile registers of 16 rows of 64 bytes for A, B and accumulators.

Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, chapter 18.
"""

from dataclasses import dataclass

from codegen.config.cpu import Packing
from codegen.cpu.emit.epilogue import (
    Epilogue,
    keeps_sums,
)
from codegen.cpu.emit.writer import (
    Module,
    Value,
)
from codegen.cpu.isa import Multiply, products_of
from codegen.cpu.microkernel.amx_rows_of_b import setup_of_rows_of_b
from codegen.cpu.microkernel.parts import all_finite, checked_sums, write_sums
from codegen.cpu.microkernel.tile import HERE, Tile
from codegen.cpu.microkernel.tile_setup import REGISTERS, ROW_BYTES, ROWS, setup
from codegen.cpu.nest.plan import (
    GROUP_BYTES,
    LINE,
    SUM_BYTES,
    Plan,
)
from codegen.problem.dtype import DType
from codegen.xe.rules.sizes import ceil_div

_COLUMNS = 16


def write_begin_and_end(module: Module, plan: Plan) -> None:
    """Write the functions around a thread's tiles: configure and release the tile registers."""
    with module.function("begin_thread") as f:
        if plan.reads_rows_of_b:
            usual = setup_of_rows_of_b(plan, plan.nr if plan.tiles_n > 1 else plan.last_columns)
        else:
            usual = _shapes(plan, plan.mr)
        f.call("void", "llvm.x86.ldtilecfg", [("ptr", setup(module, usual))])
    with module.function("end_thread") as f:
        f.call("void", "llvm.x86.tilerelease")


def write_amx_tile(tile: Tile) -> None:
    """Write the body of a tile's function."""
    plan, f = tile.plan, tile.f
    # Allocated at the beginning of the function, where it costs nothing.
    checked = checked_sums(tile) if plan.parts > 1 else ""
    if plan.problem.experts is not None:
        with f.when(f.compare("ne", "%rows", plan.mr)):
            place = f.at(
                setup(f.module, *(_shapes(plan, rows) for rows in range(1, plan.mr + 1))),
                f.mul(f.sub("%rows", 1), LINE),
            )
            f.call("void", "llvm.x86.ldtilecfg", [("ptr", place)])
        _write_products(tile, ceil_div(tile.rows, ROWS), checked, fits=tile.columns % _COLUMNS == 0)
        with f.when(f.compare("ne", "%rows", plan.mr)):
            f.call("void", "llvm.x86.ldtilecfg", [("ptr", setup(f.module, _shapes(plan, plan.mr)))])
        return
    heights = _heights(plan.mr)[: ceil_div(tile.rows, ROWS)]
    # Panels end in rows of zeros; of the matrix itself, no row beyond the last may be read.
    other_setup = plan.packs_a is Packing.NONE and heights != _heights(tile.rows)
    if other_setup:
        heights = _heights(tile.rows)
        f.call("void", "llvm.x86.ldtilecfg", [("ptr", setup(f.module, _shapes(plan, tile.rows)))])
    fits = heights == _heights(tile.rows) and tile.columns % _COLUMNS == 0
    _write_products(tile, len(heights), checked, fits=fits)
    if other_setup:
        f.call("void", "llvm.x86.ldtilecfg", [("ptr", setup(f.module, _shapes(plan, plan.mr)))])


def _write_products(tile: Tile, down: int, checked: str, *, fits: bool) -> None:
    """Write the products of a tile; `checked`: where sums of parts are stored to be checked; `fits`: the registers hold
    what is inside of C alone.
    """
    plan = tile.plan
    across = tuple(vector.place // _COLUMNS for vector in plan.columns.vectors(tile.columns, _COLUMNS))
    kernel = _Kernel(tile, _Registers.of(plan), down, across, checked)
    kernel.begin()
    kernel.multiply()
    kernel.leave(to_c=fits and keeps_sums(plan) and tile.ends_here and plan.parts == 1)


def _heights(rows: int) -> list[int]:
    """Return the rows of each of the registers that hold this many rows."""
    return [min(ROWS, rows - row) for row in range(0, rows, ROWS)]


@dataclass(frozen=True, slots=True)
class _Registers:
    """Register assignment: accumulators of `down` x `across`, then the rows of A, then the columns of B."""

    down: int
    across: int

    @classmethod
    def of(cls, plan: Plan) -> "_Registers":
        registers = cls(ceil_div(plan.mr, ROWS), ceil_div(plan.width, _COLUMNS))
        assert registers.b(registers.across - 1) < REGISTERS, "a rule checks it"
        return registers

    def sums(self, i: int, j: int) -> int:
        return i * self.across + j

    def a(self, i: int) -> int:
        return self.down * self.across + i

    def b(self, j: int) -> int:
        return self.down * self.across + self.down + j


def _shapes(plan: Plan, rows: int) -> list[tuple[int, int]]:
    """Return the shapes of the registers for tiles of this many rows."""
    registers = _Registers.of(plan)
    heights = [ROWS] * REGISTERS
    for i, height in enumerate(_heights(rows)):
        for number in (registers.a(i), *(registers.sums(i, j) for j in range(registers.across))):
            heights[number] = height
    return [(height, ROW_BYTES) for height in heights]


@dataclass(frozen=True, slots=True)
class _Kernel:
    """Tile of `down` rows of accumulator registers, of those columns of registers."""

    tile: Tile
    registers: _Registers
    down: int
    across: tuple[int, ...]
    checked: str

    def begin(self) -> None:
        """Load or zero the accumulators for this K block."""
        places = [(i, j) for i in range(self.down) for j in self.across]

        def none() -> list[Value]:
            for place in places:
                self._tiles("llvm.x86.tilezero", self.registers.sums(*place))
            return []

        def found() -> list[Value]:
            for i, j in places:
                memory = self.tile.sums_at(i * ROWS, j * _COLUMNS)
                self._move("llvm.x86.tileloadd64", self.registers.sums(i, j), memory, self._sums_pitch)
            return []

        if self.tile.once:
            none()
        else:
            self.tile.f.either("%first", [], none, found)

    def multiply(self) -> None:
        """Add the products of the whole K block."""
        f, plan = self.tile.f, self.tile.plan
        unit, unroll = plan.depth_unit, self.tile.unrolled(plan.depth_unit)
        steps = f.div(f.add(self.tile.depth, unit - 1), unit)
        whole = f.mul(f.div(steps, unroll), unroll)
        a, b = self._loop("%a", "%b", 0, whole, unroll)
        if plan.padded(plan.last_depth) // unit % unroll:
            self._loop(a, b, whole, steps, 1)

    def leave(self, *, to_c: bool) -> None:
        """Store the accumulators to C after the last K block, directly from the registers where they fit; else to
        memory.
        """
        if not to_c:
            self._keep()
            self.tile.leave_kept()
            return

        def last() -> list[Value]:
            epilogue = Epilogue(self.tile.f, self.tile.plan, self.tile.columns, HERE)
            pitch = self.tile.plan.problem.pitch_c * SUM_BYTES
            self._store(epilogue.c, pitch)
            return []

        def kept() -> list[Value]:
            self._keep()
            return []

        if self.tile.once:
            last()
        else:
            self.tile.f.either("%last", [], last, kept)

    @property
    def _sums_pitch(self) -> int:
        return self.tile.plan.width * SUM_BYTES

    def _keep(self) -> None:
        """Store the accumulators to memory; those of parts are computed again if one is not finite."""
        tile = self.tile
        if tile.plan.parts == 1:
            self._store("%sums", self._sums_pitch)
            return
        self._store(self.checked, self._sums_pitch)

        def kept() -> list[Value]:
            if not tile.once:
                self._store("%sums", self._sums_pitch)
            return []

        def again() -> list[Value]:
            write_sums(tile)
            return []

        tile.f.either(all_finite(tile, self.checked), [], kept, again)

    def _store(self, pointer: str, pitch: int) -> None:
        for i in range(self.down):
            for j in self.across:
                place = self.tile.f.at(pointer, i * ROWS * pitch + j * _COLUMNS * SUM_BYTES)
                self._move("llvm.x86.tilestored64", self.registers.sums(i, j), place, pitch)

    def _loop(self, a: str, b: str, low: Value, high: Value, unroll: int) -> tuple[str, str]:
        if isinstance(low, int) and isinstance(high, int) and low >= high:
            return a, b
        f = self.tile.f
        ahead = self.tile.ahead() if low == 0 else None
        with f.loop(low, high, unroll, [("ptr", a), ("ptr", b), *(ahead.begin if ahead else [])]) as loop:
            here_a, here_b, *places = loop.carried
            self._prefetch(here_a, here_b, unroll)
            places = ahead.write(places) if ahead else []
            for step in range(unroll):
                self._step(f.at(here_a, step * self._step_bytes_a), f.at(here_b, step * self._step_bytes_b))
            here_a, here_b = f.at(here_a, unroll * self._step_bytes_a), f.at(here_b, unroll * self._step_bytes_b)
            loop.next([here_a, here_b, *places])
        return loop.results[0], loop.results[1]

    @property
    def _step_bytes_a(self) -> int:
        return ROW_BYTES if self._is_direct else self.tile.plan.mr * self._pitch_a

    @property
    def _step_bytes_b(self) -> int:
        return ROWS * self._pitch_b

    @property
    def _is_direct(self) -> bool:
        return self.tile.plan.packs_a is Packing.NONE

    @property
    def _pitch_a(self) -> int:
        p = self.tile.plan.problem
        return p.pitch_a * p.dtype_a.nbytes if self._is_direct else self.tile.plan.parts * ROW_BYTES

    @property
    def _pitch_b(self) -> int:
        return self.tile.plan.parts * self._part_bytes_b

    @property
    def _part_bytes_b(self) -> int:
        return self.tile.plan.width * GROUP_BYTES

    def _step(self, a: str, b: str) -> None:
        """Multiply 64 bytes of K, loading each register just before its first product so that loads and products
        overlap.
        """
        f, load, held_a, held_b = self.tile.f, "llvm.x86.tileloadd64", -1, -1
        for part_a, part_b in products_of(self.tile.plan.multiply):
            for i in range(self.down):
                if part_a != held_a:
                    place = f.at(a, i * ROWS * self._pitch_a + part_a * ROW_BYTES)
                    self._move(load, self.registers.a(i), place, self._pitch_a)
                for j in self.across:
                    if i == 0 and part_b != held_b:
                        place = f.at(b, part_b * self._part_bytes_b + j * ROW_BYTES)
                        self._move(load, self.registers.b(j), place, self._pitch_b)
                    self._tiles(self._product, self.registers.sums(i, j), self.registers.a(i), self.registers.b(j))
            held_a, held_b = part_a, part_b

    @property
    def _product(self) -> str:
        p = self.tile.plan.problem
        if self.tile.plan.multiply is not Multiply.S8:
            return "llvm.x86.tdpbf16ps"
        signs = "".join("u" if dtype is DType.U8 else "s" for dtype in (p.dtype_a, p.dtype_b))
        return f"llvm.x86.tdpb{signs}d"

    def _tiles(self, name: str, *registers: int) -> None:
        self.tile.f.call("void", name, [("i8", number) for number in registers])

    def _move(self, name: str, register: int, pointer: str, pitch: int) -> None:
        self.tile.f.call("void", name, [("i8", register), ("ptr", pointer), ("i64", pitch)])

    def _prefetch(self, a: str, b: str, steps: int) -> None:
        plan = self.tile.plan
        distance = plan.config.strategy.prefetch_distance * (plan.config.matmul.innermost.k // plan.depth_unit)
        if not distance:
            return
        for step in range(distance, distance + steps):
            for row in range(self.tile.rows):
                for part in range(plan.parts):
                    self.tile.prefetch(a, step * self._step_bytes_a + row * self._pitch_a + part * LINE)
            for line in range(plan.width * plan.parts):
                self.tile.prefetch(b, step * self._step_bytes_b + line * LINE)
