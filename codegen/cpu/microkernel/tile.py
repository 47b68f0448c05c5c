"""Common part of the micro-kernels: parameters, memory layout of accumulators, and their store to C."""

from collections.abc import Sequence
from dataclasses import dataclass

from codegen.config.cpu import Isa, Packing
from codegen.cpu.emit.elements import elements_of
from codegen.cpu.emit.epilogue import (
    Epilogue,
    is_short,
)
from codegen.cpu.emit.workspace import most_tiles_m
from codegen.cpu.emit.writer import (
    Function,
    Module,
    Typed,
    Value,
)
from codegen.cpu.isa import ISA_FACTS
from codegen.cpu.microkernel.next_panel import AHEAD, Lines, NextPanel, next_panel
from codegen.cpu.nest.columns import Strip
from codegen.cpu.nest.plan import (
    LINE,
    SUM_BYTES,
    Plan,
)
from codegen.problem.dtype import DType
from codegen.xe.rules.sizes import ceil_div

_PLACE = (("i64", "%matrix"), ("i64", "%row"), ("i64", "%column"))
TILE_PARAMETERS = (
    ("ptr", "%arguments"),
    ("ptr", "%a"),
    ("ptr", "%b"),
    ("ptr", "%sums"),
    ("i64", "%depth"),
    ("i1", "%first"),
    ("i1", "%last"),
    *_PLACE,
)
_ROWS_PARAMETERS = (("ptr", "%arguments"), ("ptr", "%sums"), ("i64", "%rows"), *_PLACE)
_FINISH_PARAMETERS = (
    ("ptr", "%arguments"),
    ("ptr", "%partials"),
    ("i64", "%stride_bytes"),
    ("i64", "%parts"),
    *_PLACE,
)
HERE = ("%matrix", "%row", "%column")
_FEW_TILES = 2  # over M, of 32 rows at most
SOURCE = "%source"
"""Parameter of a tile's function: the first of its columns of B in place."""


