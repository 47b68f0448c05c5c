"""The default configuration on a CPU: the four steps of the deep-tiled matmul document.

Source: DOC: deep-Tiled Matmul, "Config/Schedule": innermost, threads, block, loop order.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product

from codegen import GemmProblem, Refused
from codegen.config.cpu import CpuConfig, Isa, Packing
from codegen.cpu.isa import ISA_FACTS
from codegen.cpu.rules import (
    CpuCase,
    CpuProblem,
    check_cpu_problem,
    most_unrolled,
    refusal_on_cpu,
    registers_of,
)
from codegen.problem.experts import row_tiles
from codegen.xe.rules.sizes import ceil_div
from hal import DeviceSpec
from tuner.space.cpu.blocks import FEW_PAGES, with_blocks, with_order
from tuner.space.cpu.clocks import (
    TileShape,
    step_clocks,
    sweep_clocks,
)
from tuner.space.cpu.packing import (
    ROWS_AMX,
    multiply_with,
    reads_all_of_k,
    reads_rows_of_b,
    ways,
    ways_of_experts,
    ways_of_packed,
    why_packed,
)
from tuner.space.cpu.points import (
    DOTS,
    WHOLE,
    CpuPoint,
    config_of,
    is_dots,
    ranges_of,
    unit_of,
)
from tuner.space.step import HeuristicStep

_LINE_BYTES = 64
_JOIN_CLOCKS = 12_000  # to wake a thread and wait for it (assumed: about 4 us)
_MEMORY_BYTES_A_CLOCK = 4.0  # read by one core (assumed: about 12 GB/s per core when all read)
_STEPS_A_ROUND = 4
_MOST_CODE = 4096  # maximum number of accumulators over all steps of a round
_BEGUN = 0.25  # tiles by which a thread is late on average (assumed)
_PIECE_ROW_BYTES = 1024
_PIECE_CLOCKS = 10_000  # of multiplying, at least: about 4 us, many times the cost of taking a piece
_LINE_WEIGHT = 24  # of lines read to copy B, per row that uses it (fitted, as the following)
_FEWEST_USES = 32  # rows below which tiles of few rows are not better
_KEPT_DEFAULTS = 256  # of a process: a job, its trials, its page and rates of the CPU ask for the same one
_MOST_LINES = 4  # beyond which longer pieces of rows are not better
_EVEN_WEIGHT = 0.1  # of tiles that are a large part of C: they leave little to distribute


@dataclass(frozen=True, slots=True)
class CpuDefault:
    """The default configuration and the steps that led to it."""

    config: CpuConfig
    steps: tuple[HeuristicStep, ...]


def default_cpu_config(problem: GemmProblem, spec: DeviceSpec, *, beforehand: bool = False) -> CpuConfig:
    """Return the default configuration, legal and in the space; or that with B packed `beforehand`, of no space.

    Raises:
        Refused: the problem or the CPU is refused; or B cannot be packed beforehand.
    """
    return explain_cpu_default(problem, spec, beforehand=beforehand).config


@lru_cache(_KEPT_DEFAULTS)
def explain_cpu_default(problem: GemmProblem, spec: DeviceSpec, *, beforehand: bool = False) -> CpuDefault:
    """Return the default configuration, or the one with B packed `beforehand`, with the reason of each step.

    Raises:
        Refused: the problem or the CPU is refused.
    """
    given = check_cpu_problem(problem, spec)
    if not given.isas:
        raise Refused("isa", f"no instructions of {spec.name} multiply {problem.dtype_a.value}")
    cores, on = spec.cores or 1, as_batch(given)
    experts = problem.experts is not None
    tried = ways_of_packed(on, experts=experts) if beforehand else ways_of_experts(on) if experts else ways(on)
    point, why_tile = _innermost(on, cores, tried)
    point, why_threads = _threads(on, point, cores, experts=experts)
    point, why_blocks = with_blocks(on, point)
    point, why_order = with_order(on, point)
    point, why_pieces = _pieces(on, point)
    if experts:
        point = _of_any_expert(on, point, problem)
    config = config_of(given, point)
    refused = refusal_on_cpu(given, config)
    if refused is not None:
        raise refused
    c = config.matmul
    return CpuDefault(
        config,
        (
            HeuristicStep("innermost", f"{point.isa} {c.innermost}", why_tile),
            HeuristicStep("threads", str(c.threads), f"{why_threads}{why_pieces}"),
            HeuristicStep("block", str(c.block), why_blocks),
            HeuristicStep("loop order", c.loop_order.value, why_order),
        ),
    )


def as_batch(on: CpuProblem) -> CpuProblem:
    """Return experts as a batch of products with the mean rows of those that have rows; other problems as they are."""
    p = on.problem
    if p.experts is None:
        return on
    count, steps = p.read_experts, tuple(step for step in p.epilogue if step.axis is None and not step.is_matrix)
    rows = ceil_div(p.m, count)
    if rows > ROWS_AMX:
        rows = ceil_div(rows, ROWS_AMX) * ROWS_AMX
    alike = replace(p, m=rows, batch=count, experts=None, epilogue=steps, batch_stride_a=None,
                    batch_stride_c=None, lda=None if p.transpose_a else p.lda)  # fmt: skip
    return replace(on, problem=alike)


def _of_any_expert(on: CpuProblem, point: CpuPoint, problem: GemmProblem) -> CpuPoint:
    """Return the point with tile registers of all their rows, blocks of the mean rows where these are packed, and no
    more threads over rows than the experts have tiles.
    """
    if point.isa == Isa.AMX.value and point.tile_m < ROWS_AMX:
        point = point._replace(tile_m=min(ROWS_AMX, problem.m))
    there = row_tiles(problem.rows_of_experts, point.tile_m)
    if point.threads_m > there:
        threads = max(count for count in ranges_of(on, on.spec.cores or 1).threads_m if count <= there)
        point = point._replace(threads_m=threads, pieces=1)
    if point.pack_a == Packing.NONE.value or point.block_m != WHOLE:
        return point
    tiles = ceil_div(on.problem.m, point.tile_m)
    block = min((count for count in ranges_of(on, 1).block_m if count >= tiles), default=tiles)
    return point._replace(block_m=block if block * point.tile_m < problem.m else WHOLE)


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

    def clocks(tile: TileShape) -> tuple[float, float]:
        steps = sweep_clocks(isa, multiply, p.m, _vectors(on, p.n, dots), _of_vectors(on, tile, dots))
        uses = max(p.m, _FEWEST_USES)
        copying = _LINE_WEIGHT / uses * _pieces_of_rows(on, tile.n) if copies_rows else 0.0
        parts = _EVEN_WEIGHT * (tile.m / p.m + tile.n / p.n)
        return steps, 1 / tile.m + 1 / tile.n + parts + copying

    return sorted(tiles_of(on, isa, plain), key=clocks)


def _pieces_of_rows(on: CpuProblem, columns: int) -> float:
    """Return the cache lines of B per piece of a row that a panel copies together, aligned as the piece is."""
    p, line = on.problem, on.spec.line_bytes or _LINE_BYTES
    nbytes = columns * p.dtype_b.nbytes  # of 4-bit types, a row holds words of eight elements along K
    aligned = nbytes & -nbytes if p.pitch_b * p.dtype_b.nbytes % line == 0 else nbytes
    return line / min(aligned, _MOST_LINES * line)


def _vectors(on: CpuProblem, columns: int, dots: bool) -> int:
    """Return the columns of sums of both products; a column of dots is a whole vector of them."""
    return columns * on.problem.products * (16 if dots else 1)


def _of_vectors(on: CpuProblem, tile: TileShape, dots: bool) -> TileShape:
    return TileShape(tile.m, _vectors(on, tile.n, dots))


def _plain(on: CpuProblem, isa: Isa, pack_a: Packing, pack_b: Packing) -> CpuPoint:
    """Return the simplest point with these packings, for a tile yet to be chosen."""
    return CpuPoint(
        isa.value, 1, 16, 1, WHOLE, WHOLE, WHOLE, 1, 1, 1,
        pack_a.value, pack_b.value, "pmpnpk", "omonok", "iminik", 0, 1,
    )  # fmt: skip


def _innermost(on: CpuProblem, cores: int, ways: Iterable[tuple[Isa, Packing, Packing]]) -> tuple[CpuPoint, str]:
    """Choose the fastest instruction set, the packing, and the register tile with the least waste."""
    p = on.problem
    for isa, pack_a, pack_b in ways:
        plain = _plain(on, isa, pack_a, pack_b)
        tiles = best_tiles(on, plain)
        if not tiles:
            continue
        tile = _narrower(on, isa, tiles, cores)
        unit = unit_of(on, isa, dots=is_dots(on, isa.value, pack_b.value))
        unroll = next((u for u in (_STEPS_A_ROUND, 2) if _may_unroll(on, isa, tile, u * unit, u)), 1)
        clocks = step_clocks(isa, multiply_with(on, isa), tile.m, tile.n * p.products)
        why = (
            f"{isa.value} is the fastest of {', '.join(i.value for i in on.isas)} that multiplies {p.dtype_a.value}; "
            f"{tile.m}x{tile.n} sums stay in registers, {clocks:g} clocks a step of {unit} along K; "
            f"A packed: {pack_a.value}, B packed: {pack_b.value}{why_packed(on, pack_b)}"
        )
        return plain._replace(tile_m=tile.m, tile_n=tile.n, unroll=unroll), why
    raise Refused("no-configuration", f"no configuration of {p} is legal on {on.spec.name}")


def _may_unroll(on: CpuProblem, isa: Isa, tile: TileShape, depth: int, steps: int) -> bool:
    """Return whether that many steps, `depth` elements along K, make one round of the micro-kernel's loop."""
    fits = depth <= on.problem.k and steps * tile.m * tile.n <= _MOST_CODE
    return isa is not Isa.AMX and fits and steps <= most_unrolled(isa, multiply_with(on, isa))


