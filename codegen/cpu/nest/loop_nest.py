"""Loop nest: o loops over each thread's blocks, packing where they open, and i loops over the tiles of a block.

Source: DOC: deep-Tiled Matmul, "Proposal".
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from codegen.config.cpu import Packing
from codegen.cpu.emit.memory import (
    THREAD_PARAMETERS,
    Memory,
    Panels,
    panels_of_a,
    panels_of_b,
)
from codegen.cpu.emit.workspace import (
    BLOCK_A,
    BLOCK_B,
    PACKED_A,
    PACKED_B,
    PARTIALS,
    SUMS,
    block_tiles_m,
    block_tiles_n,
    blocks_in_order,
    rounds,
    sums_buffer,
    tile_bytes,
)
from codegen.cpu.emit.writer import (
    Function,
    Module,
    Value,
)
from codegen.cpu.microkernel.next_panel import NextPanel, next_block, next_panel
from codegen.cpu.microkernel.tile import copying_heights, heights, tile_name
from codegen.cpu.nest.matrices import Matrix, matrices_of_experts, write_row_tiles
from codegen.cpu.nest.partition import (
    Place,
    Range,
    write_part,
    write_place,
)
from codegen.cpu.nest.plan import (
    LINE,
    Plan,
)
from codegen.cpu.nest.work_stealing import (
    Takes,
    taken,
)
from codegen.cpu.pack.call_packer import write_pack_b
from codegen.cpu.pack.packer import PACK_A

MULTIPLY = "multiply"
_TRUE, _FALSE = "true", "false"


def write_multiply(module: Module, plan: Plan) -> None:
    """Write `@multiply(ptr arguments, i64 thread)`: a thread's part of C, or its partial sums."""
    with module.function(MULTIPLY, THREAD_PARAMETERS) as f:
        f.call("void", "begin_thread")
        bases = _bases(f, plan)
        with _places(f, plan) as place:
            count = plan.problem.batch * plan.tiles_m if plan.problem.experts is None else write_row_tiles(f, plan)
            units = write_part(f, count, plan.parts_m, place.m)
            columns = write_part(f, plan.tiles_n, plan.parts_n, place.n)
            blocks = write_part(f, plan.k_blocks, plan.threads.k, place.k)
            with (matrices_of_experts if plan.problem.experts is not None else _matrices)(f, plan, units) as matrix:
                nest = _Nest(f, plan, bases, place, matrix, {"m": matrix.tiles, "n": columns, "k": blocks})
                _write_blocks(nest, blocks_in_order(plan))
        f.call("void", "end_thread")


@contextmanager
def _places(f: Function, plan: Plan) -> Generator[Place]:
    """Yield the thread's place in the grid of parts, or the places of the pieces that it takes, one after another."""
    if plan.pieces == 1:
        yield write_place(f, plan, "%thread")
        return
    with taken(f, plan, Memory(f, plan).words, Takes.PIECES, lambda _: plan.pieces) as (owner, number):
        place = write_place(f, plan, owner)
        m, n = place.m, place.n
        if plan.cut_along == "m":
            m = f.add(f.mul(m, plan.pieces), number)
        else:
            n = f.add(f.mul(n, plan.pieces), number)
        yield Place(m, n, place.k)


@dataclass(frozen=True, slots=True)
class _Bases:
    """Loop-invariant addresses of a thread: its packed panels and stored sums."""

    a: str
    b: str
    sums: str


def _bases(f: Function, plan: Plan) -> _Bases:
    memory = Memory(f, plan)
    a = b = ""
    match plan.packs_a:
        case Packing.BLOCK:
            a = memory.own(BLOCK_A, "%thread")
        case Packing.WHOLE:
            a = memory.shared(PACKED_A)
        case _:
            pass
    match plan.packs_b:
        case Packing.BLOCK:
            b = memory.own(BLOCK_B, "%thread")
        case Packing.WHOLE:
            b = memory.shared(PACKED_B)
        case Packing.BEFOREHAND:
            b = memory.pointer(memory.layout.packed_b_at)
        case _:
            pass
    if plan.threads.k > 1:
        return _Bases(a, b, memory.shared(PARTIALS))
    if sums_buffer(plan) is not None:
        return _Bases(a, b, memory.own(SUMS, "%thread"))
    return _Bases(a, b, f.op(f"alloca [{tile_bytes(plan)} x i8], align {LINE}"))