@dataclass(frozen=True, slots=True)
class Tile:
    """Function that computes `rows` x `columns` of C over one K block, while it is written.

    Sums lie in memory as [rows][width]. `copies`: B is read in place and packed in the panel.
    """

    f: Function
    plan: Plan
    rows: int
    columns: int
    copies: bool = False

    @property
    def vectors(self) -> tuple[Strip, ...]:
        """Vectors of sums in one row."""
        return self.plan.columns.vectors(self.columns, self.plan.lanes)

    @property
    def lines(self) -> tuple[Strip, ...]:
        """Columns of B, each by itself."""
        return self.plan.columns.vectors(self.columns, 1)

    @property
    def once(self) -> bool:
        """Return whether there is one K block, both first and last."""
        return self.plan.k_blocks == 1

    @property
    def ends_here(self) -> bool:
        """Return whether the micro-kernel stores to C: sums of several K threads are added elsewhere."""
        return self.plan.threads.k == 1

    @property
    def depth(self) -> Value:
        """Number of elements along K."""
        return self.plan.problem.k if self.once else "%depth"

    def unrolled(self, unit: int) -> int:
        """Steps of `unit` elements along K per round; one in tiles of the last columns, if these are fewer."""
        return self.plan.config.matmul.innermost.k // unit if self.is_usual else 1

    @property
    def is_usual(self) -> bool:
        """Return whether the tile has `nr` columns, as most have; its rows may be those of the last tile."""
        return self.columns == shapes(self.plan)[0][1]

    @property
    def sum_kind(self) -> str:
        """LLVM's type of a sum."""
        return "i32" if self.plan.sums_are_integers else "float"

    @property
    def vector_kind(self) -> str:
        """LLVM's type of a vector of sums."""
        return f"<{self.plan.lanes} x {self.sum_kind}>"

    def sums_at(self, row: int, column: int) -> str:
        """Return the address of an accumulator in memory."""
        return self.f.at("%sums", (row * self.plan.width + column) * SUM_BYTES)

    def prefetch(self, pointer: str, offset: int, cache: int = 1, *, stores: bool = False) -> None:
        """Prefetch a cache line into the cache of a level, 1 or 2; `stores`: it will be written."""
        arguments = [("ptr", self.f.at(pointer, offset)), ("i32", int(stores)), ("i32", 4 - cache), ("i32", 1)]
        self.f.call("void", "llvm.prefetch.p0", arguments)

    def prefetch_lines(self, pointer: str, lines: Lines, from_pointer: int = 0) -> None:
        """Prefetch the lines of a round into the second-level cache."""
        here = lines.begin(self.f, pointer)
        for offset in lines.offsets:
            self.prefetch(here, from_pointer + offset, 2)

    def ahead(self) -> "Ahead":
        """Write what precedes the loop over K in which the tile prefetches."""
        panel = next_panel(self.plan) if self.is_usual else None
        begin: list[Typed] = [] if panel is None else [("ptr", AHEAD)]
        if not (self.is_usual and self.ends_here):
            return Ahead(self, panel, begin, None)
        f, p = self.f, self.plan.problem
        pitch: Value = p.pitch_c * p.dtype_c.nbytes
        first, each = Epilogue(f, self.plan, self.columns, HERE).c, self.rows_of_round
        last = f.at(first, (self.rows - each) * pitch)
        if not self.once:  # there is nothing to prefetch before the last block
            first, last = (f.op(f"select i1 %last, ptr {place}, ptr %sums") for place in (first, last))
        return Ahead(self, panel, [*begin, ("ptr", first)], last)

    @property
    def rows_of_round(self) -> int:
        """Rows of C that each round of the loop over K prefetches: more than one if it has more rows than rounds.

        One where threads copy panels of B for few tiles: lines of C that come earlier delay those of B.
        """
        plan = self.plan
        streams = plan.packs_b is Packing.BLOCK and most_tiles_m(plan) <= _FEW_TILES
        if plan.isa is Isa.AMX and streams and plan.config.thread_count > 1:
            return 1
        rounds = min(plan.block.k, plan.problem.k) // plan.config.matmul.innermost.k
        return ceil_div(self.rows, max(1, min(rounds, self.rows)))

    def initial(self) -> list[str]:
        """Load or zero the vectors of accumulators for this K block, row by row."""

        def found() -> list[str]:
            places = [(r, vector.place) for r in range(self.rows) for vector in self.vectors]
            return [self.f.load(self.vector_kind, self.sums_at(*place), SUM_BYTES) for place in places]

        none = ["zeroinitializer"] * (self.rows * len(self.vectors))
        if self.once:
            return none
        return self.f.either("%first", [self.vector_kind] * len(none), lambda: none, found)

    def leave(self, sums: Sequence[str]) -> None:
        """Store vectors of accumulators to C after the last K block, else to memory."""
        if not self.ends_here:
            self._keep(sums)
        elif not is_short(self.plan):
            self._keep(sums)
            self.leave_kept()
        elif self.once:
            self._finish(sums)
        else:
            with self.f.when("%last"):
                self._finish(sums)
                self.f.end("ret void")
            self._keep(sums)

    def leave_kept(self) -> None:
        """Store accumulators in memory to C after the last K block."""
        if not self.ends_here:
            return
        if self.once:
            self._call_rows()
            return
        with self.f.when("%last"):
            self._call_rows()

    def _call_rows(self) -> None:
        here = [("i64", value) for value in HERE]
        rows = self.rows if self.plan.problem.experts is None else "%rows"
        arguments = [("ptr", "%arguments"), ("ptr", "%sums"), ("i64", rows), *here]
        self.f.call("void", _rows_name(self.columns), arguments)

    def _keep(self, sums: Sequence[str]) -> None:
        for n, value in enumerate(sums):
            row, vector = divmod(n, len(self.vectors))
            self.f.store(self.vector_kind, value, self.sums_at(row, self.vectors[vector].place), SUM_BYTES)

    def _finish(self, sums: Sequence[str]) -> None:
        epilogue = Epilogue(self.f, self.plan, self.columns, HERE)
        epilogue.begin()
        for r in range(self.rows):
            epilogue.row(r, sums[r * epilogue.vectors : (r + 1) * epilogue.vectors], [])


@dataclass(frozen=True, slots=True)
class Ahead:
    """Prefetches in the loop over K: of the next panel of B, and of this tile's rows in C, of which those of the last
    round begin at `last_rows`.

    The loop carries their addresses, which `begin` has first.
    """

    tile: Tile
    panel: NextPanel | None
    begin: list[Typed]
    last_rows: str | None

    def write(self, places: Sequence[str]) -> list[str]:
        """Write the prefetches of a round; return the addresses of the next one."""
        f, p, left, following = self.tile.f, self.tile.plan.problem, list(places), list[str]()
        if self.panel is not None:
            panel = left.pop(0)
            self.tile.prefetch_lines(panel, self.panel.lines)
            following.append(f.at(panel, self.panel.lines.step_bytes))
        if self.last_rows is not None:
            row = left.pop(0)
            pitch, each = p.pitch_c * p.dtype_c.nbytes, self.tile.rows_of_round
            # From the last byte backwards: the first line may be that of the last bytes of the tile beside.
            for offset in range(self.tile.columns * p.dtype_c.nbytes - 1, 0, -LINE):
                for number in range(each):
                    self.tile.prefetch(row, number * pitch + offset, stores=True)
            below = f.at(row, each * pitch)
            # Some rows twice rather than those below the tile, which another thread may be writing.
            more = f.op(f"icmp ult ptr {below}, {self.last_rows}")
            following.append(f.op(f"select i1 {more}, ptr {below}, ptr {self.last_rows}"))
        return following


