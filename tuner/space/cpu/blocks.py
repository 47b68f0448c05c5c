"""Blocks and the order of loops in the default configuration: what stays in which cache."""

from math import gcd

from codegen import GemmProblem
from codegen.config.cpu import Isa, Packing
from codegen.cpu.isa import Multiply, packed_bytes
from codegen.cpu.rules import CpuProblem
from codegen.xe.rules.sizes import ceil_div
from tuner.space.cpu.packing import (
    BLOCK_AMX,
    L2_BYTES,
    WAY_BYTES,
    bound_by_c,
    copies_panels_alone,
    keeps_panels_in_l1,
    line_bytes,
    lines_at_pitch,
    multiplies_few_rows_by_f32,
    multiply_with,
    passes_parts_of_a,
    reads_all_of_k,
    rows_of_few_pages,
    splits_elements,
)
from tuner.space.cpu.points import (
    WHOLE,
    CpuPoint,
    CpuRanges,
    is_dots,
    plain_blocks,
    ranges_of,
    reads_blocks_of_b,
    unit_of,
)

L1_BYTES = 32 * 1024  # if unknown: the least of CPUs with AVX2
_PANELS = 2  # times L1 that a panel of A and one of B may fill: B's is read in order, which hides the latency of L2
_BLOCK = 0.25  # of L2 for a block of A, and as much for its accumulators with a block of B, whose panels stream through
_ROWS_AND_PANELS = 0.8  # of L2 for all of A and two panels of a B [K, N], whose rows fill lines beside them
_PANEL_IN_L1 = 0.75  # of L1 for one panel of B whose rows L2 does not keep
_PANEL = 0.5  # of L2 for one panel of B that is used immediately
_PANELS_ALONE = 0.125  # of L2 for those that one core copies together for tile registers
_PANELS_OF_SHORT_K = 0.5  # of L2 for those that pass each tile's rows where memory bounds C
_FEWEST_ROWS_OF_PASSES = 4  # of a tile, whose products take as long as L2 needs for the panels that pass
_RUN_BYTES_OF_C = 1536  # of each row of C, at least, that their tiles write (fitted)
_BLOCK_OF_WHOLE_DEPTH = 0.5  # of L2 for a block of A over all of K, beside the panel of B in use and the next one
_FEWEST_ROWS_OF_BLOCK = 64  # of such a block, for each of which all of B is read again
_FEWEST_ROWS_OF_BLOCK_AMX = 128
_BLOCK_OF_PARTS, _ROWS_OF_PARTS = 0.4, 256  # of L2 for so many rows of A over a block of K, split into parts
_ROWS_OF_C = 0.5  # of those that L2 holds a line each of: a panel writes it, and the hardware prefetches the one beside
FEW_PAGES = 32  # rows of B read concurrently in place, each on its own page
_AHEAD = 4  # steps that are prefetched of operands in place, or tiles along N of rows of B in blocks of K
_AHEAD_IN_L1 = 2  # if A is in L1
_AHEAD_OF_FEW_ROWS, _AHEAD_OF_FEW_ROWS_AMX = 8, 2  # steps that are prefetched of panels packed beforehand
_FEW_TILES_OF_ROWS = 2  # of vectors, up to which products do not hide how long L2 takes for such panels
_DEPTH_OF_COLUMNS = 512  # of B, read in place for several tiles of rows of A
_COLUMNS = 8  # tiles of these columns, whose sums wait
_SUMS = 0.125  # of L2 for sums that wait for the next rows of B
_LONGER_FOR_C = "memory takes longer for C than multiplications over this K, so that rows of C are written in runs"