@contextmanager
def _matrices(f: Function, plan: Plan, units: Range) -> Generator[Matrix]:
    """Yield each matrix of a batch that the thread has rows of."""
    if plan.problem.batch == 1:
        yield Matrix(0, units, 0, plan.problem.m)
        return
    first, last = f.div(units.low, plan.tiles_m), f.div(f.sub(units.high, 1), plan.tiles_m)
    with f.loop(first, f.add(last, 1), enters=True) as loop:
        before = f.mul(loop.index, plan.tiles_m)
        low, high = f.max(f.sub(units.low, before), 0), f.min(f.sub(units.high, before), plan.tiles_m)
        yield Matrix(loop.index, Range(low, high), 0, plan.problem.m)


@dataclass(frozen=True)
class _Nest:
    """Loops of one thread over one matrix while they are written: `ranges` of tiles and K blocks, `open` blocks."""

    f: Function
    plan: Plan
    bases: _Bases
    place: Place
    matrix: Matrix
    ranges: dict[str, Range]
    open: dict[str, Range] = field(default_factory=dict[str, Range])

    @property
    def memory(self) -> Memory:
        """Addresses."""
        return Memory(self.f, self.plan)

    def row(self, tile: Value) -> Value:
        """Return the first row of a tile, in the matrices of A and C."""
        return self.f.add(self.matrix.first_row, self.f.mul(tile, self.plan.mr))

    @property
    def k(self) -> Value:
        """The K block."""
        return self.open["k"].low

    @property
    def depth(self) -> Value:
        """Its depth."""
        return self.memory.depth_of(self.k)


def _write_blocks(nest: _Nest, order: tuple[str, ...]) -> None:
    """Write the o loops that are not open yet."""
    if not order:
        _write_tiles(nest)
        return
    along, *inside = order
    with _blocks(nest, along) as block:
        nest.open[along] = block
        if nest.plan.packs_a is Packing.BLOCK and along in "mk" and {"m", "k"} <= set(nest.open):
            _pack_block_of_a(nest)
        packs_b = nest.plan.packs_b is Packing.BLOCK and not nest.plan.copies_in_tiles
        if packs_b and along in "nk" and {"n", "k"} <= set(nest.open):
            _pack_block_of_b(nest)
        _write_blocks(nest, tuple(inside))
        del nest.open[along]


@contextmanager
def _blocks(nest: _Nest, along: str) -> Generator[Range]:
    """Yield each block of the thread's range: tiles, or for K the block's number."""
    f, plan, whole = nest.f, nest.plan, nest.ranges[along]
    if rounds(plan, along) == 1:
        yield whole
        return
    step = {"m": block_tiles_m(plan), "n": block_tiles_n(plan), "k": 1}[along]
    with f.loop(whole.low, whole.high, step, enters=True) as loop:
        yield Range(loop.index, f.min(f.add(loop.index, step), whole.high))


def _pack_block_of_a(nest: _Nest) -> None:
    f, plan, tiles = nest.f, nest.plan, nest.open["m"]
    with f.loop(tiles.low, tiles.high, enters=True) as tile:
        source = nest.memory.element_a(nest.matrix.number, nest.row(tile.index), f.mul(nest.k, plan.block.k))
        panel = f.at(nest.bases.a, f.mul(f.sub(tile.index, tiles.low), plan.panel_bytes_a(plan.block.k)))
        left = f.sub(nest.matrix.rows, f.mul(tile.index, plan.mr))
        f.call("void", PACK_A, [("ptr", source), ("ptr", panel), ("i64", left), ("i64", nest.depth)])