def tile_name(rows: int, columns: int, *, copies: bool = False) -> str:
    """Return the name of the function for tiles of a size."""
    return f"{'copying_' if copies else ''}tile_{rows}x{columns}"


def tile_parameters(plan: Plan) -> tuple[tuple[str, str], ...]:
    """Return the parameters of a tile's function; those of experts are told how many `%rows` there are."""
    if plan.problem.experts is not None:
        return (*TILE_PARAMETERS, ("i64", "%rows"))
    ahead = [] if next_panel(plan) is None else [("ptr", AHEAD)]
    return (*TILE_PARAMETERS, *ahead, *([("ptr", SOURCE)] if plan.copies_in_tiles else []))


def heights(plan: Plan) -> tuple[int, ...]:
    """Return the rows of the tiles that occur; of experts any, in whole tile registers with AMX."""
    if plan.problem.experts is None:
        return tuple(dict.fromkeys([*([plan.mr] if plan.tiles_m > 1 else []), plan.last_rows]))
    step = min(plan.mr, ISA_FACTS[plan.isa].tile_rows or 1)
    return (*range(step, plan.mr, step), plan.mr)


def copying_heights(plan: Plan) -> tuple[int, ...]:
    """Return the rows of the tiles that may be the first of a panel, which pack it: not those of the last of several
    tiles that are in one block of one thread.
    """
    if not plan.copies_in_tiles:
        return ()
    one_block = plan.problem.batch * plan.parts_m == 1 and plan.block.m >= plan.problem.m
    return heights(plan)[:1] if one_block else heights(plan)


def shapes(plan: Plan) -> list[tuple[int, int]]:
    """Return the sizes of the tiles that occur."""
    columns = [plan.nr] if plan.tiles_n > 1 else []
    return [(r, c) for r in heights(plan) for c in dict.fromkeys([*columns, plan.last_columns])]


def write_rows(module: Module, plan: Plan, columns: int) -> None:
    """Write the function that stores rows of accumulators in memory to C."""
    with module.function(_rows_name(columns), _ROWS_PARAMETERS, copied=False) as f:
        epilogue = Epilogue(f, plan, columns, HERE)
        _each_row(Tile(f, plan, plan.mr, columns), epilogue, "%rows", "%sums", 1, 0)


def write_finish(module: Module, plan: Plan, rows: int, columns: int) -> None:
    """Write the function that adds a tile's sums of several K threads, in thread order, and stores them to C."""
    with module.function(f"finish_{rows}x{columns}", _FINISH_PARAMETERS, copied=False) as f:
        epilogue = Epilogue(f, plan, columns, HERE)
        _each_row(Tile(f, plan, rows, columns), epilogue, rows, "%partials", "%parts", "%stride_bytes")


def _each_row(tile: Tile, epilogue: Epilogue, rows: Value, sums: str, parts: Value, stride: Value) -> None:
    f, plan, kind = tile.f, tile.plan, tile.vector_kind
    epilogue.begin()
    carried = [(epilogue.floats.type, "zeroinitializer")] * (len(epilogue.sums_along_columns) * epilogue.vectors)
    with f.loop(0, rows, 1, carried, enters=True) as each:
        line = f.at(sums, f.mul(each.index, plan.width * SUM_BYTES))
        places = [(f.at(line, vector.place * SUM_BYTES), vector.place) for vector in tile.vectors]
        values = [_loaded(tile, *place) for place in places]
        if parts != 1:
            with f.loop(1, parts, 1, [(kind, value) for value in values], enters=True) as part:
                offset = f.mul(part.index, stride)
                others = [_loaded(tile, f.at(pointer, offset), column) for pointer, column in places]
                plus = "add" if plan.sums_are_integers else "fadd"
                part.next([f.op(f"{plus} {kind} {a}, {b}") for a, b in zip(part.carried, others, strict=True)])
            values = part.results
        each.next(epilogue.row(each.index, values, each.carried))
    epilogue.end(each.results)


def _loaded(tile: Tile, pointer: str, column: int) -> str:
    """Load a vector of sums; where rows are not whole vectors, nothing beyond the last is read."""
    count = min(tile.plan.lanes, tile.plan.width - column)
    dtype = DType.I32 if tile.plan.sums_are_integers else DType.F32
    return elements_of(tile.f, tile.plan).load(pointer, dtype, count)


def _rows_name(columns: int) -> str:
    return f"rows_{columns}"
