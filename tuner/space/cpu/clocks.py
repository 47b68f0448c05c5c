"""Clocks of the micro-kernel for one tile, from the issue rates of a core; operands are in L1 if nothing else is said.

Source: Intel 64 and IA-32 Architectures Optimization Reference Manual, chapters on Sapphire Rapids and AMX; AMD's
Software Optimization Guide for the Zen 5 Microarchitecture. Both issue two vector multiply-adds and two vector loads a
clock, with four clocks from one sum to the next; a tile multiply takes 16 clocks, a tile load 8.

Measured instead (docs/performance.md): 1.75 vector loads a clock; the loss of tiles with fewer than 12 sums, of which 8
should hide the four clocks; tile loads from L2, at 24 bytes a clock; and what operands cost beside the multiplications.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from codegen.config.cpu import Isa
from codegen.cpu.isa import ISA_FACTS, Multiply, products_of
from codegen.xe.rules.sizes import ceil_div

_MULTIPLIES_A_CLOCK, _LOADS_A_CLOCK = 2, 1.75
_LATENCY_CLOCKS = 4
_HIDING_SUMS, _MISSING_SUM_CLOCKS = 12, 0.15
_TILE_MULTIPLY_CLOCKS = 16
# Of AVX-512, where the second-level cache delivers panels of B while the next one is prefetched:
STREAMED_VECTORS, STREAMED_VECTORS_BESIDE = 3, 2  # that a step loads without waiting; beside more prefetches
STREAM_CLOCKS = 0.5  # for each one more
PACKED_VECTOR_CLOCKS = 4.0  # at least, for each vector of B that the first tile of rows packs: it is loaded and stored
KEPT_CLOCKS = 2.0  # for each vector but one, up to two, if a first tile leaves too few registers to load them early
CALL_CLOCKS = 60.0  # for each tile, to begin its loop over K and to end it
LINE_CLOCKS = 1.0  # for each cache line of a row of B [K, N] that is copied
PIECE_CLOCKS = 30.0  # for each piece of such a row instead, if the next ones are not kept in the second-level cache
SPLIT_LINE_CLOCKS = 12.0  # for each line of C that two tiles write, and row beside two on its page, if memory bounds C
_NOT_HIDDEN = 0.25  # share of tile loads and multiplies that could overlap but do not (assumed)


@dataclass(frozen=True, slots=True)
class TileShape:
    """Rows and columns of C that a micro-kernel holds in registers."""

    m: int
    n: int


@dataclass(frozen=True, slots=True)
class TileLoads:
    """Clocks of a load of a tile register with A, and with B."""

    a: float
    b: float


FROM_L1, FROM_L2 = 8.0, 43.0
BOTH_FROM_L1 = TileLoads(FROM_L1, FROM_L1)


def step_clocks(isa: Isa, multiply: Multiply, rows: int, columns: int, tile_loads: TileLoads = BOTH_FROM_L1) -> float:
    """Return the clocks of one step along K of a tile: one group of elements per lane, or one register of K for AMX."""
    if isa is Isa.AMX:
        over_m, over_n = ceil_div(rows, 16), ceil_div(columns, 16)
        products = products_of(multiply)
        loads_a, loads_b = (1 + sum(x != y for x, y in pairwise(parts)) for parts in zip(*products, strict=True))
        multiplies = len(products) * over_m * over_n * _TILE_MULTIPLY_CLOCKS
        loads = loads_a * over_m * tile_loads.a + loads_b * over_n * tile_loads.b
        return max(multiplies, loads) + _NOT_HIDDEN * min(multiplies, loads)
    vectors = ceil_div(columns, ISA_FACTS[isa].vector_bytes // 4)
    issued = rows * vectors * (2 if multiply is Multiply.S16 else 1)
    return max(issued / _MULTIPLIES_A_CLOCK, (rows + vectors) / _LOADS_A_CLOCK, float(_LATENCY_CLOCKS))


def wait_clocks(isa: Isa, multiply: Multiply, rows: int, columns: int) -> float:
    """Return the clocks of one step along K of a tile that has too few sums to hide that each waits for the last."""
    if isa is Isa.AMX or multiply is Multiply.S16:  # S16: only an addition, of one clock, waits for the sum before
        return 0.0
    sums = rows * ceil_div(columns, ISA_FACTS[isa].vector_bytes // 4)
    return _MISSING_SUM_CLOCKS * max(0, _HIDING_SUMS - sums)


def tile_sizes(length: int, tile: int) -> Iterator[tuple[int, int]]:
    """Yield the sizes of the tiles over a length, each with its count."""
    sizes = Counter({tile: length // tile})
    sizes[length % tile] += 1
    return ((size, count) for size, count in sizes.items() if size and count)


def sweep_clocks(
    isa: Isa,
    multiply: Multiply,
    m: int,
    n: int,
    tile: TileShape,
    tile_loads: TileLoads = BOTH_FROM_L1,
    *,
    waits: bool = True,
) -> float:
    """Return the clocks of one step along K for all tiles of an m x n block, on one core; `waits`: with those of tiles
    that have too few sums.
    """

    def clocks(rows: int, columns: int) -> float:
        waiting = wait_clocks(isa, multiply, rows, columns) if waits else 0.0
        return step_clocks(isa, multiply, rows, columns, tile_loads) + waiting

    return sum(
        times * count * clocks(rows, columns)
        for rows, times in tile_sizes(m, tile.m)
        for columns, count in tile_sizes(n, tile.n)
    )
