"""The default configuration on a CPU: the four steps of the deep-tiled matmul document.

Source: DOC: deep-Tiled Matmul, "Config/Schedule": innermost, threads, block, loop order.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product

from codegen import GemmProblem, Refused
from codegen.config.cpu import CpuConfig, Isa, Packing
from codegen.cpu.isa import ISA_FACTS, Multiply, multiply_of
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
from tuner.space.cpu.clocks import (
    TileShape,
    step_clocks,
    sweep_clocks,
)
from tuner.space.cpu.points import (
    DOTS,
    WHOLE,
    CpuPoint,
    config_of,
    is_dots,
    plain_blocks,
    ranges_of,
    unit_of,
)
from tuner.space.step import HeuristicStep

_L1_BYTES, _L2_BYTES = 32 * 1024, 1024 * 1024  # if unknown: the least of CPUs with AVX2, and a usual one
_LINE_BYTES = 64
_PANELS = 2  # times L1 that a panel of A and one of B may fill: B's is read in order, which hides the latency of L2
_BLOCK = 0.25  # of L2 for a block of A, and as much for its accumulators with a block of B, whose panels stream through
_JOIN_CLOCKS = 12_000  # to wake a thread and wait for it (assumed: about 4 us)
_MEMORY_BYTES_A_CLOCK = 4.0  # read by one core (assumed: about 12 GB/s per core when all read)
_STEPS_A_ROUND = 4
_MOST_CODE = 4096  # maximum number of accumulators over all steps of a round
_WAY_BYTES = 4096  # of L1, so that its index is within a page
_FEW_ROWS = 8  # rows that are multiplied with rows of B in place; half as many for types that combine four bytes
_FEW_ROWS_BY_DOTS = 16  # if columns of B are contiguous: a copy of them costs more
_FEW_ROWS_OF_WEIGHTS = 8  # of which weights are decoded in registers, once for each tile of rows
_SOME_ROWS = 512  # up to which a copy of all of B costs more than the panels gain
_SOME_ROWS_ALONE = 384  # the same for one core without AMX, which waits for no other one's panels
_BLOCK_AMX = 0.5  # of L2 for all of A: tile registers read it faster than L3 delivers it
_PANEL = 0.5  # of L2 for one panel of B that is used immediately
_BLOCK_OF_WHOLE_DEPTH = 0.5  # of L2 for a block of A over all of K, beside the panel of B in use and the next one
_FEWEST_ROWS_OF_BLOCK = 64  # of such a block, for each of which all of B is read again
_FEWEST_ROWS_OF_BLOCK_AMX = 128
_COPIED_ROWS_AMX, _COPIED_COLUMNS_AMX = 256, 1536  # at least, for one core to gain by a copy of A in a block
_COLUMNS_A_CORE = 64  # minimum, for threads that share no columns
_COLUMNS_A_CORE_AMX = 32
_ROWS_AMX = 16
_FEW_ROWS_BESIDE_AMX = 4  # rows above which tile registers gain more than reading B in place saves
_SMALL_B = 0.25  # of L2 for a row-major f32 B that is read in place: it stays there, and no thread waits for panels
_FEW_PAGES = 32  # rows of B read concurrently in place, each on its own page
# Pages of B that panels are copied from, by the rows of A up to which they are best.
_PAGES_OF_ROWS = {32: 64, 128: 256}
_PAGES_OF_ROWS_AMX = {48: 64, 128: 256}
_PAGE_BYTES = 4096
_PAGES_OF_TLB = 2048  # of the second level
_AHEAD = 4  # steps that are prefetched then: the next rows of B, which the hardware does not predict
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
    ways = _ways_of_packed(on, experts=experts) if beforehand else _ways_of_experts(on) if experts else _ways(on)
    point, why_tile = _innermost(on, cores, ways)
    point, why_threads = _threads(on, point, cores, experts=experts)
    point, why_blocks = _blocks(on, point)
    point, why_order = _order(on, point)
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
    if rows > _ROWS_AMX:
        rows = ceil_div(rows, _ROWS_AMX) * _ROWS_AMX
    alike = replace(p, m=rows, batch=count, experts=None, epilogue=steps, batch_stride_a=None,
                    batch_stride_c=None, lda=None if p.transpose_a else p.lda)  # fmt: skip
    return replace(on, problem=alike)


def _of_any_expert(on: CpuProblem, point: CpuPoint, problem: GemmProblem) -> CpuPoint:
    """Return the point with tile registers of all their rows, blocks of the mean rows where these are packed, and no
    more threads over rows than the experts have tiles.
    """
    if point.isa == Isa.AMX.value and point.tile_m < _ROWS_AMX:
        point = point._replace(tile_m=min(_ROWS_AMX, problem.m))
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
    if _reads_rows_of_b(isa, Packing(plain.pack_b)):
        columns = columns[:1]  # more read A less often, but more rows of B than the hardware expects
    for m, n in product(ranges.tile_m, columns):
        case = CpuCase(on, config_of(on, plain._replace(isa=isa.value, tile_m=m, tile_n=n)))
        need, have = registers_of(case)
        if need <= have and refusal_on_cpu(on, case.config) is None:
            yield TileShape(m, n)


def best_tiles(on: CpuProblem, plain: CpuPoint) -> list[TileShape]:
    """Return register tiles by the clocks of all of C with them, the squarest first on ties."""
    p, isa = on.problem, Isa(plain.isa)
    multiply = _multiply(on, isa)
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


def _multiply(on: CpuProblem, isa: Isa) -> Multiply:
    how = multiply_of(on.problem.dtype_a, on.problem.dtype_b, isa, on.flags)
    assert how is not None, "isas holds those that can"
    return how


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
        clocks = step_clocks(isa, _multiply(on, isa), tile.m, tile.n * p.products)
        why = (
            f"{isa.value} is the fastest of {', '.join(i.value for i in on.isas)} that multiplies {p.dtype_a.value}; "
            f"{tile.m}x{tile.n} sums stay in registers, {clocks:g} clocks a step of {unit} along K; "
            f"A packed: {pack_a.value}, B packed: {pack_b.value}{_why_packed(on, pack_b)}"
        )
        return plain._replace(tile_m=tile.m, tile_n=tile.n, unroll=unroll), why
    raise Refused("no-configuration", f"no configuration of {p} is legal on {on.spec.name}")


def _may_unroll(on: CpuProblem, isa: Isa, tile: TileShape, depth: int, steps: int) -> bool:
    """Return whether that many steps, `depth` elements along K, make one round of the micro-kernel's loop."""
    fits = depth <= on.problem.k and steps * tile.m * tile.n <= _MOST_CODE
    return isa is not Isa.AMX and fits and steps <= most_unrolled(isa, _multiply(on, isa))