def _pack_block_of_b(nest: _Nest) -> None:
    f, plan, tiles = nest.f, nest.plan, nest.open["n"]
    with f.loop(tiles.low, tiles.high, enters=True) as tile:
        panel = f.at(nest.bases.b, f.mul(f.sub(tile.index, tiles.low), plan.panel_bytes_b(plan.block.k)))
        write_pack_b(f, plan, nest.matrix.number, tile.index, nest.k, panel)


def _write_tiles(nest: _Nest) -> None:
    """Write the i loops over the tiles of a block."""
    f, m, n = nest.f, nest.open["m"], nest.open["n"]
    along_m = nest.plan.config.matmul.loop_order.innermost_along_m
    outer, inner = (n, m) if along_m else (m, n)
    with (
        f.loop(outer.low, outer.high, enters=True) as slow,
        f.loop(inner.low, inner.high, enters=True) as fast,
    ):
        _write_tile(nest, *((fast.index, slow.index) if along_m else (slow.index, fast.index)))


def _write_tile(nest: _Nest, tile_m: Value, tile_n: Value) -> None:
    """Write the call of the micro-kernel of the tile's size."""
    f, plan = nest.f, nest.plan
    a, b, sums = _panel_of_a(nest, tile_m), _panel_of_b(nest, tile_n), _sums_of(nest, tile_m, tile_n)
    first, last = _first_and_last(nest)
    arguments = [
        ("ptr", "%arguments"),
        ("ptr", a),
        ("ptr", b),
        ("ptr", sums),
        ("i64", nest.depth),
        ("i1", first),
        ("i1", last),
        ("i64", nest.matrix.number),
        ("i64", nest.row(tile_m)),
        ("i64", f.mul(tile_n, plan.nr)),
    ]

    if (panel := next_panel(plan)) is not None:
        following = _next_columns(nest, panel, tile_n) if panel.in_memory else f.at(b, panel.distance)
        arguments.append(("ptr", panel.begin(f, following, f.sub(tile_m, nest.open["m"].low))))
    if plan.copies_in_tiles:
        arguments.append(("ptr", _columns_of_b(nest, tile_n, nest.k)))

    def call_tile(rows: int, columns: int, *, copies: bool) -> tuple[()]:
        return _done(f.call("void", tile_name(rows, columns, copies=copies), arguments))

    def call(rows: int, columns: int) -> None:
        if rows not in copying_heights(plan):
            call_tile(rows, columns, copies=False)
            return
        # A panel that blocks over M follow is packed once.
        of_panel = nest.ranges["m"] if blocks_in_order(plan)[-1] == "m" else nest.open["m"]
        f.either(
            f.compare("eq", tile_m, of_panel.low), (),
            lambda: call_tile(rows, columns, copies=True), lambda: call_tile(rows, columns, copies=False),
        )  # fmt: skip

    if plan.problem.experts is None:
        write_by_size(f, plan, tile_m, tile_n, call)
        return
    rows = f.min(f.sub(nest.matrix.rows, f.mul(tile_m, plan.mr)), plan.mr)
    arguments.append(("i64", rows))
    every = heights(plan)

    def of_height(height: int) -> None:
        write_by_width(f, plan, tile_n, lambda columns: call(height, columns))

    f.choose(f.div(f.sub(rows, 1), every[0]), [lambda h=height: of_height(h) for height in every])


def write_by_size(f: Function, plan: Plan, tile_m: Value, tile_n: Value, write: Callable[[int, int], object]) -> None:
    """Write the code of a tile once for each tile size."""

    def of_rows(rows: int) -> tuple[()]:
        write_by_width(f, plan, tile_n, lambda columns: write(rows, columns))
        return ()

    _write_either(f, tile_m, plan.tiles_m - 1, plan.last_rows, plan.mr, of_rows)


def write_by_width(f: Function, plan: Plan, tile_n: Value, write: Callable[[int], object]) -> None:
    """Write the code of a tile once for each number of columns."""
    _write_either(f, tile_n, plan.tiles_n - 1, plan.last_columns, plan.nr, lambda columns: _done(write(columns)))


def _done(_: object) -> tuple[()]:
    return ()