def with_blocks(on: CpuProblem, point: CpuPoint) -> tuple[CpuPoint, str]:
    """Choose the depth by L1, then rows and columns by L2; by L2 alone where it holds what is used at full depth."""
    p, spec, isa = on.problem, on.spec, Isa(point.isa)
    l1, l2 = spec.l1_bytes or L1_BYTES, spec.l2_bytes or L2_BYTES
    each = packed_bytes(multiply_with(on, isa))
    ranges = ranges_of(on, spec.cores or 1)
    step = point.unroll * unit_of(on, isa, dots=is_dots(on, point.isa, point.pack_b))
    rows, columns = ceil_div(p.m, point.tile_m), ceil_div(p.n, point.tile_n)
    width = point.tile_n * p.products
    deepest = _PANELS * l1 // (each * (point.tile_m + width))
    if point.pack_b == Packing.BLOCK.value:
        return _panels(on, point, ranges, step, each, deepest)
    if (found := _whole_depth(on, point, int(_BLOCK_OF_WHOLE_DEPTH * l2 / (each * p.k)))) is not None:
        return found
    if (found := _parts_of_depth(on, point, ranges, step, each)) is not None:
        return found
    # Operands that stream through once are not cut, nor are blocks of K that are a little too deep.
    in_l2 = p.m * p.k * p.dtype_a.nbytes <= _PANEL * l2
    in_place = point.pack_b == Packing.NONE.value
    streams = in_place and (rows == 1 or multiplies_few_rows_by_f32(p) or (p.transpose_b and in_l2))
    streams = streams or reads_all_of_k(on, point)
    depths = [d for d in ranges.block_k if d != WHOLE and d % step == 0 and d * point.threads_k <= p.k]
    depth = max((d for d in depths if d <= deepest), default=min(depths, default=WHOLE))
    if point.threads_k == 1 and (streams or p.k <= 1.5 * deepest):
        depth = WHOLE
    in_l1 = rows > 1 and p.k * p.columns_b * each <= l1
    if streams and not p.transpose_b and p.k > FEW_PAGES and not in_l1:
        return _rows_in_place(on, point, ranges, int(_SUMS * l2 / (4 * p.m)))
    if streams and is_dots(on, point.isa, point.pack_b) and not p.has_weights and p.m > 1:
        return _columns_in_place(on, point._replace(block_k=depth), rows, columns)
    deep = depth or p.k
    block_m = (
        WHOLE
        if streams
        else _evenly(ranges.block_m, rows, point.threads_m, int(_BLOCK * l2 / (point.tile_m * deep * each)))
    )
    tall = (block_m or rows) * point.tile_m
    most_n = int(_BLOCK * l2 / (point.tile_n * min(tall, p.m) * 4))
    block_n = WHOLE if streams else _evenly(ranges.block_n, columns, point.threads_n, most_n)
    wide = (block_n or columns) * point.tile_n
    why = (
        f"panels {deep} deep take {deep * each * (point.tile_m + width) / 1024:.0f} KiB, "
        f"L1 is {l1 / 1024:.0f} KiB; of L2's {l2 / 1024:.0f} KiB a block of A takes {tall * deep * each / 1024:.3g}, "
        f"and its sums with a block of B {tall * wide * 4 / 1024:.3g}"
    )
    point = point._replace(block_m=block_m, block_n=block_n, block_k=depth)
    if rows > 1 and not streams and in_place and deep > _rows_in_l1(on, l1):
        by_tiles = reads_blocks_of_b(on, point)
        point = point._replace(prefetch_tiles_n=_AHEAD) if by_tiles else point._replace(prefetch=_AHEAD)
    return point, why


