"""Register tiles of the micro-kernel in the default configuration: the one with the fewest clocks for all of C."""

from collections.abc import Iterator
from itertools import product

from codegen.config.cpu import Isa, Packing
from codegen.cpu.isa import ISA_FACTS
from codegen.cpu.rules import CpuCase, CpuProblem, refusal_on_cpu, registers_of
from codegen.xe.rules.sizes import ceil_div
from tuner.space.cpu.blocks import L1_BYTES
from tuner.space.cpu.clocks import (
    BOTH_FROM_L1,
    FROM_L1,
    FROM_L2,
    TileLoads,
    TileShape,
    sweep_clocks,
    wait_factor,
)
from tuner.space.cpu.packing import (
    copies_panels_alone,
    multiplies_few_rows_by_f32,
    multiply_with,
    reads_rows_of_b,
    rows_of_few_pages,
)
from tuner.space.cpu.points import DOTS, CpuPoint, config_of, is_dots, ranges_of, unit_of

_LINE_BYTES = 64
_LINE_WEIGHT = 6  # of lines read to copy B, per row that uses it (fitted, as the following)
_LINE_WEIGHT_AMX = 24  # the same for tile registers, during whose products less is prefetched
_SPLIT_LINE_WEIGHT = 500  # of a cache line of C that two tiles write, per step along K
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
    for m, n in product(ranges.tile_m, columns):
        case = CpuCase(on, config_of(on, plain._replace(isa=isa.value, tile_m=m, tile_n=n)))
        need, have = registers_of(case)
        if need <= have and refusal_on_cpu(on, case.config) is None:
            yield TileShape(m, n)


def best_tiles(on: CpuProblem, plain: CpuPoint) -> list[TileShape]:
    """Return register tiles by the clocks of all of C with them, the squarest first on ties."""
    p, isa = on.problem, Isa(plain.isa)
    multiply = multiply_with(on, isa)
    dots = is_dots(on, plain.isa, plain.pack_b)

    packs = plain.pack_b in (Packing.BLOCK.value, Packing.WHOLE.value)
    copies_rows = not p.transpose_b and (packs or p.dtype_b.nbytes == 1)
    by_rows = plain.pack_b == Packing.NONE.value and multiplies_few_rows_by_f32(p)

    amx, unit = isa is Isa.AMX, unit_of(on, isa, dots=dots)
    weight = _LINE_WEIGHT_AMX if amx else _LINE_WEIGHT

    def clocks(tile: TileShape) -> tuple[float, float]:
        loads = _tile_loads(on, plain, tile)
        steps = sweep_clocks(isa, multiply, p.m, vectors_of(on, p.n, dots), in_vectors(on, tile, dots), loads)
        if not dots:  # where tiles with more sums are no faster
            steps *= wait_factor(isa, multiply, in_vectors(on, tile, dots))
        uses = max(p.m, _FEWEST_USES)
        copying = weight / uses * _pieces_of_rows(on, tile.n) if copies_rows else 0.0
        copying += (
            0.0 if dots or amx else _SPLIT_LINE_WEIGHT * _splits_lines(on, tile.n) / (tile.n * ceil_div(p.k, unit))
        )
        parts = _EVEN_WEIGHT * (tile.m / p.m + tile.n / p.n)
        rows = p.m / ceil_div(p.m, tile.m) if by_rows else tile.m  # a pass over B for each tile of rows, however short
        return steps, (_PASS_OF_DOTS if dots else 1) / rows + 1 / tile.n + parts + copying

    return sorted(tiles_of(on, isa, plain), key=clocks)


def _tile_loads(on: CpuProblem, plain: CpuPoint, tile: TileShape) -> TileLoads:
    """Return how long tile registers take to load if one core copies panels of B: a panel stays in L1, or the rows of A
    that panels pass, or neither.
    """
    p, isa = on.problem, Isa(plain.isa)
    panels_alone = plain.pack_b == Packing.BLOCK.value and copies_panels_alone(on, isa)
    if not panels_alone or rows_of_few_pages(on, isa) is not None:
        return BOTH_FROM_L1
    width = (on.spec.l1_bytes or L1_BYTES) // (p.k * p.dtype_a.nbytes)
    b_stays, a_stays = tile.n * p.products <= width, tile.m <= width
    return TileLoads(FROM_L1 if a_stays and not b_stays else FROM_L2, FROM_L1 if b_stays else FROM_L2)


def _pieces_of_rows(on: CpuProblem, columns: int) -> float:
    """Return the cache lines of B per piece of a row that a panel copies together, aligned as the piece is."""
    p, line = on.problem, on.spec.line_bytes or _LINE_BYTES
    nbytes = columns * p.dtype_b.nbytes  # of 4-bit types, a row holds words of eight elements along K
    aligned = nbytes & -nbytes if p.pitch_b * p.dtype_b.nbytes % line == 0 else nbytes
    return line / min(aligned, _MOST_LINES * line)


def _splits_lines(on: CpuProblem, columns: int) -> bool:
    """Return whether tiles beside each other write to the same cache lines of C."""
    p, line = on.problem, on.spec.line_bytes or _LINE_BYTES
    nbytes = p.dtype_c.nbytes
    return p.pitch_c * nbytes % line != 0 or columns * nbytes % line != 0


def vectors_of(on: CpuProblem, columns: int, dots: bool) -> int:
    """Return the columns of sums of both products; a column of dots is a whole vector of them."""
    return columns * on.problem.products * (16 if dots else 1)


def in_vectors(on: CpuProblem, tile: TileShape, dots: bool) -> TileShape:
    return TileShape(tile.m, vectors_of(on, tile.n, dots))


def narrower(on: CpuProblem, isa: Isa, tiles: list[TileShape], cores: int) -> TileShape:
    """Return the best tile, or among those not much slower the first that leaves every core a tile."""
    p, multiply = on.problem, multiply_with(on, isa)

    def clocks(tile: TileShape) -> float:
        return sweep_clocks(isa, multiply, p.m, vectors_of(on, p.n, False), in_vectors(on, tile, False))

    enough = [t for t in tiles if p.batch * ceil_div(p.m, t.m) * ceil_div(p.n, t.n) >= cores]
    return enough[0] if enough and clocks(enough[0]) <= cores * clocks(tiles[0]) else tiles[0]
