"""Clocks of the micro-kernel for one tile, from the issue rates of a core; operands are in L1 if nothing else is said.

Source: Intel 64 and IA-32 Architectures Optimization Reference Manual, chapters on Sapphire Rapids and AMX; AMD's
Software Optimization Guide for the Zen 5 Microarchitecture. Both issue two vector multiply-adds and two vector loads a
clock, with four clocks from one sum to the next; a tile multiply takes 16 clocks, a tile load 8.

Measured instead (docs/performance.md): 1.75 vector loads a clock; the loss of tiles with fewer than 12 sums, of which 8
should hide the four clocks; and tile loads from L2, at 24 bytes a clock.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from codegen.config.cpu import Isa
from codegen.cpu.isa import ISA_FACTS, Multiply
from codegen.xe.rules.sizes import ceil_div

_MULTIPLIES_A_CLOCK, _LOADS_A_CLOCK = 2, 1.75
_LATENCY_CLOCKS = 4
_HIDING_SUMS, _MISSING_SUM_CLOCKS = 12, 0.15
_TILE_MULTIPLY_CLOCKS = 16
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
        multiplies = over_m * over_n * _TILE_MULTIPLY_CLOCKS
        loads = over_m * tile_loads.a + over_n * tile_loads.b
        return max(multiplies, loads) + _NOT_HIDDEN * min(multiplies, loads)
    vectors = ceil_div(columns, ISA_FACTS[isa].vector_bytes // 4)
    issued = rows * vectors * (2 if multiply is Multiply.S16 else 1)
    return max(issued / _MULTIPLIES_A_CLOCK, (rows + vectors) / _LOADS_A_CLOCK, float(_LATENCY_CLOCKS))


def wait_factor(isa: Isa, multiply: Multiply, tile: TileShape) -> float:
    """Return the time of a tile's steps, whose sums may be too few, relative to `step_clocks`."""
    if isa is Isa.AMX or multiply is Multiply.S16:  # S16: only an addition, of one clock, waits for the sum before
        return 1.0
    sums = tile.m * ceil_div(tile.n, ISA_FACTS[isa].vector_bytes // 4)
    waits = _MISSING_SUM_CLOCKS * max(0, _HIDING_SUMS - sums)
    return 1 + waits / step_clocks(isa, multiply, tile.m, tile.n)


def tile_sizes(length: int, tile: int) -> Iterator[tuple[int, int]]:
    """Yield the sizes of the tiles over a length, each with its count."""
    sizes = Counter({tile: length // tile})
    sizes[length % tile] += 1
    return ((size, count) for size, count in sizes.items() if size and count)


def sweep_clocks(
    isa: Isa, multiply: Multiply, m: int, n: int, tile: TileShape, tile_loads: TileLoads = BOTH_FROM_L1
) -> float:
    """Return the clocks of one step along K for all tiles of an m x n block, on one core."""
    return sum(
        times * count * step_clocks(isa, multiply, rows, columns, tile_loads)
        for rows, times in tile_sizes(m, tile.m)
        for columns, count in tile_sizes(n, tile.n)
    )
