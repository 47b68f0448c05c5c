"""CPU configurations as values on axes, and the values of each axis for a problem."""

from itertools import permutations
from typing import NamedTuple

from codegen import Extent, LoopOrder, MatmulConfig
from codegen.config.cpu import (
    CpuConfig,
    CpuStrategy,
    Isa,
    Packing,
)
from codegen.cpu.isa import ISA_FACTS, Multiply, element_bytes, multiply_of
from codegen.cpu.rules import CpuProblem
from codegen.problem.gemm import DType
from codegen.xe.rules.sizes import ceil_div

WHOLE = 0
"""Value of a block that spans the problem."""
_COUNTS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
_DEPTHS = (16, 32, 64, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048)
_UNROLLS = (1, 2, 4, 8)
_PREFETCHES = (0, 1, 2, 4, 8, 16)
_TILES_AHEAD = (0, 1, 2, 4)
_PIECES = (1, 2, 4, 8)
DOTS = (1, 2, 3, 4, 6, 8)
"""Columns of a transposed B that are multiplied together if its rows are read in place."""


class CpuPoint(NamedTuple):
    """A value on every axis. Blocks over M and N are counted in tiles, `unroll` in steps of the instruction."""

    isa: str
    tile_m: int
    tile_n: int
    unroll: int
    block_m: int
    block_n: int
    block_k: int
    threads_m: int
    threads_n: int
    threads_k: int
    pack_a: str
    pack_b: str
    parallel: str  # order of the p loops
    blocks: str  # of the o loops
    inner: str  # of the i loops
    prefetch: int
    prefetch_tiles_n: int
    pieces: int


class CpuRanges(NamedTuple):
    """Values of every axis, in their natural order."""

    isa: tuple[str, ...]
    tile_m: tuple[int, ...]
    tile_n: tuple[int, ...]
    unroll: tuple[int, ...]
    block_m: tuple[int, ...]
    block_n: tuple[int, ...]
    block_k: tuple[int, ...]
    threads_m: tuple[int, ...]
    threads_n: tuple[int, ...]
    threads_k: tuple[int, ...]
    pack_a: tuple[str, ...]
    pack_b: tuple[str, ...]
    parallel: tuple[str, ...]
    blocks: tuple[str, ...]
    inner: tuple[str, ...]
    prefetch: tuple[int, ...]
    prefetch_tiles_n: tuple[int, ...]
    pieces: tuple[int, ...]


def unit_of(on: CpuProblem, isa: Isa, *, dots: bool) -> int:
    """Return the elements along K of one step of the micro-kernel."""
    p = on.problem
    if dots:
        return ISA_FACTS[isa].vector_bytes // p.dtype_a.nbytes
    multiply = multiply_of(p.dtype_a, p.dtype_b, isa, on.flags)
    return (64 if isa is Isa.AMX else 4) // element_bytes(multiply or Multiply.F32)


def is_dots(on: CpuProblem, isa: str, pack_b: str) -> bool:
    """Return whether vectors of rows of A are multiplied by those of stored rows of a transposed B in place."""
    return on.problem.transpose_b and pack_b == Packing.NONE.value and isa != Isa.AMX.value


def config_of(on: CpuProblem, point: CpuPoint) -> CpuConfig:
    """Return the configuration of a point; not yet checked."""
    p, isa = on.problem, Isa(point.isa)
    step = point.unroll * unit_of(on, isa, dots=is_dots(on, point.isa, point.pack_b))
    m = point.block_m or ceil_div(p.m, point.tile_m)
    n = point.block_n or ceil_div(p.n, point.tile_n)
    return CpuConfig(
        MatmulConfig(
            threads=Extent(point.threads_m, point.threads_n, point.threads_k),
            block=Extent(m * point.tile_m, n * point.tile_n, point.block_k or ceil_div(p.k, step) * step),
            innermost=Extent(point.tile_m, point.tile_n, step),
            loop_order=LoopOrder(f"{point.parallel}{point.blocks}{point.inner}"),
        ),
        CpuStrategy(
            isa,
            Packing(point.pack_a),
            Packing(point.pack_b),
            point.prefetch,
            point.prefetch_tiles_n,
            point.pieces,
        ),
    )


