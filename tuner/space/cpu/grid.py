"""Threads over C and K in the default configuration, and the pieces into which their parts are cut."""

from itertools import product

from codegen import GemmProblem
from codegen.config.cpu import Isa, Packing
from codegen.cpu.rules import CpuProblem, refusal_on_cpu
from codegen.xe.rules.sizes import ceil_div
from tuner.space.cpu.blocks import FEW_PAGES
from tuner.space.cpu.clocks import TileShape, step_clocks, sweep_clocks
from tuner.space.cpu.packing import multiply_with, reads_all_of_k, rows_of_few_pages
from tuner.space.cpu.points import CpuPoint, config_of, is_dots, ranges_of, unit_of
from tuner.space.cpu.tiles import in_vectors, vectors_of

_JOIN_CLOCKS = 12_000  # to wake a thread and wait for it (assumed: about 4 us)
_MEMORY_BYTES_A_CLOCK = 4.0  # read by one core (assumed: about 12 GB/s per core when all read)
_RUN_BYTES = 8192  # of a row of B, for the walk to its pages and the start of prefetchers to be hidden
_RUN_CLOCKS = 200  # that these take (fitted)
_BEGUN = 0.25  # tiles by which a thread is late on average (assumed)
_PIECE_ROW_BYTES, _PIECE_ROW_BYTES_OF_ONE = 2048, 1024  # least length of a row of B in a piece; for one row of A
_PIECE_ROW_BYTES_AMX = 512  # of rows that are copied for tile registers, by two pieces at least
_PIECE_CLOCKS = 10_000  # of multiplying, at least: about 4 us, many times the cost of taking a piece


def with_threads(on: CpuProblem, point: CpuPoint, cores: int, *, experts: bool) -> tuple[CpuPoint, str]:
    """Choose the thread grid whose busiest thread has the least to compute and to read.

    Threads along M have rows of different `experts`, and so other B.
    """
    p = on.problem
    rows, columns = p.batch * ceil_div(p.m, point.tile_m), ceil_div(p.n, point.tile_n)
    unit = unit_of(on, Isa(point.isa), dots=is_dots(on, point.isa, point.pack_b))
    a_tile = step_clocks(Isa(point.isa), multiply_with(on, Isa(point.isa)), point.tile_m, point.tile_n * p.products)
    steps = ceil_div(p.k, unit)
    reads_rows = not p.transpose_b and point.pack_b in (Packing.NONE.value, Packing.BLOCK.value)

    def clocks(grid: tuple[int, int, int]) -> float:
        m, n, k = grid
        over_m, over_n = _share(rows, m), _share(columns, n)
        tiles, depth = over_m * over_n, ceil_div(steps, k)
        a = over_m * point.tile_m * depth * unit * p.dtype_a.nbytes
        matrices = max(1.0, over_m * p.batch / rows) if experts else 1.0
        b = matrices * over_n * point.tile_n * p.products * depth * unit * p.dtype_b.bits / 8
        sums = over_m * point.tile_m * over_n * point.tile_n * 4 * (0 if k == 1 else 3)
        join = 0 if m * n * k == 1 else _JOIN_CLOCKS * (1 if k == 1 else 2)
        runs = matrices * _runs_of_b(p, over_n * point.tile_n * p.products, depth * unit) if reads_rows else 0.0
        return tiles * depth * a_tile + (a + b + sums) / _MEMORY_BYTES_A_CLOCK + runs * _RUN_CLOCKS + join

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


def _runs_of_b(p: GemmProblem, columns: float, rows: int) -> float:
    """Return the runs in which a thread reads its piece of B: a long row takes several, short ones share one."""
    piece, pitch = (length * p.dtype_b.nbytes for length in (columns, p.pitch_b))
    return rows / p.dtype_b.packed * max(piece, min(pitch, _RUN_BYTES)) / _RUN_BYTES


def _share(tiles: int, threads: int) -> float:
    """Return the tiles of a thread: idle threads take over some of the busiest one's, except those already begun."""
    return min(float(ceil_div(tiles, threads)), max(1.0, tiles / threads + _BEGUN))


def with_pieces(on: CpuProblem, point: CpuPoint, given: CpuProblem) -> tuple[CpuPoint, str]:
    """Choose many pieces per thread, legal for what is given, so that temporarily slow cores delay nobody."""
    if point.threads_m * point.threads_n * point.threads_k == 1:
        return point, ""
    p, isa, dots = on.problem, Isa(point.isa), is_dots(on, point.isa, point.pack_b)
    tile, columns = in_vectors(on, TileShape(point.tile_m, point.tile_n), dots), vectors_of(on, p.n, dots)
    steps = sweep_clocks(isa, multiply_with(on, isa), p.m, columns, tile) * ceil_div(p.k, unit_of(on, isa, dots=dots))
    nbytes = p.m * p.k * p.dtype_a.nbytes + p.columns_b * p.k * p.dtype_b.bits // 8
    part = p.batch * max(steps, nbytes / _MEMORY_BYTES_A_CLOCK)
    part /= point.threads_m * point.threads_n * point.threads_k
    most = _most_pieces(on, point)
    finer = [
        point._replace(pieces=count)
        for count in ranges_of(on, on.spec.cores or 1).pieces
        if count <= most
        and count * _PIECE_CLOCKS <= part
        and refusal_on_cpu(given, config_of(given, point._replace(pieces=count))) is None
    ]
    if len(finer) < 2:
        return point, ""
    return finer[-1], f"; each one's part is cut into {finer[-1].pieces} pieces, which those that are done take over"


def _most_pieces(on: CpuProblem, point: CpuPoint) -> int:
    """Return the most pieces with rows of B long enough for sequential reads, where few rows are read at a time."""
    p, isa, pack_b = on.problem, Isa(point.isa), Packing(point.pack_b)
    row_bytes = p.n * p.dtype_b.nbytes // point.threads_n
    if pack_b is Packing.NONE and point.block_k == FEW_PAGES:
        return row_bytes // (_PIECE_ROW_BYTES_OF_ONE if p.m == 1 else _PIECE_ROW_BYTES)
    if pack_b is Packing.BLOCK and isa is Isa.AMX and rows_of_few_pages(on, isa) is not None:
        return max(2, row_bytes // _PIECE_ROW_BYTES_AMX)
    return p.m * p.n