def _write_either(
    f: Function, tile: Value, last: int, last_size: int, size: int, write: Callable[[int], tuple[()]]
) -> None:
    if last == 0 or last_size == size:
        write(last_size)
        return
    f.either(f.compare("eq", tile, last), (), lambda: write(last_size), lambda: write(size))


def _first_and_last(nest: _Nest) -> tuple[str, str]:
    """Return whether a K block is the first and the last of those that the thread sums."""
    f, plan, blocks = nest.f, nest.plan, nest.ranges["k"]
    once = rounds(plan, "k") == 1
    first = _TRUE if once else f.compare("eq", nest.k, blocks.low)
    if plan.threads.k > 1:
        return first, _FALSE
    return first, _TRUE if once else f.compare("eq", nest.k, f.sub(blocks.high, 1))


def _panel_of_a(nest: _Nest, tile: Value) -> str:
    f, plan = nest.f, nest.plan
    match plan.packs_a:
        case Packing.NONE:
            return nest.memory.element_a(nest.matrix.number, nest.row(tile), f.mul(nest.k, plan.block.k))
        case Packing.BLOCK:
            return _own_panel(nest, nest.bases.a, tile, nest.open["m"], plan.panel_bytes_a(plan.block.k))
        case _:
            return _shared_panel(nest, nest.bases.a, panels_of_a(plan), tile)


def _panel_of_b(nest: _Nest, tile: Value) -> str:
    plan = nest.plan
    match plan.packs_b:
        case Packing.NONE:
            return _columns_of_b(nest, tile, nest.k)
        case Packing.BLOCK:
            return _own_panel(nest, nest.bases.b, tile, nest.open["n"], plan.panel_bytes_b(plan.block.k))
        case _:
            return _shared_panel(nest, nest.bases.b, panels_of_b(plan), tile)


def _columns_of_b(nest: _Nest, tile: Value, k: Value) -> str:
    """Return the address in memory of a tile's columns of B, over a K block."""
    f, plan = nest.f, nest.plan
    column = plan.columns.first(f, f.mul(tile, plan.nr))
    return nest.memory.element_b(nest.matrix.number, f.mul(k, plan.block.k), column)


def _next_columns(nest: _Nest, panel: NextPanel, tile: Value) -> str:
    """Return the address in memory of the columns that the next block has in place of a tile's."""
    f, begin = nest.f, {along: block.low for along, block in nest.open.items()}
    steps = {"m": block_tiles_m(nest.plan), "n": block_tiles_n(nest.plan), "k": 1}
    following = next_block(f, panel.loops, begin, steps, nest.ranges)
    return _columns_of_b(nest, f.add(following["n"], f.sub(tile, begin["n"])), following["k"])


def _own_panel(nest: _Nest, base: str, tile: Value, block: Range, nbytes: int) -> str:
    return nest.f.at(base, nest.f.mul(nest.f.sub(tile, block.low), nbytes))


def _shared_panel(nest: _Nest, base: str, panels: Panels, tile: Value) -> str:
    return nest.f.at(base, panels.offset(nest.f, nest.matrix.number, nest.k, tile))


def _sums_of(nest: _Nest, tile_m: Value, tile_n: Value) -> str:
    """Return the address of a tile's sums between K blocks."""
    f, plan, each = nest.f, nest.plan, tile_bytes(nest.plan)
    if plan.threads.k > 1:
        entry = f.add(f.mul(nest.place.k, plan.problem.batch), nest.matrix.number)
        number = f.add(f.mul(f.add(f.mul(entry, plan.tiles_m), tile_m), plan.tiles_n), tile_n)
        return f.at(nest.bases.sums, f.mul(number, each))
    kept = sums_buffer(plan)
    if kept is None:
        return nest.bases.sums
    of_m = nest.ranges["m"] if kept.whole_m else nest.open["m"]
    of_n = nest.ranges["n"] if kept.whole_n else nest.open["n"]
    number = f.add(f.mul(f.sub(tile_m, of_m.low), kept.tiles_n), f.sub(tile_n, of_n.low))
    return f.at(nest.bases.sums, f.mul(number, each))