def _narrower(on: CpuProblem, isa: Isa, tiles: list[TileShape], cores: int) -> TileShape:
    """Return the best tile, or among those not much slower the first that leaves every core a tile."""
    p, multiply = on.problem, _multiply(on, isa)

    def clocks(tile: TileShape) -> float:
        return sweep_clocks(isa, multiply, p.m, _vectors(on, p.n, False), _of_vectors(on, tile, False))

    enough = [t for t in tiles if p.batch * ceil_div(p.m, t.m) * ceil_div(p.n, t.n) >= cores]
    return enough[0] if enough and clocks(enough[0]) <= cores * clocks(tiles[0]) else tiles[0]


def _ways(on: CpuProblem) -> Iterator[tuple[Isa, Packing, Packing]]:
    """Yield instruction sets and packings, in the order in which they are tried."""
    p = on.problem
    few = p.m <= (_FEW_ROWS_BY_DOTS if p.transpose_b else _FEW_ROWS // (2 if p.dtype_b.nbytes == 1 else 1))
    if p.has_weights:
        few = p.transpose_b and p.m <= _FEW_ROWS_OF_WEIGHTS
    in_place = not p.transpose_a
    for isa in on.isas:
        if few and isa is not Isa.AMX and p.batch_stride_b != 0:
            # Each element of B is read once: a copy would cost more than it saves.
            if in_place:
                yield isa, Packing.NONE, Packing.NONE
            yield isa, Packing.BLOCK, Packing.NONE
        if isa is Isa.AMX and _few_rows_of_tiles(on):
            yield isa, Packing.WHOLE, Packing.NONE
        if few and isa is Isa.AMX and len(on.isas) > 1 and p.m <= _FEW_ROWS_BESIDE_AMX:
            continue
        separate = in_place and not _aliases(p.pitch_a * p.dtype_a.nbytes, p.m)
        if separate and isa is not Isa.AMX and _stays_in_place(on):
            yield isa, Packing.NONE, Packing.NONE
        if _takes_panels_of_b(on, isa):
            if separate:
                yield isa, Packing.NONE, Packing.BLOCK
            yield isa, Packing.WHOLE, Packing.BLOCK
        if separate and not _gains_by_copy(on, isa):
            yield isa, Packing.NONE, Packing.WHOLE
        yield isa, Packing.BLOCK, Packing.WHOLE


def _ways_of_packed(on: CpuProblem, *, experts: bool) -> Iterator[tuple[Isa, Packing, Packing]]:
    """Yield instruction sets and packings of A for a B packed beforehand; that of experts is not packed whole."""
    p = on.problem
    separate = not p.transpose_a and not _aliases(p.pitch_a * p.dtype_a.nbytes, p.m)
    for isa in on.isas:
        if isa is Isa.AMX and len(on.isas) > 1 and p.m <= _FEW_ROWS_BESIDE_AMX:
            continue
        if separate and not _gains_by_copy(on, isa):
            yield isa, Packing.NONE, Packing.BEFOREHAND
        # Each piece of a thread's columns would copy its own block.
        whole = p.m <= _SOME_ROWS and on.spec.cores != 1 and not experts
        yield isa, Packing.WHOLE if whole else Packing.BLOCK, Packing.BEFOREHAND


def _ways_of_experts(on: CpuProblem) -> Iterator[tuple[Isa, Packing, Packing]]:
    """Yield instruction sets and packings for experts of as many rows; nothing is packed whole."""
    p = on.problem
    few = p.transpose_b and p.m <= (_FEW_ROWS_OF_WEIGHTS if p.has_weights else _FEW_ROWS_BY_DOTS)
    separate = not p.transpose_a and not _aliases(p.pitch_a * p.dtype_a.nbytes, p.m)
    for isa in on.isas:
        if isa is Isa.AMX and _few_rows_of_tiles(on):
            yield isa, Packing.BLOCK, Packing.NONE
        if isa is Isa.AMX and few and len(on.isas) > 1 and p.m <= _FEW_ROWS_BESIDE_AMX:
            continue
        if few and isa is not Isa.AMX and not p.transpose_a:
            yield isa, Packing.NONE, Packing.NONE
        if separate:
            yield isa, Packing.NONE, Packing.BLOCK
        yield isa, Packing.BLOCK, Packing.BLOCK


def _few_rows_of_tiles(on: CpuProblem) -> bool:
    """Return whether tile registers of rows of B are faster than vectors, for one row if these decode 4 bits."""
    p = on.problem
    return p.transpose_b and p.m <= _ROWS_AMX and (p.m > 1 or p.dtype_b.bits == 4)


def _reads_rows_of_b(isa: Isa, pack_b: Packing) -> bool:
    """Return whether tile registers are loaded with stored rows of B."""
    return isa is Isa.AMX and pack_b is Packing.NONE


def _stays_in_place(on: CpuProblem) -> bool:
    """Return whether reading B in place is as fast: f32 rows, which need no interleaving, in L2 after the
    first pass.
    """
    p = on.problem
    in_l2 = p.k * p.columns_b * p.dtype_b.bits // 8 <= _SMALL_B * (on.spec.l2_bytes or _L2_BYTES)
    plain = p.dtype_b.bits == 32 and not p.transpose_b and not _aliases(p.pitch_b * p.dtype_b.nbytes, p.k)
    several = (on.spec.cores or 1) > 1  # one alone waits for nobody's panels
    return plain and in_l2 and p.batch == 1 and several


def _takes_panels_of_b(on: CpuProblem, isa: Isa) -> bool:
    """Return whether each panel of B is copied just before its use, for all rows at once."""
    p = on.problem
    a_bytes, l2 = p.m * p.k * p.dtype_a.nbytes, on.spec.l2_bytes or _L2_BYTES
    alone = on.spec.cores == 1 and isa is not Isa.AMX
    return (
        p.batch == 1
        and p.m <= (_SOME_ROWS_ALONE if alone else _SOME_ROWS)
        and p.n >= (_COLUMNS_A_CORE_AMX if isa is Isa.AMX else _COLUMNS_A_CORE) * (on.spec.cores or 1)
        and (isa is not Isa.AMX or a_bytes <= _BLOCK_AMX * l2)
    )


def _gains_by_copy(on: CpuProblem, isa: Isa) -> bool:
    """Return whether tile registers of one core load a packed A faster, by more than its copy takes."""
    p, alone = on.problem, on.spec.cores == 1
    return isa is Isa.AMX and alone and p.m >= _COPIED_ROWS_AMX and p.n >= _COPIED_COLUMNS_AMX


def _aliases(pitch_bytes: int, rows: int) -> bool:
    """Return whether rows at that distance map to one set of L1 and exceed its ways."""
    return pitch_bytes % _WAY_BYTES == 0 and rows > _FEW_ROWS


def _reads_all_of_k(on: CpuProblem, point: CpuPoint) -> bool:
    """Return whether weights, or rows of B in tile registers, are read in place: over all of K at once."""
    in_place = point.pack_b == Packing.NONE.value
    return in_place and (on.problem.has_weights or _reads_rows_of_b(Isa(point.isa), Packing(point.pack_b)))


def _why_packed(on: CpuProblem, pack_b: Packing) -> str:
    if pack_b is Packing.NONE and on.problem.m > _FEW_ROWS_BY_DOTS:
        return ", because all of B stays in L2 as it is"
    if pack_b is Packing.NONE:
        return f", because {on.problem.m} row{'' if on.problem.m == 1 else 's'} of A would not pay for a copy"
    if pack_b is Packing.BLOCK:
        return f", a panel at a time, which {on.problem.m} rows use while it is in L2"
    return f", which {on.problem.m} rows use again"


def _threads(on: CpuProblem, point: CpuPoint, cores: int, *, experts: bool) -> tuple[CpuPoint, str]:
    """Choose the thread grid whose busiest thread has the least to compute and to read.

    Threads along M have rows of different `experts`, and so other B.
    """
    p = on.problem
    rows, columns = p.batch * ceil_div(p.m, point.tile_m), ceil_div(p.n, point.tile_n)
    unit = unit_of(on, Isa(point.isa), dots=is_dots(on, point.isa, point.pack_b))
    a_tile = step_clocks(Isa(point.isa), _multiply(on, Isa(point.isa)), point.tile_m, point.tile_n * p.products)
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
        and (k == 1 or (p.k >= 512 * k and not experts and not _reads_all_of_k(on, point)))
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
    steps = sweep_clocks(isa, _multiply(on, isa), p.m, columns, tile) * ceil_div(p.k, unit_of(on, isa, dots=dots))
    nbytes = p.m * p.k * p.dtype_a.nbytes + p.columns_b * p.k * p.dtype_b.bits // 8
    part = p.batch * max(steps, nbytes / _MEMORY_BYTES_A_CLOCK)
    part /= point.threads_m * point.threads_n * point.threads_k
    # Pieces of rows of B that are read in place must be long enough for sequential reads.
    by_rows = point.pack_b == Packing.NONE.value and point.block_k == _FEW_PAGES
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


def _blocks(on: CpuProblem, point: CpuPoint) -> tuple[CpuPoint, str]:
    """Choose the depth by L1, then rows and columns by L2; for a panel of B used immediately, the depth by L2 alone."""
    p, spec, isa = on.problem, on.spec, Isa(point.isa)
    l1, l2 = spec.l1_bytes or _L1_BYTES, spec.l2_bytes or _L2_BYTES
    each = {Multiply.F32: 4, Multiply.S8: 1}.get(_multiply(on, isa), 2)
    ranges = ranges_of(on, spec.cores or 1)
    step = point.unroll * unit_of(on, isa, dots=is_dots(on, point.isa, point.pack_b))
    rows, columns = ceil_div(p.m, point.tile_m), ceil_div(p.n, point.tile_n)
    width = point.tile_n * p.products
    deepest = _PANELS * l1 // (each * (point.tile_m + width))
    if point.pack_b == Packing.BLOCK.value:
        return _one_panel(p, point, ranges.block_k, step, int(_PANEL * l2 / (each * width)))
    if (found := _whole_depth(on, point, rows, int(_BLOCK_OF_WHOLE_DEPTH * l2 / (each * p.k)))) is not None:
        return found
    # Operands that stream through once are not cut, nor are blocks of K that are a little too deep.
    in_l2 = p.m * p.k * p.dtype_a.nbytes <= _PANEL * l2
    streams = point.pack_b == Packing.NONE.value and (rows == 1 or (p.transpose_b and in_l2))
    streams = streams or _reads_all_of_k(on, point)
    depths = [d for d in ranges.block_k if d != WHOLE and d % step == 0 and d * point.threads_k <= p.k]
    depth = max((d for d in depths if d <= deepest), default=min(depths, default=WHOLE))
    if point.threads_k == 1 and (streams or p.k <= 1.5 * deepest):
        depth = WHOLE
    by_rows = streams and not p.transpose_b and p.k > _FEW_PAGES
    if by_rows:
        depth = _FEW_PAGES
        point = point._replace(prefetch=_AHEAD if p.m > 1 and p.dtype_b.nbytes == 4 else 0)
    deep = depth or p.k
    block_m = (
        WHOLE
        if streams
        else _evenly(ranges.block_m, rows, point.threads_m, int(_BLOCK * l2 / (point.tile_m * deep * each)))
    )
    tall = (block_m or rows) * point.tile_m
    block_n = WHOLE if streams else _evenly(
        ranges.block_n, columns, point.threads_n, int(_BLOCK * l2 / (point.tile_n * min(tall, p.m) * 4))
    )  # fmt: skip
    wide = (block_n or columns) * point.tile_n
    why = (
        f"panels {deep} deep take {deep * each * (point.tile_m + width) / 1024:.0f} KiB, "
        f"L1 is {l1 / 1024:.0f} KiB; of L2's {l2 / 1024:.0f} KiB a block of A takes {tall * deep * each / 1024:.3g}, "
        f"and its sums with a block of B {tall * wide * 4 / 1024:.3g}"
    )
    return point._replace(block_m=block_m, block_n=block_n, block_k=depth), why


def _whole_depth(on: CpuProblem, point: CpuPoint, tiles: int, most: int) -> tuple[CpuPoint, str] | None:
    """Choose blocks of up to `most` rows over all of K, which keep all sums in registers, if B is packed whole.

    None if so few rows fit that reading all of B again for each block would take longer.
    """
    amx, packed = point.isa == Isa.AMX.value, point.pack_b in (Packing.WHOLE.value, Packing.BEFOREHAND.value)
    fewest = min(_FEWEST_ROWS_OF_BLOCK_AMX if amx else _FEWEST_ROWS_OF_BLOCK, on.problem.m)
    if not packed or point.threads_k > 1 or most < fewest:
        return None
    of_thread, fitting = ceil_div(tiles, point.threads_m), max(1, most // point.tile_m)
    counts = (count for count in ranges_of(on, on.spec.cores or 1).block_m if count <= fitting)
    block = WHOLE if of_thread <= fitting else max(counts)
    why = f"rows of A over all of K stay in L2, which has room for {most}; panels of B pass, each prefetched"
    return point._replace(block_m=block, block_n=WHOLE, block_k=WHOLE), why


def _one_panel(
    p: GemmProblem, point: CpuPoint, depths: tuple[int, ...], step: int, deepest: int
) -> tuple[CpuPoint, str]:
    """Choose all rows and one panel of B at a time, as deep as L2 allows."""
    legal = [d for d in depths if d != WHOLE and d % step == 0 and d * point.threads_k <= p.k]
    depth = max((d for d in legal if d <= deepest), default=min(legal, default=WHOLE))
    if point.threads_k == 1 and p.k <= deepest:
        depth = WHOLE
    why = f"a panel of B, {depth or p.k} deep, is copied to L2, which has room for {deepest}, and used by all rows"
    if (
        (few := _rows_of_few_pages(p, point)) is not None
        and few < (depth or p.k)
        and (some := [d for d in legal if d <= few])
    ):
        depth = max(some)
        why = f"panels of B {depth} deep, whose rows lie on few pages, are copied one after the other, used by all rows"
    return point._replace(block_m=WHOLE, block_n=1 if point.tile_n < p.n else WHOLE, block_k=depth), why


def _rows_of_few_pages(p: GemmProblem, point: CpuPoint) -> int | None:
    """Return the depth over which rows of a B [K, N] are on pages that the TLB holds, more for more rows of A.

    Sums wait between blocks of K, so that more rows of A need deeper ones; None where deeper ones are better yet.
    """
    pages_of_rows = _PAGES_OF_ROWS_AMX if point.isa == Isa.AMX.value else _PAGES_OF_ROWS
    if p.transpose_b or p.m > max(pages_of_rows):
        return None
    pages = next(pages for rows, pages in sorted(pages_of_rows.items()) if p.m <= rows)
    of_page = max(1, _PAGE_BYTES // (p.pitch_b * p.dtype_b.nbytes)) * p.dtype_b.packed
    if p.m > min(pages_of_rows) and p.k <= _PAGES_OF_TLB * of_page:
        return None
    depth = pages * of_page
    group = p.quantization.group if p.quantization is not None else None
    return max(depth, group or 0)


def _evenly(counts: tuple[int, ...], tiles: int, threads: int, most: int) -> int:
    """Return the tiles of a block: at most `most`, such that the blocks of a thread are about equal."""
    of_thread = ceil_div(tiles, threads)
    even = ceil_div(of_thread, ceil_div(of_thread, max(1, most)))
    if even >= tiles:
        return WHOLE
    return min((count for count in counts if even <= count < tiles), default=WHOLE)


def _order(on: CpuProblem, point: CpuPoint) -> tuple[CpuPoint, str]:
    """Choose K innermost of the o loops, so that sums stay in L2; rows innermost of the i loops, so that B
    stays in L1.
    """
    p = on.problem
    rows, columns = ceil_div(p.m, point.tile_m), ceil_div(p.n, point.tile_n)
    several = rows > 1 and point.block_m != 1 and columns > 1 and point.block_n != 1
    panels = point.pack_b == Packing.BLOCK.value and _rows_of_few_pages(p, point) is not None
    point = point._replace(
        blocks="okomon" if panels else "omonok",
        inner="inimik" if several else "iminik",
        parallel="pnpmpk" if p.n > p.m and point.threads_m > 1 and point.threads_n > 1 else "pmpnpk",
    )
    point = point._replace(blocks=plain_blocks(on, point))
    sums = "sums of a block wait in L2 for its next K block" if point.block_k != WHOLE else "sums stay in registers"
    kept = "each panel of B is used by all rows of a block" if several else "A stays in L1 while B passes"
    return point, f"{kept}; {sums}"
