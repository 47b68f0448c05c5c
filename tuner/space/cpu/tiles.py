"""Register tiles of the micro-kernel in the default configuration: the one with the fewest clocks for all of C."""

from collections.abc import Iterator
from itertools import product
from math import gcd

from codegen.config.cpu import Isa, Packing
from codegen.cpu.isa import ISA_FACTS, Multiply, packed_bytes
from codegen.cpu.microkernel.tile_setup import ROW_BYTES
from codegen.cpu.nest.plan import GROUP_BYTES
from codegen.cpu.rules import CpuCase, CpuProblem, refusal_on_cpu, registers_of
from codegen.xe.rules.sizes import ceil_div
from tuner.space.cpu.blocks import L1_BYTES, deepest_panel_in_l1
from tuner.space.cpu.clocks import (
    BOTH_FROM_L1,
    CALL_CLOCKS,
    FROM_L1,
    FROM_L2,
    KEPT_CLOCKS,
    LINE_CLOCKS,
    PACKED_VECTOR_CLOCKS,
    PIECE_CLOCKS,
    SPLIT_LINE_CLOCKS,
    STREAM_CLOCKS,
    STREAMED_VECTORS,
    STREAMED_VECTORS_BESIDE,
    TileLoads,
    TileShape,
    step_clocks,
    sweep_clocks,
    tile_sizes,
)
from tuner.space.cpu.packing import (
    PAGE_BYTES,
    ROWS_AMX,
    bound_by_c,
    copies_panels_alone,
    keeps_panels_in_l1,
    line_bytes,
    multiplies_few_rows_by_f32,
    multiply_with,
    reads_rows_of_b,
    rows_of_few_pages,
    rows_share_sets,
    splits_elements,
)
from tuner.space.cpu.points import DOTS, CpuPoint, config_of, is_dots, ranges_of, unit_of

_LINE_WEIGHT = 6  # of lines read to copy B, per row that uses it (fitted, as the following)
_LINE_WEIGHT_AMX = 24  # the same for tile registers, during whose products less is prefetched
_SPLIT_LINE_WEIGHT = 500  # of a cache line of C that two tiles write, per step along K
_FEW_ROWS = 128  # that leave few clocks for each line of f32 rows of B, which is prefetched meanwhile
_FEWEST_USES = 32  # rows below which tiles of few rows are not better
_MOST_LINES = 4  # beyond which longer pieces of rows are not better
_PASS_OF_DOTS = 2  # weight of another pass over B that comes from memory, for dot products of stored rows
_EVEN_WEIGHT = 0.1  # of tiles that are a large part of C: they leave little to distribute


def tiles_of(on: CpuProblem, isa: Isa, plain: CpuPoint) -> Iterator[TileShape]:
    """Yield register tiles that fit, with the operands packed as in `plain`."""
    ranges = ranges_of(on, 1)
    lanes = ISA_FACTS[isa].vector_bytes // 4
    columns = DOTS if is_dots(on, plain.isa, plain.pack_b) else tuple(n for n in ranges.tile_n if n % lanes == 0)
    if reads_rows_of_b(isa, Packing(plain.pack_b)):
        columns = columns[:1]  # more read A less often, but more rows of B than the hardware expects
    if _streams_panels_of_tiles(on, isa, plain):
        columns = tuple(n for n in columns if PAGE_BYTES % (n * on.problem.products * ROW_BYTES) == 0)
    for m, n in product(ranges.tile_m, columns):
        case = CpuCase(on, config_of(on, _with_tile(plain._replace(isa=isa.value), TileShape(m, n))))
        need, have = registers_of(case)
        if need <= have and refusal_on_cpu(on, case.config) is None:
            yield TileShape(m, n)


def _streams_panels_of_tiles(on: CpuProblem, isa: Isa, plain: CpuPoint) -> bool:
    """Return whether one tile of rows reads panels that were packed for tile registers beforehand, each once.

    No step along K of such a panel should lie on two pages (measured, docs/cpu_kernels.md).
    """
    p, beforehand = on.problem, plain.pack_b == Packing.BEFOREHAND.value
    return isa is Isa.AMX and beforehand and p.m <= ROWS_AMX and not p.has_weights


def best_tiles(on: CpuProblem, plain: CpuPoint) -> list[TileShape]:
    """Return register tiles by the clocks of all of C with them, the squarest first on ties."""
    p, isa = on.problem, Isa(plain.isa)
    dots = is_dots(on, plain.isa, plain.pack_b)
    by_rows = plain.pack_b == Packing.NONE.value and multiplies_few_rows_by_f32(p)
    amx, unit = isa is Isa.AMX, unit_of(on, isa, dots=dots)
    weight = _LINE_WEIGHT_AMX if amx else _LINE_WEIGHT

    def clocks(tile: TileShape) -> tuple[float, float]:
        uses = max(p.m, _FEWEST_USES)
        copying = weight / uses * _pieces_of_rows(on, tile.n) if _copies_rows(on, plain) else 0.0
        copying += (
            0.0 if dots or amx else _SPLIT_LINE_WEIGHT * _splits_lines(on, tile.n) / (tile.n * ceil_div(p.k, unit))
        )
        parts = _EVEN_WEIGHT * (tile.m / p.m + tile.n / p.n)
        rows = p.m / ceil_div(p.m, tile.m) if by_rows else tile.m  # a pass over B for each tile of rows, however short
        passes = (_PASS_OF_DOTS if dots else 1) / rows + 1 / tile.n
        return clocks_of_step(on, plain, tile), passes + parts + copying

    return sorted(tiles_of(on, isa, plain), key=clocks)