def _narrower(on: CpuProblem, isa: Isa, tiles: list[TileShape], cores: int) -> TileShape:
    """Return the best tile, or among those not much slower the first that leaves every core a tile."""
    p, multiply = on.problem, multiply_with(on, isa)

    def clocks(tile: TileShape) -> float:
        return sweep_clocks(isa, multiply, p.m, _vectors(on, p.n, False), _of_vectors(on, tile, False))

    enough = [t for t in tiles if p.batch * ceil_div(p.m, t.m) * ceil_div(p.n, t.n) >= cores]
    return enough[0] if enough and clocks(enough[0]) <= cores * clocks(tiles[0]) else tiles[0]


def _threads(on: CpuProblem, point: CpuPoint, cores: int, *, experts: bool) -> tuple[CpuPoint, str]:
    """Choose the thread grid whose busiest thread has the least to compute and to read.

    Threads along M have rows of different `experts`, and so other B.
    """
    p = on.problem
    rows, columns = p.batch * ceil_div(p.m, point.tile_m), ceil_div(p.n, point.tile_n)
    unit = unit_of(on, Isa(point.isa), dots=is_dots(on, point.isa, point.pack_b))
    a_tile = step_clocks(Isa(point.isa), multiply_with(on, Isa(point.isa)), point.tile_m, point.tile_n * p.products)
    steps = ceil_div(p.k, unit)

    def clocks(grid: tuple[int, int, int]) -> float:
        m, n, k = grid
        over_m, over_n = _share(rows, m), _share(columns, n)
        tiles, depth = over_m * over_n, ceil_div(steps, k)
        a = over_m * point.tile_m * depth * unit * p.dtype_a.nbytes
        matrices = max(1.0, over_m * p.batch / rows) if experts else 1.0
        b = matrices * over_n * point.tile_n * p.products * depth * unit * p.dtype_b.bits / 8
        sums = over_m * point.tile_m * over_n * point.tile_n * 4 * (0 if k == 1 else 3)
        join = 0 if m * n * k == 1 else _JOIN_CLOCKS * (1 if k == 1 else 2)
        return tiles * depth * a_tile + (a + b + sums) / _MEMORY_BYTES_A_CLOCK + join

    ranges = ranges_of(on, cores)
    grids = [
        (m, n, k)
        for m, n, k in product(ranges.threads_m, ranges.threads_n, ranges.threads_k)
        if m * n * k <= cores
        and m <= rows
        and n <= columns
        and (k == 1 or (p.k >= 512 * k and not experts and not reads_all_of_k(on, point)))
        # Panels packed beforehand are read once; parts of K would only add sums.
        and (k == 1 or point.pack_b != Packing.BEFOREHAND.value or rows * columns < cores)
        # Threads along M would each copy all of B.
        and (m == 1 or experts or point.pack_b != Packing.BLOCK.value)
    ]
    m, n, k = min(grids, key=clocks)
    busiest = ceil_div(rows, m) * ceil_div(columns, n)
    why = (
        f"of {cores} cores {m * n * k} compute: the busiest has {busiest} of {rows * columns} tiles"
        f"{f', each over 1 / {k} of K' if k > 1 else ''}"
    )
    return point._replace(threads_m=m, threads_n=n, threads_k=k), why


