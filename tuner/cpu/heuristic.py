"""The default configuration on a CPU: the four steps of the deep-tiled matmul document.

Source: DOC: deep-Tiled Matmul, "Config/Schedule": innermost, threads, block, loop order.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from codegen import GemmProblem, Refused
from codegen.cpu.config import CpuConfig, Isa, Packing
from codegen.cpu.isa import ISA_FACTS, Multiply, multiply_of
from codegen.cpu.rules import CpuCase, CpuProblem, check_cpu_problem, refusal_on_cpu, registers_of
from codegen.rules.sizes import ceil_div
from hal import DeviceSpec
from tuner.cpu.clocks import TileShape, step_clocks, sweep_clocks
from tuner.cpu.points import DOTS, WHOLE, CpuPoint, config_of, is_dots, plain_blocks, ranges_of, unit_of
from tuner.heuristic import HeuristicStep

_L1_BYTES, _L2_BYTES = 32 * 1024, 1024 * 1024  # where a CPU does not say: the least of those with AVX2, and a usual one
_SHARE = 0.5  # of a cache that blocks may fill; the rest is for what streams through
_JOIN_CLOCKS = 12_000  # to wake a thread and wait for it (assumed: about 4 us)
_MEMORY_BYTES_A_CLOCK = 4.0  # that one core draws from memory (assumed: about 12 GB/s a core when all draw)
_STEPS_A_ROUND = 4
_FEW_ROWS = 8  # rows that are multiplied with rows of B in place


@dataclass(frozen=True, slots=True)
class CpuDefault:
    """The default configuration and the steps that led to it."""

    config: CpuConfig
    steps: tuple[HeuristicStep, ...]


def default_cpu_config(problem: GemmProblem, spec: DeviceSpec) -> CpuConfig:
    """The default configuration; always legal, and in the space.

    Raises:
        Refused: the problem or the CPU is refused.
    """
    return explain_cpu_default(problem, spec).config


def explain_cpu_default(problem: GemmProblem, spec: DeviceSpec) -> CpuDefault:
    """The default configuration with the reason of each step.

    Raises:
        Refused: the problem or the CPU is refused.
    """
    on = check_cpu_problem(problem, spec)
    if not on.isas:
        raise Refused("isa", f"no instructions of {spec.name} multiply {problem.dtype_a.value}")
    cores = spec.cores or 1
    point, why_tile = _innermost(on, cores)
    point, why_threads = _threads(on, point, cores)
    point, why_blocks = _blocks(on, point)
    point, why_order = _order(on, point)
    config = config_of(on, point)
    refused = refusal_on_cpu(on, config)
    if refused is not None:
        raise refused
    c = config.matmul
    return CpuDefault(
        config,
        (
            HeuristicStep("innermost", f"{point.isa} {c.innermost}", why_tile),
            HeuristicStep("threads", str(c.threads), why_threads),
            HeuristicStep("block", str(c.block), why_blocks),
            HeuristicStep("loop order", c.loop_order.value, why_order),
        ),
    )


def tiles_of(on: CpuProblem, isa: Isa, plain: CpuPoint) -> Iterator[TileShape]:
    """Register tiles that fit, with the operands packed as in `plain`."""
    ranges = ranges_of(on, 1)
    lanes = ISA_FACTS[isa].vector_bytes // 4
    columns = DOTS if is_dots(on, plain.pack_b) else tuple(n for n in ranges.tile_n if n % lanes == 0)
    for m, n in product(ranges.tile_m, columns):
        case = CpuCase(on, config_of(on, plain._replace(isa=isa.value, tile_m=m, tile_n=n)))
        need, have = registers_of(case)
        if need <= have and refusal_on_cpu(on, case.config) is None:
            yield TileShape(m, n)


def best_tiles(on: CpuProblem, plain: CpuPoint) -> list[TileShape]:
    """Register tiles in the order of the clocks that all of C takes with them, the squarest first among equals."""
    p, isa = on.problem, Isa(plain.isa)
    multiply = _multiply(on, isa)
    dots = is_dots(on, plain.pack_b)

    def clocks(tile: TileShape) -> tuple[float, float]:
        steps = sweep_clocks(isa, multiply, p.m, p.n if not dots else p.n * 16, _of_vectors(tile, dots))
        return steps, tile.m / p.m + tile.n / p.n + 1 / tile.m + 1 / tile.n

    return sorted(tiles_of(on, isa, plain), key=clocks)


def _of_vectors(tile: TileShape, dots: bool) -> TileShape:
    return TileShape(tile.m, tile.n * 16) if dots else tile


def _plain(on: CpuProblem, isa: Isa, pack_a: Packing, pack_b: Packing) -> CpuPoint:
    """The plainest point with these packings, of a tile that has yet to be chosen."""
    return CpuPoint(
        isa.value, 1, 16, 1, WHOLE, WHOLE, WHOLE, 1, 1, 1,
        pack_a.value, pack_b.value, "pmpnpk", "omonok", "iminik", 0,
    )  # fmt: skip


def _multiply(on: CpuProblem, isa: Isa) -> Multiply:
    how = multiply_of(on.problem.dtype_a, on.problem.dtype_b, isa, on.flags)
    assert how is not None, "isas holds those that can"
    return how


def _innermost(on: CpuProblem, cores: int) -> tuple[CpuPoint, str]:
    """The fastest instruction set, the packing, and the register tile that wastes least."""
    p = on.problem
    for isa, pack_a, pack_b in _ways(on):
        plain = _plain(on, isa, pack_a, pack_b)
        tiles = best_tiles(on, plain)
        if not tiles:
            continue
        tile = _narrower(on, isa, tiles, cores)
        unit = unit_of(on, isa, dots=is_dots(on, pack_b.value))
        unroll = next(
            (u for u in (_STEPS_A_ROUND, 2) if isa is not Isa.AMX and u * unit <= p.k and u * tile.m * tile.n <= 4096),
            1,
        )
        clocks = step_clocks(isa, _multiply(on, isa), tile.m, tile.n)
        why = (
            f"{isa.value} is the fastest of {', '.join(i.value for i in on.isas)} that multiplies {p.dtype_a.value}; "
            f"{tile.m}x{tile.n} sums stay in registers, {clocks:g} clocks a step of {unit} along K; "
            f"A packed: {pack_a.value}, B packed: {pack_b.value}{_why_packed(on, pack_b)}"
        )
        return plain._replace(tile_m=tile.m, tile_n=tile.n, unroll=unroll), why
    raise Refused("no-configuration", f"no configuration of {p} is legal on {on.spec.name}")


def _narrower(on: CpuProblem, isa: Isa, tiles: list[TileShape], cores: int) -> TileShape:
    """The best tile, or of those not much slower the first that leaves every core a tile."""
    p, multiply = on.problem, _multiply(on, isa)

    def clocks(tile: TileShape) -> float:
        return sweep_clocks(isa, multiply, p.m, p.n, tile)

    enough = [t for t in tiles if p.batch * ceil_div(p.m, t.m) * ceil_div(p.n, t.n) >= cores]
    return enough[0] if enough and clocks(enough[0]) <= cores * clocks(tiles[0]) else tiles[0]


def _ways(on: CpuProblem) -> Iterator[tuple[Isa, Packing, Packing]]:
    """Instruction sets and packings, in the order in which they are tried."""
    p = on.problem
    few = p.m <= _FEW_ROWS
    in_place = not p.transpose_a
    for isa in on.isas:
        if few and isa is not Isa.AMX and p.batch_stride_b != 0:
            # Each element of B is read once: a copy would cost more than it saves.
            if in_place:
                yield isa, Packing.NONE, Packing.NONE
            yield isa, Packing.BLOCK, Packing.NONE
        if few and isa is Isa.AMX and len(on.isas) > 1:
            continue
        if in_place and p.k % 64 == 0:
            yield isa, Packing.NONE if p.n <= 512 else Packing.BLOCK, Packing.WHOLE
        yield isa, Packing.BLOCK, Packing.WHOLE


def _why_packed(on: CpuProblem, pack_b: Packing) -> str:
    if pack_b is Packing.NONE:
        return f", because {on.problem.m} rows use each element of it no more than that"
    return f", which {on.problem.m} rows use again"


def _threads(on: CpuProblem, point: CpuPoint, cores: int) -> tuple[CpuPoint, str]:
    """The grid whose busiest thread has the least to compute and to read."""
    p = on.problem
    rows, columns = p.batch * ceil_div(p.m, point.tile_m), ceil_div(p.n, point.tile_n)
    unit = unit_of(on, Isa(point.isa), dots=is_dots(on, point.pack_b))
    a_tile = step_clocks(Isa(point.isa), _multiply(on, Isa(point.isa)), point.tile_m, point.tile_n)
    steps = ceil_div(p.k, unit)

    def clocks(grid: tuple[int, int, int]) -> float:
        m, n, k = grid
        tiles = ceil_div(rows, m) * ceil_div(columns, n)
        depth = ceil_div(steps, k)
        a = ceil_div(rows, m) * point.tile_m * depth * unit * p.dtype_a.nbytes
        b = ceil_div(columns, n) * point.tile_n * depth * unit * p.dtype_b.nbytes
        sums = ceil_div(rows, m) * point.tile_m * ceil_div(columns, n) * point.tile_n * 4 * (0 if k == 1 else 3)
        join = 0 if m * n * k == 1 else _JOIN_CLOCKS * (1 if k == 1 else 2)
        return tiles * depth * a_tile + (a + b + sums) / _MEMORY_BYTES_A_CLOCK + join

    ranges = ranges_of(on, cores)
    grids = [
        (m, n, k)
        for m, n, k in product(ranges.threads_m, ranges.threads_n, ranges.threads_k)
        if m * n * k <= cores and m <= rows and n <= columns and (k == 1 or p.k >= 512 * k)
    ]
    m, n, k = min(grids, key=clocks)
    busiest = ceil_div(rows, m) * ceil_div(columns, n)
    why = (
        f"of {cores} cores {m * n * k} compute: the busiest has {busiest} of {rows * columns} tiles"
        f"{f', each over 1 / {k} of K' if k > 1 else ''}"
    )
    return point._replace(threads_m=m, threads_n=n, threads_k=k), why


def _blocks(on: CpuProblem, point: CpuPoint) -> tuple[CpuPoint, str]:
    """Depth: panels of A and B in half of L1. Rows: a block of A in half of L2. Columns: all that the thread has."""
    p, spec, isa = on.problem, on.spec, Isa(point.isa)
    l1, l2 = spec.l1_bytes or _L1_BYTES, spec.l2_bytes or _L2_BYTES
    each = {Multiply.F32: 4, Multiply.S8: 1}.get(_multiply(on, isa), 2)
    ranges = ranges_of(on, spec.cores or 1)
    step = point.unroll * unit_of(on, isa, dots=is_dots(on, point.pack_b))
    deepest = _SHARE * l1 / (each * (point.tile_m + point.tile_n))
    depths = [d for d in ranges.block_k if d != WHOLE and d % step == 0 and d * point.threads_k <= p.k]
    in_l1 = [d for d in depths if d <= max(deepest, 256 / each)]
    depth = max(in_l1, default=min(depths, default=WHOLE))
    streams = point.pack_b == Packing.NONE.value and p.m <= point.tile_m
    if (p.k <= 1.5 * max(deepest, depth) or streams) and point.threads_k == 1:
        depth = WHOLE
    deep = depth or p.k
    rows = ceil_div(p.m, point.tile_m)
    most = max(1, int(_SHARE * l2 / (point.tile_m * deep * each)))
    a_thread = ceil_div(rows, point.threads_m)
    # Blocks of about one size: the least count that needs no more of them than the largest that fits.
    even = ceil_div(a_thread, ceil_div(a_thread, most))
    block_m = WHOLE if rows <= most else min((c for c in ranges.block_m if c >= even), default=max(ranges.block_m))
    why = (
        f"a panel of A and one of B, {deep} deep, take {deep * each * (point.tile_m + point.tile_n) / 1024:.0f} of "
        f"{l1 / 1024:.0f} KiB of L1; a block of A takes "
        f"{(block_m or rows) * point.tile_m * deep * each / 1024:.0f} of {l2 / 1024:.0f} KiB of L2"
    )
    return point._replace(block_m=block_m, block_k=depth), why


def _order(on: CpuProblem, point: CpuPoint) -> tuple[CpuPoint, str]:
    """What is reused most stays: a block of A in L2 while panels of B pass, each in L1 over all rows of the block."""
    p = on.problem
    rows = ceil_div(p.m, point.tile_m)
    several = rows > 1 and point.block_m != 1 and ceil_div(p.n, point.tile_n) > 1
    point = point._replace(
        blocks="okomon",
        inner="inimik" if several else "iminik",
        parallel="pnpmpk" if p.n > p.m and point.threads_m > 1 and point.threads_n > 1 else "pmpnpk",
    )
    point = point._replace(blocks=plain_blocks(on, point))
    waits = "sums of a block wait for the next K block" if point.block_k != WHOLE else "sums stay in registers"
    kept = "each panel of B stays in L1 over the rows of a block" if several else "A stays in L1 while B passes"
    return point, f"{kept}; {waits}"