def clocks_of_step(on: CpuProblem, plain: CpuPoint, tile: TileShape) -> float:
    """Return the clocks of one step along K for all of C on one core, with those that panels of B add."""
    p, isa, dots = on.problem, Isa(plain.isa), is_dots(on, plain.isa, plain.pack_b)
    columns, shape, loads = vectors_of(on, p.n, dots), in_vectors(on, tile, dots), _tile_loads(on, plain, tile)
    # Dots of more sums are no faster.
    steps = sweep_clocks(isa, multiply_with(on, isa), p.m, columns, shape, loads, waits=not dots)
    packs = plain.pack_b != Packing.NONE.value
    few = rows_of_few_pages(on, isa)
    short = few is not None and few < p.k and (rows_share_sets(on) or multiply_with(on, isa) is Multiply.S8)
    if isa in (Isa.AVX512, Isa.AVX512_F32) and packs and not short:
        steps += _panel_clocks(on, plain, tile)
    if not dots and isa is not Isa.AMX and bound_by_c(on, _with_tile(plain, tile)):
        steps += _split_clocks(on, isa, tile)
    return steps


def _split_clocks(on: CpuProblem, isa: Isa, tile: TileShape) -> float:
    """Return the clocks of a step that lines of C add which two tiles write, if a page has more than two rows."""
    p = on.problem
    rows_beside = max(0.0, PAGE_BYTES / (p.pitch_c * p.dtype_c.nbytes) - 2)
    lines = p.m * ceil_div(p.n, tile.n) if _splits_lines(on, tile.n) else 0
    return SPLIT_LINE_CLOCKS * rows_beside * lines / ceil_div(p.k, unit_of(on, isa, dots=False))


def _panel_clocks(on: CpuProblem, plain: CpuPoint, tile: TileShape) -> float:
    """Return the clocks of a step that panels add to multiplications, in either cache."""
    in_l1 = plain.pack_b == Packing.BLOCK.value and keeps_panels_in_l1(on, Isa(plain.isa))
    return _packing_clocks(on, plain, tile) + (_clocks_in_l1 if in_l1 else _clocks_in_l2)(on, plain, tile)


def _packing_clocks(on: CpuProblem, plain: CpuPoint, tile: TileShape) -> float:
    """Return the clocks that first tiles of rows add because they pack the panels."""
    isa, case = Isa(plain.isa), CpuCase(on, config_of(on, _with_tile(plain, tile)))
    if not case.plan.copies_in_tiles:
        return 0.0
    panels = _panels_of_vectors(on, isa, tile)
    first = step_clocks(isa, multiply_with(on, isa), tile.m, tile.n * on.problem.products)
    need, have = registers_of(case)
    keeps = KEPT_CLOCKS * min(panels[0][0] - 1, 2) if need + 1 >= have else 0.0
    return sum(count * (max(0.0, PACKED_VECTOR_CLOCKS * vectors - first) + keeps) for vectors, count in panels)


