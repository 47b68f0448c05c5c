"""Packing of the operands in the default configuration, by instruction set, in the order in which ways are tried."""

from collections.abc import Iterator
from math import gcd

from codegen import DType, GemmProblem
from codegen.config.cpu import Isa, Packing
from codegen.cpu.isa import F32_FMA_PER_CLK, Multiply, multiply_of, packed_bytes, parts_of
from codegen.cpu.nest.plan import SUM_BYTES
from codegen.cpu.rules import CpuProblem
from codegen.xe.rules.sizes import ceil_div
from tuner.space.cpu.clocks import step_clocks
from tuner.space.cpu.points import CpuPoint, unit_of

L2_BYTES = 1024 * 1024  # if unknown: a usual one
WAY_BYTES = 4096  # of L1, so that its index is within a page
_FEW_ROWS = 8  # rows that are multiplied with rows of B in place; half as many for types that combine four bytes
_FEW_ROWS_F32 = 16  # of B [K, N], whose rows need no interleaving
_FEW_ROWS_BY_DOTS = 16  # if columns of B are contiguous: a copy of them costs more
_FEW_ROWS_OF_F16_BY_DOTS = 10  # the same of f16, which each tile of rows would widen again
_SHORTEST_DOTS = 20  # elements along K for each row but one: to transpose fewer costs less than to add a vector a sum
_FEW_ROWS_OF_WEIGHTS = 8  # of which weights are decoded in registers, once for each tile of rows
_SOME_ROWS = 512  # up to which a copy of all of B costs more than the panels gain
_PASSED_A = 0.7  # of L2 for all of A, as it is multiplied, which panels of B pass
_COLUMNS_OF_TILE_AMX = 32
BLOCK_AMX = 0.5  # of L2 for A, or a part of it along K: tile registers read it faster than L3 delivers it
_SOME_ROWS_BY_PARTS = 384  # the same as _SOME_ROWS for several threads that copy rows of B [K, N] for such parts
_COPIED_ROWS_AMX, _COPIED_COLUMNS_AMX = 256, 1536  # at least, for one core to gain by a copy of A in a block
_COLUMNS_A_CORE = 64  # minimum, for threads that share no columns
_COLUMNS_A_CORE_AMX = 32
ROWS_AMX = 16
# Rows of bf16 up to which B [K, N] is read in place by any instructions, and up to which memory bounds slow ones too:
# of B [N, K], and packed beforehand.
_FEW_ROWS_OF_PAIRS, _FEW_ROWS_OF_PAIRS_BY_DOTS, _FEW_ROWS_OF_PAIRS_PACKED = 4, 8, 16
_FEW_ROWS_BESIDE_AMX = 4  # rows above which tile registers gain more than reading B in place saves
PAGE_BYTES = 4096
_PAGES_OF_TLB = 2048  # of the second level
_DEEPEST_F32 = 1664  # elements along K of f32 panels for more than a few rows
# Pages of B that panels are copied from, by the rows of A up to which they are best.
_PAGES_OF_ROWS = {32: 64, 128: 256}
_PAGES_OF_ROWS_F32 = {48: 64, 128: 256}
_PAGES_OF_ROWS_IN_ONE_SET = {128: 64}  # of L1, which has room for few of them
_PAGES_OF_ROWS_AMX = {48: 64, 128: 256}
_PAGES_OF_ROWS_AMX_ALONE = {48: 64}
_LINE_BYTES = 64  # if unknown: that of all x86 CPUs with AVX2
# If unknown: of Skylake-SP and Sapphire Rapids (Intel 64 and IA-32 Architectures Optimization Reference Manual).
_WAYS_OF_L2 = 16
_SHARE_OF_SETS = 0.7  # of the rows of B for which L2 has a line each, up to which it keeps those prefetched beside A
_FEW_ROWS_OF_SETS = 48  # of A, up to which short panels cost more than lines read twice
# Of C, up to which hardware prefetches lines that follow. Its streams are one of each page, 32 in all (Intel 64 and
# IA-32 Architectures Optimization Reference Manual, L2 streamer); 64 are fitted.
_PAGES_OF_STREAMS = 64
_LINE_OF_C_CLOCKS = 40  # that memory takes to read and write a line of C (fitted)
_LINE_OF_SUMS_CLOCKS = 20  # of tile registers, which are stored before they become C (fitted)
_B_BESIDE_C = 0.5  # of the bytes of C
_MANY_THREADS = 8  # to wait for, and to read panels from whose caches
# Of L2 for a row-major f32 B that is read in place: it stays there, and no thread waits for panels.
_SMALL_B, _SMALL_B_OF_MANY_THREADS = 0.25, 0.5
_FEW_ROWS_OF_B = 80  # of f32, up to which memory takes longer for C than multiplications do
_LOSS_OF_PARTS = 1.17  # of the clocks of products of parts (fitted, as the following)
_PART_CLOCKS, _READ_PART_CLOCKS = 0.6, 0.3  # to split off a part of an element, and to read one of B packed before
_SUM_OF_PARTS_CLOCKS = 0.8  # for each element of C, whose sum is checked
_ROWS_OF_THREAD = 0.5  # of L2 for the rows of A of each of many threads, past which pass panels that it copied itself