def _rows_in_place(on: CpuProblem, point: CpuPoint, ranges: CpuRanges, most: int) -> tuple[CpuPoint, str]:
    """Choose a few rows of B at a time, and columns whose sums stay in L2: at most `most`."""
    p, columns = on.problem, ceil_div(on.problem.n, point.tile_n)
    fitting = max(1, most // point.tile_n)
    block_n = WHOLE
    if ceil_div(columns, point.threads_n) > fitting:
        block_n = _evenly(ranges.block_n, columns, point.threads_n, fitting)
    beside = 1 if p.m > 1 or p.dtype_b.nbytes == 2 else 0
    ahead = 0  # of bytes, whose rows a tile loads together to combine them
    if multiply_with(on, Isa(point.isa)) is Multiply.S8:
        ahead = 1 if p.m == 1 else 2
    sums = f"sums of {min(most, p.n)} columns stay in L2 until the next rows"
    why = f"{FEW_PAGES} rows of B at a time are read in place; {sums}"
    point = point._replace(block_m=WHOLE, block_n=block_n, block_k=FEW_PAGES)
    return point._replace(prefetch=ahead, prefetch_tiles_n=beside), why


def _columns_in_place(on: CpuProblem, point: CpuPoint, rows: int, columns: int) -> tuple[CpuPoint, str]:
    """Choose columns of B over a thread's K, or for several tiles of rows of f32 a depth that stays in L1."""
    point = point._replace(block_m=WHOLE, block_n=WHOLE, prefetch=_AHEAD)
    if rows == 1 or on.problem.dtype_b.nbytes < 4 or on.problem.k < 2 * _DEPTH_OF_COLUMNS * point.threads_k:
        return point, "columns of B are read in place and prefetched"
    block_n = _COLUMNS if columns > _COLUMNS else WHOLE
    point = point._replace(block_n=block_n, block_k=_DEPTH_OF_COLUMNS, prefetch=_AHEAD_IN_L1)
    return point, f"columns of B are read in place, {_DEPTH_OF_COLUMNS} deep: a tile of A stays in L1 while they pass"


def _rows_in_l1(on: CpuProblem, l1: int) -> int:
    """Return the rows of B read in place of which L1 holds a line each, by the sets that their pitch maps to."""
    p = on.problem
    return l1 // max(line_bytes(on), gcd(p.pitch_b * p.dtype_b.nbytes, WAY_BYTES))


def _whole_depth(on: CpuProblem, point: CpuPoint, most: int) -> tuple[CpuPoint, str] | None:
    """Choose blocks of up to `most` rows over all of K, which keep all sums in registers, if B is packed whole.

    None if so few rows fit that reading all of B again for each block would take longer.
    """
    p, amx, tiles = on.problem, point.isa == Isa.AMX.value, ceil_div(on.problem.m, point.tile_m)
    packed = point.pack_b in (Packing.WHOLE.value, Packing.BEFOREHAND.value)
    fewest = _FEWEST_ROWS_OF_BLOCK_AMX if amx else _FEWEST_ROWS_OF_BLOCK
    fitting = max(1, most // point.tile_m)
    # One tile reads B once.
    too_few = most < min(fewest, p.m) if amx or tiles == 1 else fitting * point.tile_m < fewest
    if not packed or point.threads_k > 1 or too_few:
        return None
    ranges, block_n = ranges_of(on, on.spec.cores or 1), WHOLE
    why = f"rows of A over all of K stay in L2, which has room for {most}"
    if bound_by_c(on, point):
        panels = max(1, most // (point.tile_n * p.products))  # a column of B is as long as a row of A
        block_n = _evenly(ranges.block_n, ceil_div(p.n, point.tile_n), point.threads_n, panels)
        why += f", as has for {panels} panels of B, which pass each tile's rows: {_LONGER_FOR_C}"
    else:
        why += "; panels of B pass, each prefetched"
        of_c = max(2 * fewest, int(_ROWS_OF_C * lines_at_pitch(on, p.pitch_c * p.dtype_c.nbytes)))
        alone = point.threads_m * point.threads_n == 1  # several threads read B again from a cache that they share
        if alone and of_c < min(most, p.m):
            fitting = of_c // point.tile_m
            why += f"; at most {of_c}, as rows of C share sets of L2"
    block_m = _fewest_blocks(ranges.block_m, tiles, point.threads_m, fitting)
    return point._replace(block_m=block_m, block_n=block_n, block_k=WHOLE), why


def _parts_of_depth(
    on: CpuProblem, point: CpuPoint, ranges: CpuRanges, step: int, each: int
) -> tuple[CpuPoint, str] | None:
    """Choose blocks of K of which a block of rows, split into parts, stays in L2; None for whole elements."""
    p, l2 = on.problem, on.spec.l2_bytes or L2_BYTES
    if not splits_elements(on, Isa(point.isa)) or point.threads_k > 1:
        return None
    deepest = int(_BLOCK_OF_PARTS * l2 / (each * _ROWS_OF_PARTS))
    legal = [d for d in ranges.block_k if d != WHOLE and d % step == 0]
    depth = max((d for d in legal if d <= deepest), default=min(legal, default=WHOLE)) if p.k > deepest else WHOLE
    deep = depth or p.k
    fitting = max(1, int(_BLOCK_OF_PARTS * l2 / (each * deep)) // point.tile_m)
    block_m = _fewest_blocks(ranges.block_m, ceil_div(p.m, point.tile_m), point.threads_m, fitting)
    why = f"{deep} of the {p.k} columns of {fitting * point.tile_m} rows of A, split into parts, stay in L2"
    return point._replace(block_m=block_m, block_n=WHOLE, block_k=depth), why


def _fewest_blocks(counts: tuple[int, ...], tiles: int, threads: int, most: int) -> int:
    """Return the tiles of a block, at most `most`: as few blocks of a thread as that allows, about equal ones."""
    of_thread = ceil_div(tiles, threads)
    if of_thread <= most:
        return WHOLE
    fitting = [count for count in counts if WHOLE < count <= most]
    blocks = ceil_div(of_thread, max(fitting))
    return min(count for count in fitting if ceil_div(of_thread, count) == blocks)


def _panels(
    on: CpuProblem, point: CpuPoint, ranges: CpuRanges, step: int, element_bytes: int, deepest_in_l1: int
) -> tuple[CpuPoint, str]:
    """Choose all rows of A, and one panel of B as deep as L2 allows, or L1 if all of A and two panels exceed their
    part of L2; several if one core copies them, which reads B in longer runs.
    """
    p, isa, l2 = on.problem, Isa(point.isa), on.spec.l2_bytes or L2_BYTES
    row_bytes = element_bytes * point.tile_n * p.products
    room = l2 if p.transpose_b or isa is Isa.AMX else _ROWS_AND_PANELS * l2
    rows = ceil_div(p.m, point.threads_m) if p.batch == 1 else p.m
    exceeds = ceil_div(p.k, point.threads_k) * (element_bytes * rows + 2 * row_bytes) > room
    deepest = int(_PANEL * l2 / row_bytes)
    shares, parts = keeps_panels_in_l1(on, isa), passes_parts_of_a(on, isa)
    if shares:
        deepest = deepest_panel_in_l1(on, row_bytes)
    elif parts:
        deepest = min(deepest, int(BLOCK_AMX * l2 / (element_bytes * rows)))
    elif exceeds:
        deepest = min(deepest, deepest_in_l1)
    legal = [d for d in ranges.block_k if d != WHOLE and d % step == 0 and d * point.threads_k <= p.k]
    depth = max((d for d in legal if d <= deepest), default=min(legal, default=WHOLE))
    if point.threads_k == 1 and p.k <= deepest and not (parts and exceeds):
        depth = WHOLE
    few = rows_of_few_pages(on, isa)
    if few is not None and few < (depth or p.k) and (some := [d for d in legal if d <= few]):
        why = "panels of B {} deep, whose rows lie on few pages, are copied one after the other, used by all rows"
        return _of_panels(p, point, max(some), 1), why.format(max(some))
    panel_bytes = row_bytes * (depth or p.k)
    most = int(_PANELS_ALONE * l2 / panel_bytes) if copies_panels_alone(on, isa) else 1
    count = max((count for count in ranges.block_n if count <= most), default=WHOLE) or 1
    bound = bound_by_c(on, point)
    if bound:
        count = max(count, _panels_of_run(on, point, ranges, int(_PANELS_OF_SHORT_K * l2 / panel_bytes)))
    panels = "a panel of B, {} deep, is" if count == 1 else f"{count} panels of B, {{}} deep, are"
    why = f"{panels.format(depth or p.k)} copied to {'L1' if shares else 'L2'}, and used by all rows"
    if bound:
        why += f": {_LONGER_FOR_C}"
    elif shares:
        why += ": rows at its pitch share so few sets of L2 that those of the next panel would replace each other"
    elif parts:
        why += f"; L2 holds {depth or p.k} of the {p.k} columns of A beside panels, which all pass these first"
    elif exceeds:
        why += (
            f": all of A and two panels exceed the {room / 1024:.0f} KiB of L2 that they may fill, "
            "so that a panel and a tile's rows are to fit L1"
        )
    return _of_panels(p, point, depth, count), why


def _panels_of_run(on: CpuProblem, point: CpuPoint, ranges: CpuRanges, most: int) -> int:
    """Return the panels of a block, at most about `most`, whose columns are a long run of each row of C."""
    p, panels = on.problem, ceil_div(on.problem.n, point.tile_n)
    run = ceil_div(_RUN_BYTES_OF_C, point.tile_n * p.dtype_c.nbytes)
    blocks = max(1, ceil_div(panels, point.threads_n) // run)
    even = ceil_div(ceil_div(panels, point.threads_n), blocks)
    return _evenly(ranges.block_n, panels, point.threads_n, max(1, min(even, most))) or panels


def deepest_panel_in_l1(on: CpuProblem, row_bytes: int) -> int:
    """Return the depth up to which a panel of B with so many bytes for each element along K stays in L1."""
    return int(_PANEL_IN_L1 * (on.spec.l1_bytes or L1_BYTES) / row_bytes)


def _of_panels(p: GemmProblem, point: CpuPoint, depth: int, count: int) -> CpuPoint:
    return point._replace(block_m=WHOLE, block_n=count if count * point.tile_n < p.n else WHOLE, block_k=depth)


def _evenly(counts: tuple[int, ...], tiles: int, threads: int, most: int) -> int:
    """Return the tiles of a block: at most `most`, such that the blocks of a thread are about equal."""
    of_thread = ceil_div(tiles, threads)
    even = ceil_div(of_thread, ceil_div(of_thread, max(1, most)))
    if even >= tiles:
        return WHOLE
    return min((count for count in counts if even <= count < tiles), default=WHOLE)


def with_order(on: CpuProblem, point: CpuPoint) -> tuple[CpuPoint, str]:
    """Choose K innermost of the o loops, so that sums stay in L2; outermost for panels of rows of B that lie on few
    pages or are f32, so that a panel is followed by the one beside it, and for those that pass parts of A, so that a
    part stays in L2; rows innermost of the i loops, so that B stays in L1.
    """
    p = on.problem
    rows, columns = ceil_div(p.m, point.tile_m), ceil_div(p.n, point.tile_n)
    copied = point.pack_b == Packing.BLOCK.value
    # Panels, or columns in place, pass rows of A, which stay in L1 if these do not.
    passes = copied or (is_dots(on, point.isa, point.pack_b) and point.block_k != WHOLE)
    passes = passes or (bound_by_c(on, point) and point.tile_m >= _FEWEST_ROWS_OF_PASSES)
    several = rows > 1 and point.block_m != 1 and columns > 1 and point.block_n != 1 and not passes
    isa, rows_of_f32 = Isa(point.isa), p.dtype_b.bits == 32 and not p.transpose_b
    few_pages = rows_of_few_pages(on, isa) is not None or (rows_of_f32 and not keeps_panels_in_l1(on, isa))
    blocks = "onokom" if splits_elements(on, isa) else "omonok"
    if copied and (few_pages or passes_parts_of_a(on, isa)):
        blocks = "okomon"
    point = point._replace(
        blocks=blocks,
        inner="inimik" if several else "iminik",
        parallel="pnpmpk" if p.n > p.m and point.threads_m > 1 and point.threads_n > 1 else "pmpnpk",
    )
    point = point._replace(blocks=plain_blocks(on, point))
    kept = "each panel of B is used by all rows of a block" if several else "A stays in L1 while B passes"
    return point, f"{kept}; {_why_sums(point)}"


def with_prefetch(on: CpuProblem, point: CpuPoint) -> tuple[CpuPoint, str]:
    """Choose how far panels packed beforehand are prefetched, for several rows in up to two tiles of vectors, or one of
    tile registers.
    """
    amx = point.isa == Isa.AMX.value
    few = 1 < on.problem.m <= point.tile_m * (1 if amx else _FEW_TILES_OF_ROWS)
    if not few or point.pack_b != Packing.BEFOREHAND.value or on.problem.has_weights:
        return point, ""
    ahead = _AHEAD_OF_FEW_ROWS_AMX if amx else _AHEAD_OF_FEW_ROWS
    return point._replace(prefetch=ahead), "; few rows use B, which is prefetched"


def _why_sums(point: CpuPoint) -> str:
    if point.block_k == WHOLE:
        return "sums stay in registers"
    if point.blocks.index("ok") < point.blocks.index("on"):
        return "K outermost: the next panel is beside this one; sums of all columns wait for the next K block"
    return "sums of a block wait in L2 for its next K block"