def _clocks_in_l1(on: CpuProblem, plain: CpuPoint, tile: TileShape) -> float:
    """Return the clocks that panels which stay in L1 add: to begin tiles, more often, and to copy pieces of rows."""
    p = on.problem
    unit = unit_of(on, Isa(plain.isa), dots=False)
    deepest = deepest_panel_in_l1(on, tile.n * p.products * GROUP_BYTES // unit)
    depth = p.k
    if p.k > deepest:
        depth = max((legal for legal in ranges_of(on, 1).block_k if 0 < legal <= deepest), default=deepest)
    longest = _MOST_LINES * line_bytes(on) // p.dtype_b.nbytes
    return _calls_clocks(on, tile, depth, unit) + PIECE_CLOCKS * p.products * ceil_div(p.n, min(tile.n, longest))


def _clocks_in_l2(on: CpuProblem, plain: CpuPoint, tile: TileShape) -> float:
    """Return the clocks that panels which stay in L2 add: to wait for wide ones, to begin tiles, and to copy rows of
    B [K, N].
    """
    p, isa = on.problem, Isa(plain.isa)
    few_rows = p.dtype_b.bits == 32 and _copies_rows(on, plain) and p.m <= _FEW_ROWS
    beside = few_rows or multiply_with(on, isa) is Multiply.S8
    streamed = STREAMED_VECTORS_BESIDE if beside else STREAMED_VECTORS
    wide = sum(count * max(0, vectors - streamed) for vectors, count in _panels_of_vectors(on, isa, tile))
    unit = unit_of(on, isa, dots=False)
    added = STREAM_CLOCKS * ceil_div(p.m, tile.m) * wide + _calls_clocks(on, tile, p.k, unit)
    if _copies_rows(on, plain):
        added += LINE_CLOCKS * unit / p.dtype_b.packed * _lines_of_row(on, tile.n)
    return added


def _calls_clocks(on: CpuProblem, tile: TileShape, depth: int, unit: int) -> float:
    """Return the clocks to begin and end the tiles of blocks `depth` deep, per step of `unit` elements along K."""
    return CALL_CLOCKS * ceil_div(on.problem.m, tile.m) * ceil_div(on.problem.n, tile.n) / ceil_div(depth, unit)


def _panels_of_vectors(on: CpuProblem, isa: Isa, tile: TileShape) -> list[tuple[int, int]]:
    """Return the vectors of the panels' rows, each with the count of such panels."""
    p, lanes = on.problem, ISA_FACTS[isa].vector_bytes // 4
    return [(ceil_div(size * p.products, lanes), count) for size, count in tile_sizes(p.n, tile.n)]


def _copies_rows(on: CpuProblem, plain: CpuPoint) -> bool:
    """Return whether rows of a B [K, N] are copied into panels, or bytes interleaved by each tile that reads them."""
    p, packs = on.problem, plain.pack_b in (Packing.BLOCK.value, Packing.WHOLE.value)
    return not p.transpose_b and (packs or (plain.pack_b == Packing.NONE.value and p.dtype_b.nbytes == 1))


def _splits_lines(on: CpuProblem, columns: int) -> bool:
    """Return whether tiles beside each other write to the same cache lines of C."""
    p, line = on.problem, line_bytes(on)
    nbytes = p.dtype_c.nbytes
    return p.pitch_c * nbytes % line != 0 or columns * nbytes % line != 0


def _lines_of_row(on: CpuProblem, columns: int) -> float:
    """Return the cache lines of a row of B that panels of so many columns touch; a line of two counts twice."""
    p, line = on.problem, line_bytes(on)
    begins = gcd(columns * p.dtype_b.nbytes, p.pitch_b * p.dtype_b.nbytes, line)
    pieces = (count * ((size * p.dtype_b.nbytes - begins) / line + 1) for size, count in tile_sizes(p.n, columns))
    return p.products * sum(pieces)


def _tile_loads(on: CpuProblem, plain: CpuPoint, tile: TileShape) -> TileLoads:
    """Return how long tile registers take to load if one core copies panels of B: a panel stays in L1, or the rows of A
    that panels pass, or neither.
    """
    p, isa = on.problem, Isa(plain.isa)
    panels_alone = plain.pack_b == Packing.BLOCK.value and copies_panels_alone(on, isa)
    if not panels_alone or rows_of_few_pages(on, isa) is not None or splits_elements(on, isa):
        return BOTH_FROM_L1
    width = (on.spec.l1_bytes or L1_BYTES) // (p.k * packed_bytes(multiply_with(on, isa)))
    b_stays, a_stays = tile.n * p.products <= width, tile.m <= width
    return TileLoads(FROM_L1 if a_stays and not b_stays else FROM_L2, FROM_L1 if b_stays else FROM_L2)


def _pieces_of_rows(on: CpuProblem, columns: int) -> float:
    """Return the cache lines of B per piece of a row that a panel copies together, aligned as the piece is."""
    p, line = on.problem, line_bytes(on)
    nbytes = columns * p.dtype_b.nbytes  # of 4-bit types, a row holds words of eight elements along K
    aligned = nbytes & -nbytes if p.pitch_b * p.dtype_b.nbytes % line == 0 else nbytes
    return line / min(aligned, _MOST_LINES * line)


def vectors_of(on: CpuProblem, columns: int, dots: bool) -> int:
    """Return the columns of sums of both products; a column of dots is a whole vector of them."""
    return columns * on.problem.products * (16 if dots else 1)


def in_vectors(on: CpuProblem, tile: TileShape, dots: bool) -> TileShape:
    return TileShape(tile.m, vectors_of(on, tile.n, dots))


def narrower(on: CpuProblem, plain: CpuPoint, tiles: list[TileShape], cores: int) -> TileShape:
    """Return the best tile, or among those not much slower the first that leaves every core a tile."""
    p, best = on.problem, tiles[0]
    enough = next((t for t in tiles if p.batch * ceil_div(p.m, t.m) * ceil_div(p.n, t.n) >= cores), best)
    return enough if clocks_of_step(on, plain, enough) <= cores * clocks_of_step(on, plain, best) else best


def _with_tile(plain: CpuPoint, tile: TileShape) -> CpuPoint:
    return plain._replace(tile_m=tile.m, tile_n=tile.n)