def _share(tiles: int, threads: int) -> float:
    """Return the tiles of a thread: idle threads take over some of the busiest one's, except those already begun."""
    return min(float(ceil_div(tiles, threads)), max(1.0, tiles / threads + _BEGUN))


def _pieces(on: CpuProblem, point: CpuPoint) -> tuple[CpuPoint, str]:
    """Choose many pieces per thread, so that temporarily slow cores delay nobody."""
    if point.threads_m * point.threads_n * point.threads_k == 1:
        return point, ""
    p, isa, dots = on.problem, Isa(point.isa), is_dots(on, point.isa, point.pack_b)
    tile, columns = _of_vectors(on, TileShape(point.tile_m, point.tile_n), dots), _vectors(on, p.n, dots)
    steps = sweep_clocks(isa, multiply_with(on, isa), p.m, columns, tile) * ceil_div(p.k, unit_of(on, isa, dots=dots))
    nbytes = p.m * p.k * p.dtype_a.nbytes + p.columns_b * p.k * p.dtype_b.bits // 8
    part = p.batch * max(steps, nbytes / _MEMORY_BYTES_A_CLOCK)
    part /= point.threads_m * point.threads_n * point.threads_k
    # Pieces of rows of B that are read in place must be long enough for sequential reads.
    by_rows = point.pack_b == Packing.NONE.value and point.block_k == FEW_PAGES
    shortest = _PIECE_ROW_BYTES * point.threads_n // p.dtype_b.nbytes if by_rows else 0
    finer = [
        point._replace(pieces=count)
        for count in ranges_of(on, on.spec.cores or 1).pieces
        if count * _PIECE_CLOCKS <= part
        and count * shortest <= p.n
        and refusal_on_cpu(on, config_of(on, point._replace(pieces=count))) is None
    ]
    if len(finer) < 2:
        return point, ""
    return finer[-1], f"; each one's part is cut into {finer[-1].pieces} pieces, which those that are done take over"