def point_of(on: CpuProblem, config: CpuConfig) -> CpuPoint:
    """Return the point of a configuration: blocks that span the problem are `WHOLE`."""
    p, c, s = on.problem, config.matmul, config.strategy
    tiles = c.innermost
    unit = unit_of(on, s.isa, dots=is_dots(on, s.isa.value, s.pack_b.value))
    order = c.loop_order.value
    return CpuPoint(
        isa=s.isa.value,
        tile_m=tiles.m,
        tile_n=tiles.n,
        unroll=max(1, tiles.k // unit),
        block_m=_counted(c.block.m, tiles.m, p.m),
        block_n=_counted(c.block.n, tiles.n, p.n),
        block_k=WHOLE if c.block.k >= p.k else c.block.k,
        threads_m=c.threads.m,
        threads_n=c.threads.n,
        threads_k=c.threads.k,
        pack_a=s.pack_a.value,
        pack_b=s.pack_b.value,
        parallel=order[:6],
        blocks=order[6:12],
        inner=order[12:],
        prefetch=s.prefetch_distance,
        prefetch_tiles_n=s.prefetch_tiles_n,
        pieces=s.pieces,
    )


def ranges_of(on: CpuProblem, cores: int) -> CpuRanges:
    """Return every value that may be legal."""
    p = on.problem
    threads = tuple(count for count in range(1, cores + 1) if cores % count == 0)
    isas = tuple(isa.value for isa in on.isas)
    lanes = min(ISA_FACTS[isa].vector_bytes // 4 for isa in on.isas)
    dots = tuple(columns for columns in DOTS if p.transpose_b and columns <= p.n)
    widest = ceil_div(p.n, lanes) * lanes
    a_in_place = not p.transpose_a or p.dtype_a in (DType.F32, DType.TF32)
    return CpuRanges(
        isa=isas,
        tile_m=tuple(range(1, min(p.m, 32) + 1)),
        tile_n=tuple(sorted({*dots, *range(lanes, min(widest, 24 * lanes) + 1, lanes)})),
        unroll=_UNROLLS,
        block_m=(WHOLE, *(count for count in _COUNTS if count < p.m)),
        block_n=(WHOLE, *(count for count in _COUNTS if count < p.n)),
        block_k=(WHOLE, *(depth for depth in _DEPTHS if depth < p.k)),
        threads_m=threads,
        threads_n=threads,
        threads_k=threads,
        pack_a=(*((Packing.NONE.value,) if a_in_place else ()), Packing.BLOCK.value, Packing.WHOLE.value),
        pack_b=(Packing.NONE.value, Packing.BLOCK.value, Packing.WHOLE.value),
        parallel=("pmpnpk", "pnpmpk") if cores > 1 else ("pmpnpk",),
        blocks=tuple(f"o{a}o{b}o{c}" for a, b, c in permutations("mnk")),
        inner=("iminik", "inimik"),
        prefetch=_PREFETCHES,
        prefetch_tiles_n=_TILES_AHEAD,
        pieces=_PIECES if cores > 1 else (1,),
    )


def reads_blocks_of_b(on: CpuProblem, point: CpuPoint) -> bool:
    """Return whether blocks of K of a B [K, N] are read in place."""
    return point.pack_b == Packing.NONE.value and not on.problem.transpose_b and point.block_k != WHOLE


def with_used_prefetch(on: CpuProblem, point: CpuPoint) -> CpuPoint:
    """Return the point without prefetches for tiles along N where these read other rows of B."""
    return point if reads_blocks_of_b(on, point) else point._replace(prefetch_tiles_n=0)


def _counted(block: int, tile: int, length: int) -> int:
    return WHOLE if block >= length else block // tile


def plain_blocks(on: CpuProblem, point: CpuPoint) -> str:
    """Return the o loops in the point's order, those that run once outermost: they then open before any packing."""
    p = on.problem
    once = {
        "m": point.block_m == WHOLE or ceil_div(p.m, point.tile_m) <= point.block_m,
        "n": point.block_n == WHOLE or ceil_div(p.n, point.tile_n) <= point.block_n,
        "k": point.block_k == WHOLE,
    }
    order = point.blocks[1::2]
    first = sorted((axis for axis in order if once[axis]), key="mnk".index)
    return "".join(f"o{axis}" for axis in (*first, *(axis for axis in order if not once[axis])))


def says_nothing(on: CpuProblem, point: CpuPoint) -> bool:
    """Return whether a point is a redundant form of a simpler one: blocks beyond the problem, orders of
    single loops.
    """
    p = on.problem
    if point.block_m * point.tile_m >= p.m or point.block_n * point.tile_n >= p.n or point.block_k >= p.k:
        return True
    one_row = ceil_div(p.m, point.tile_m) == 1 or point.block_m == 1
    one_column = ceil_div(p.n, point.tile_n) == 1 or point.block_n == 1
    if point.inner != "iminik" and (one_row or one_column):
        return True
    if point.parallel != "pmpnpk" and (point.threads_m == 1 or point.threads_n == 1):
        return True
    return point.blocks != plain_blocks(on, point)