def ways(on: CpuProblem, only: Isa | None = None) -> Iterator[tuple[Isa, Packing, Packing]]:
    """Yield instruction sets and packings, in the order in which they are tried; with `only`, those of that instruction
    set, also for shapes that another one multiplies faster.
    """
    p = on.problem
    few = p.m <= (_FEW_ROWS_BY_DOTS if p.transpose_b else _FEW_ROWS // (2 if p.dtype_b.nbytes == 1 else 1))
    if p.transpose_b and not _multiplies_by_tiles(on):  # with AMX not measured
        few = few and p.k >= _SHORTEST_DOTS * (p.m - 1)
    few = few or multiplies_few_rows_by_f32(p)
    if p.has_weights:
        few = p.transpose_b and p.m <= _FEW_ROWS_OF_WEIGHTS
    in_place = not p.transpose_a
    few_pairs, in_place_once = _has_few_rows_of_pairs(p), few and p.batch_stride_b != 0
    widens = few_pairs and in_place_once and not p.transpose_b  # rows of B in registers, which need no interleaving
    for isa in on.isas if only is None else (only,):
        if only is None and isa is Isa.AVX512_F32 and few_pairs and not widens:
            continue
        pairs = isa is Isa.AVX512_F32 and not widens and only is not isa
        if in_place_once and not (isa is Isa.AMX or pairs or _gains_by_widening_once(p, isa)):
            # Each element of B is read once: a copy would cost more than it saves.
            if in_place:
                yield isa, Packing.NONE, Packing.NONE
            yield isa, Packing.BLOCK, Packing.NONE
        if isa is Isa.AMX and _few_rows_of_tiles(on):
            yield isa, Packing.WHOLE, Packing.NONE
        if only is None and few and isa is Isa.AMX and len(on.isas) > 1 and p.m <= _FEW_ROWS_BESIDE_AMX:
            continue
        separate = _is_separate(on, isa)
        if separate and isa is not Isa.AMX and _stays_in_place(on):
            yield isa, Packing.NONE, Packing.NONE
        if _takes_panels_of_b(on, isa):
            if separate and not _aliases_while_panels_pass(on, isa):
                yield isa, Packing.NONE, Packing.BLOCK
            yield isa, Packing.WHOLE, Packing.BLOCK
        if separate and not _gains_by_copy(on, isa):
            yield isa, Packing.NONE, Packing.WHOLE
        yield isa, Packing.BLOCK, Packing.WHOLE


def ways_of_packed(on: CpuProblem, *, experts: bool, only: Isa | None = None) -> Iterator[tuple[Isa, Packing, Packing]]:
    """Yield instruction sets and packings of A for a B packed beforehand; that of experts is not packed whole."""
    p = on.problem
    for isa in on.isas if only is None else (only,):
        separate = _is_separate(on, isa)
        if only is None and isa is Isa.AMX and len(on.isas) > 1 and p.m <= _FEW_ROWS_BESIDE_AMX:
            continue
        if only is None and isa is Isa.AVX512_F32 and p.m <= _FEW_ROWS_OF_PAIRS_PACKED:
            continue
        if separate and not _gains_by_copy(on, isa):
            yield isa, Packing.NONE, Packing.BEFOREHAND
        # Each piece of a thread's columns would copy its own block.
        whole = p.m <= _SOME_ROWS and on.spec.cores != 1 and not experts
        yield isa, Packing.WHOLE if whole else Packing.BLOCK, Packing.BEFOREHAND


def _has_few_rows_of_pairs(p: GemmProblem) -> bool:
    return p.m <= (_FEW_ROWS_OF_PAIRS_BY_DOTS if p.transpose_b else _FEW_ROWS_OF_PAIRS)


def ways_of_experts(on: CpuProblem, only: Isa | None = None) -> Iterator[tuple[Isa, Packing, Packing]]:
    """Yield instruction sets and packings for experts of as many rows; nothing is packed whole."""
    p = on.problem
    few = p.transpose_b and p.m <= (_FEW_ROWS_OF_WEIGHTS if p.has_weights else _FEW_ROWS_BY_DOTS)
    for isa in on.isas if only is None else (only,):
        separate = _is_separate(on, isa)
        if only is None and isa is Isa.AVX512_F32 and _has_few_rows_of_pairs(p):
            continue
        if isa is Isa.AMX and _few_rows_of_tiles(on):
            yield isa, Packing.BLOCK, Packing.NONE
        if only is None and isa is Isa.AMX and few and len(on.isas) > 1 and p.m <= _FEW_ROWS_BESIDE_AMX:
            continue
        if few and isa is not Isa.AMX and (isa is not Isa.AVX512_F32 or only is isa) and not p.transpose_a:
            yield isa, Packing.NONE, Packing.NONE
        if separate:
            yield isa, Packing.NONE, Packing.BLOCK
        yield isa, Packing.BLOCK, Packing.BLOCK


def multiplies_few_rows_by_f32(p: GemmProblem) -> bool:
    """Return whether few rows of A multiply stored rows of f32: a copy of these would take as long as the products."""
    return p.dtype_b.bits == 32 and not p.transpose_b and p.m <= _FEW_ROWS_F32


def _few_rows_of_tiles(on: CpuProblem) -> bool:
    """Return whether tile registers of rows of B are faster than vectors, for one row if these decode 4 bits."""
    p = on.problem
    return p.transpose_b and p.m <= ROWS_AMX and (p.m > 1 or p.dtype_b.bits == 4)


def _gains_by_widening_once(p: GemmProblem, isa: Isa) -> bool:
    """Return whether more rows of f16 by stored columns gain by a copy of these as f32 than it costs."""
    return isa is Isa.AVX512 and p.dtype_b is DType.F16 and p.transpose_b and p.m > _FEW_ROWS_OF_F16_BY_DOTS


def reads_rows_of_b(isa: Isa, pack_b: Packing) -> bool:
    """Return whether tile registers are loaded with stored rows of B."""
    return isa is Isa.AMX and pack_b is Packing.NONE


def _stays_in_place(on: CpuProblem) -> bool:
    """Return whether reading B in place is as fast: small f32 rows, which need no interleaving, that begin on lines, or
    so few that C decides.
    """
    p = on.problem
    pitch_bytes = p.pitch_b * p.dtype_b.nbytes
    fast = pitch_bytes % line_bytes(on) == 0 or p.k <= _FEW_ROWS_OF_B  # otherwise vectors lie on two lines
    return _has_small_rows_of_f32(on) and fast and not _aliases(pitch_bytes, p.k)


def _has_small_rows_of_f32(on: CpuProblem) -> bool:
    """Return whether B [K, N] is f32 and in L2 after the first pass, and threads would wait for each other's panels."""
    p, cores = on.problem, on.spec.cores or 1
    small = _SMALL_B_OF_MANY_THREADS if cores >= _MANY_THREADS else _SMALL_B
    in_l2 = p.k * p.columns_b * p.dtype_b.bits // 8 <= small * (on.spec.l2_bytes or L2_BYTES)
    return p.dtype_b.bits == 32 and not p.transpose_b and in_l2 and p.batch == 1 and cores > 1


def _takes_panels_of_b(on: CpuProblem, isa: Isa) -> bool:
    """Return whether each panel of B is copied just before its use, for all rows at once."""
    p = on.problem
    alone = on.spec.cores == 1 and isa is not Isa.AMX  # shares no columns with others
    by_parts = passes_parts_of_a(on, isa) and on.spec.cores != 1 and not p.transpose_b
    return (
        p.batch == 1
        and (p.m <= (_SOME_ROWS_BY_PARTS if by_parts else _SOME_ROWS) or _passes_all_of_a(on, isa))
        and (alone or p.n >= (_COLUMNS_A_CORE_AMX if isa is Isa.AMX else _COLUMNS_A_CORE) * (on.spec.cores or 1))
    )


def passes_parts_of_a(on: CpuProblem, isa: Isa) -> bool:
    """Return whether panels of B for tile registers pass A in parts along K, as L2 has no room for all of it; nor, on
    one core, for two panels beside it.
    """
    p, l2 = on.problem, on.spec.l2_bytes or L2_BYTES
    row_bytes = p.k * packed_bytes(multiply_with(on, isa))
    alone_beside = 2 * _COLUMNS_OF_TILE_AMX * p.products if copies_panels_alone(on, isa) else 0
    return isa is Isa.AMX and (p.m * row_bytes > BLOCK_AMX * l2 or (p.m + alone_beside) * row_bytes > l2)


def _passes_all_of_a(on: CpuProblem, isa: Isa) -> bool:
    """Return whether one core without AMX keeps all of A in L2 while panels of B over all of K pass it."""
    p, alone = on.problem, on.spec.cores == 1 and isa is not Isa.AMX
    nbytes = p.m * p.k * packed_bytes(multiply_with(on, isa))
    return alone and nbytes <= _PASSED_A * (on.spec.l2_bytes or L2_BYTES)


def _gains_by_copy(on: CpuProblem, isa: Isa) -> bool:
    """Return whether tile registers of one core load a packed A faster, by more than its copy takes."""
    p, alone = on.problem, on.spec.cores == 1
    return isa is Isa.AMX and alone and p.m >= _COPIED_ROWS_AMX and p.n >= _COPIED_COLUMNS_AMX


def _is_separate(on: CpuProblem, isa: Isa) -> bool:
    """Return whether A may be read in place: as it is multiplied, in rows that do not share a set of L1.

    Elements that are widened, or signed bytes that are shifted, would be so again for each tile of columns.
    """
    p, multiply = on.problem, multiply_with(on, isa)
    widened = multiply is Multiply.F32 and p.dtype_a.nbytes < 4
    shifted = isa is not Isa.AMX and multiply is Multiply.S8 and p.dtype_a is p.dtype_b is DType.S8
    as_they_are = not (widened or shifted or splits_elements(on, isa))
    return as_they_are and not p.transpose_a and not _aliases(p.pitch_a * p.dtype_a.nbytes, p.m)


def _aliases(pitch_bytes: int, rows: int) -> bool:
    """Return whether rows at that distance map to one set of L1 and exceed its ways."""
    return pitch_bytes % WAY_BYTES == 0 and rows > _FEW_ROWS


def _aliases_while_panels_pass(on: CpuProblem, isa: Isa) -> bool:
    """Return whether the rows of A that panels of B on few pages pass share sets of L1, and so do not stay there."""
    p, depth = on.problem, rows_of_few_pages(on, isa)
    rows_of_set = p.m * gcd(p.pitch_a * p.dtype_a.nbytes, WAY_BYTES) / WAY_BYTES
    return depth is not None and depth < p.k and rows_of_set > _FEW_ROWS


def copies_panels_alone(on: CpuProblem, isa: Isa) -> bool:
    """Return whether panels of B copied just before their use are copied by one core, for tile registers."""
    return on.spec.cores == 1 and isa is Isa.AMX


def rows_of_few_pages(on: CpuProblem, isa: Isa) -> int | None:
    """Return the depth over which rows of a B [K, N] are on pages that the TLB holds, more for more rows of A.

    Sums wait between blocks of K, so that more rows of A need deeper ones; None where deeper ones are better yet.
    """
    p, pages_of_rows = on.problem, _PAGES_OF_ROWS_AMX if isa is Isa.AMX else _PAGES_OF_ROWS
    if keeps_panels_in_l1(on, isa):
        return None
    if copies_panels_alone(on, isa):
        pages_of_rows = _PAGES_OF_ROWS_AMX_ALONE
    elif p.dtype_b.bits == 32:
        alike = p.pitch_b * p.dtype_b.nbytes % WAY_BYTES == 0
        pages_of_rows = _PAGES_OF_ROWS_IN_ONE_SET if alike else _PAGES_OF_ROWS_F32
    if p.transpose_b or p.m > max(pages_of_rows):
        return None
    pages = next(pages for rows, pages in sorted(pages_of_rows.items()) if p.m <= rows)
    of_page = max(1, PAGE_BYTES // (p.pitch_b * p.dtype_b.nbytes)) * p.dtype_b.packed
    deepest = _DEEPEST_F32 if p.dtype_b.bits == 32 else _PAGES_OF_TLB * of_page
    if p.m > min(pages_of_rows) and p.k <= deepest:
        return None
    depth = pages * of_page
    group = p.quantization.group if p.quantization is not None else None
    return max(depth, group or 0)


def keeps_panels_in_l1(on: CpuProblem, isa: Isa) -> bool:
    """Return whether panels of B stay in L1, because L2 does not keep what is prefetched of the next one."""
    return on.problem.m > _FEW_ROWS_OF_SETS and isa in (Isa.AVX512, Isa.AVX512_F32) and rows_share_sets(on)


def bound_by_c(on: CpuProblem, point: CpuPoint) -> bool:
    """Return whether K is so short that memory takes longer for the lines of C than their multiplications do, C is on
    more pages than hardware prefetches from at a time, and a B packed beforehand, which no panel prefetches then, is
    small beside C.
    """
    p, isa = on.problem, Isa(point.isa)
    row_bytes = p.pitch_c * p.dtype_c.nbytes
    beforehand = point.pack_b == Packing.BEFOREHAND.value
    if beforehand and p.k * p.products * p.dtype_b.bits / 8 > _B_BESIDE_C * p.m * p.dtype_c.nbytes:
        return False
    line_clocks, nbytes = (_LINE_OF_SUMS_CLOCKS, SUM_BYTES) if isa is Isa.AMX else (_LINE_OF_C_CLOCKS, p.dtype_c.nbytes)
    lines = point.tile_m * point.tile_n * nbytes / line_bytes(on)
    step = step_clocks(isa, multiply_with(on, isa), point.tile_m, point.tile_n * p.products)
    clocks = step * ceil_div(p.k, unit_of(on, isa, dots=False))
    return p.m * min(1.0, row_bytes / PAGE_BYTES) > _PAGES_OF_STREAMS and clocks < line_clocks * lines


def line_bytes(on: CpuProblem) -> int:
    """Return the bytes of a cache line."""
    return on.spec.line_bytes or _LINE_BYTES


def rows_share_sets(on: CpuProblem) -> bool:
    """Return whether so many rows of a B [K, N] share sets of L2, by their pitch, that those prefetched for the next
    panel replace each other.
    """
    p, held = on.problem, lines_at_pitch(on, on.problem.pitch_b * on.problem.dtype_b.nbytes)
    return not p.transpose_b and p.k / p.dtype_b.packed > _SHARE_OF_SETS * held


def lines_at_pitch(on: CpuProblem, pitch_bytes: int) -> int:
    """Return how many lines at that distance from each other L2 holds, by the sets that they map to."""
    l2 = on.spec.l2_bytes or L2_BYTES
    return l2 // max(line_bytes(on), gcd(pitch_bytes, l2 // (on.spec.l2_ways or _WAYS_OF_L2)))


def reads_all_of_k(on: CpuProblem, point: CpuPoint) -> bool:
    """Return whether weights, or rows of B in tile registers, are read in place: over all of K at once."""
    in_place = point.pack_b == Packing.NONE.value
    return in_place and (on.problem.has_weights or reads_rows_of_b(Isa(point.isa), Packing(point.pack_b)))


def with_own_panels(on: CpuProblem, point: CpuPoint) -> tuple[CpuPoint, str]:
    """Let each thread copy the panels that it uses of a small f32 B [K, N], and each of many those of any f32 B [N, K],
    in place of one copy for all, if its rows of A stay in L2 while they pass: none waits for panels of others, or reads
    them from caches of others.
    """
    p, threads_k = on.problem, point.threads_k
    many = point.threads_m * point.threads_n * threads_k >= _MANY_THREADS
    shared = point.pack_a == Packing.NONE.value and point.pack_b == Packing.WHOLE.value
    columns_of_f32 = many and p.dtype_b.bits == 32 and p.transpose_b and p.batch == 1
    rows_bytes = p.m * p.k * p.dtype_a.nbytes / (point.threads_m * threads_k)
    in_l2 = rows_bytes <= _ROWS_OF_THREAD * (on.spec.l2_bytes or L2_BYTES)
    own = shared and in_l2 and (columns_of_f32 or _has_small_rows_of_f32(on))
    if own:
        point = point._replace(pack_b=Packing.BLOCK.value)
    how = ", by each thread for itself, whose rows of A stay in L2" if own else _why_packed(on, Packing(point.pack_b))
    return point, f"A packed: {point.pack_a}, B packed: {point.pack_b}{how}"


def _why_packed(on: CpuProblem, pack_b: Packing) -> str:
    if pack_b is Packing.NONE and on.problem.m > _FEW_ROWS_BY_DOTS and not multiplies_few_rows_by_f32(on.problem):
        return ", because all of B stays in L2 as it is"
    if pack_b is Packing.NONE:
        return f", because {on.problem.m} row{'' if on.problem.m == 1 else 's'} of A would not pay for a copy"
    if pack_b is Packing.BLOCK:
        return f", a panel at a time, which {on.problem.m} rows use while it is in L2"
    return f", which {on.problem.m} rows use again"


def _multiplies_by_tiles(on: CpuProblem) -> bool:
    """Return whether tile registers multiply elements as they are."""
    return Isa.AMX in on.isas and not splits_elements(on, Isa.AMX)


def splits_elements(on: CpuProblem, isa: Isa) -> bool:
    """Return whether an instruction set multiplies parts of elements."""
    return parts_of(multiply_with(on, isa)) > 1


def gain_by_parts(on: CpuProblem, *, beforehand: bool = False) -> float:
    """Return the clocks of vectors over those of tile registers that multiply parts of elements, with splitting them;
    0 if they multiply whole elements.
    """
    if Isa.AMX not in on.isas or not splits_elements(on, Isa.AMX) or on.spec.amx_permitted is False:
        return 0.0
    p, multiply = on.problem, multiply_with(on, Isa.AMX)
    parts, unit = parts_of(multiply), unit_of(on, Isa.AMX, dots=False)
    m, n = (ceil_div(length, ROWS_AMX) * ROWS_AMX for length in (p.m, p.n * p.products))
    split = _PART_CLOCKS * m + (_READ_PART_CLOCKS if beforehand else _PART_CLOCKS) * n
    step = step_clocks(Isa.AMX, multiply, m, n) * _LOSS_OF_PARTS + parts * unit * split
    clocks = step * ceil_div(p.k, unit) + _SUM_OF_PARTS_CLOCKS * p.m * p.n
    return p.m * p.n * p.products * p.k / F32_FMA_PER_CLK / clocks


def multiply_with(on: CpuProblem, isa: Isa) -> Multiply:
    how = multiply_of(on.problem.dtype_a, on.problem.dtype_b, isa, on.flags)
    assert how is not None, "isas holds those that can"
    return how
