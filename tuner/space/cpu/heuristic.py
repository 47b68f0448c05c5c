"""The default configuration on a CPU: the four steps of the deep-tiled matmul document.

Source: DOC: deep-Tiled Matmul, "Config/Schedule": innermost, threads, block, loop order.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from codegen import GemmProblem, Refused
from codegen.config.cpu import CpuConfig, Isa, Packing
from codegen.cpu.isa import Multiply, parts_of
from codegen.cpu.rules import (
    CpuProblem,
    check_cpu_problem,
    most_unrolled,
    refusal_on_cpu,
)
from codegen.problem.experts import row_tiles
from codegen.xe.rules.sizes import ceil_div
from hal import DeviceSpec
from tuner.space.cpu.blocks import with_blocks, with_order, with_prefetch
from tuner.space.cpu.clocks import TileShape, step_clocks
from tuner.space.cpu.grid import with_pieces, with_threads
from tuner.space.cpu.packing import (
    ROWS_AMX,
    gain_by_parts,
    multiply_with,
    splits_elements,
    ways,
    ways_of_experts,
    ways_of_packed,
    with_own_panels,
)
from tuner.space.cpu.points import (
    WHOLE,
    CpuPoint,
    config_of,
    is_dots,
    ranges_of,
    unit_of,
)
from tuner.space.cpu.tiles import best_tiles, narrower
from tuner.space.restrictions import within
from tuner.space.step import HeuristicStep

_STEPS_A_ROUND = 4
_MOST_CODE = 4096  # maximum number of accumulators over all steps of a round
_LEAST_GAINS_BY_PARTS = {1: 1.0, 4: 1.75}  # by cores, up to which two parts are the default (fitted)
_KEPT_DEFAULTS = 256  # of a process: a job, its trials, its page and rates of the CPU ask for the same one


@dataclass(frozen=True, slots=True)
class CpuDefault:
    """The default configuration and the steps that led to it."""

    config: CpuConfig
    steps: tuple[HeuristicStep, ...]


def default_cpu_config(
    problem: GemmProblem, spec: DeviceSpec, *, isa: Isa | None = None, beforehand: bool = False
) -> CpuConfig:
    """Return the default configuration, legal and in the space; or that of an instruction set, or with B packed
    `beforehand`, which may be in no space.

    Raises:
        Refused: the problem or the CPU is refused; or the CPU lacks the instruction set, or B cannot be packed
            beforehand.
    """
    return explain_cpu_default(problem, spec, isa=isa, beforehand=beforehand).config


def alternative_cpu_configs(problem: GemmProblem, spec: DeviceSpec) -> tuple[CpuConfig, ...]:
    """Return defaults of other instruction sets than the default's which may be faster; in the space.

    Raises:
        Refused: the problem or the CPU is refused.
    """
    if gain_by_parts(as_batch(check_cpu_problem(problem, spec))) < 1:
        return ()
    default = default_cpu_config(problem, spec)
    both = (default_cpu_config(problem, spec, isa=isa) for isa in (Isa.AVX512, Isa.AMX))
    return tuple(config for config in both if config.strategy.isa is not default.strategy.isa)


@lru_cache(_KEPT_DEFAULTS)
def explain_cpu_default(
    problem: GemmProblem, spec: DeviceSpec, *, isa: Isa | None = None, beforehand: bool = False
) -> CpuDefault:
    """Return the default configuration, or that of an instruction set, or the one with B packed `beforehand`, with the
    reason of each step.

    Raises:
        Refused: the problem or the CPU is refused.
    """
    if isa is not None and isa is not Isa.AVX512_F32:  # which needs the flags of pairs of bf16
        spec = within(spec, isa)
    given = check_cpu_problem(problem, spec)
    if not given.isas or (isa is not None and isa not in given.isas):
        by = "no instructions" if isa is None else f"no {isa.value} instructions"
        raise Refused("isa", f"{by} of {spec.name} multiply {problem.dtype_a.value}")
    cores, on = spec.cores or 1, as_batch(given)
    experts = problem.experts is not None
    if isa is None and _prefers_parts(on, cores, beforehand=beforehand):
        isa = Isa.AMX
    if beforehand:
        tried = ways_of_packed(on, experts=experts, only=isa)
    else:
        tried = (ways_of_experts if experts else ways)(on, isa)
    point, why_tile = _innermost(on, cores, tried)
    point, why_threads = with_threads(on, point, cores, experts=experts)
    point, why_packed = with_own_panels(on, point)
    point, why_blocks = with_blocks(on, point)
    point, why_order = with_order(on, point)
    point, why_prefetch = with_prefetch(on, point)
    if experts:
        point = _of_any_expert(on, point, given)
    point, why_pieces = with_pieces(on, point, given)
    config = config_of(given, point)
    refused = refusal_on_cpu(given, config)
    if refused is not None:
        raise refused
    c = config.matmul
    return CpuDefault(
        config,
        (
            HeuristicStep("innermost", f"{point.isa} {c.innermost}", f"{why_tile}{why_packed}"),
            HeuristicStep("threads", str(c.threads), f"{why_threads}{why_pieces}"),
            HeuristicStep("block", str(c.block), why_blocks),
            HeuristicStep("loop order", c.loop_order.value, f"{why_order}{why_prefetch}"),
        ),
    )


def _prefers_parts(on: CpuProblem, cores: int, *, beforehand: bool) -> bool:
    """Return whether tile registers multiply two parts of each element by default.

    Beside programs that use the same tile registers, three parts are slower than vectors, and two on many cores
    (docs/cpu_kernels.md).
    """
    least = next((gain for most, gain in _LEAST_GAINS_BY_PARTS.items() if cores <= most), None)
    if least is None or gain_by_parts(on, beforehand=beforehand) < least:
        return False
    return multiply_with(on, Isa.AMX) is Multiply.BF16X2


def as_batch(on: CpuProblem) -> CpuProblem:
    """Return experts as a batch of products with the mean rows of those that have rows; other problems as they are."""
    p = on.problem
    if p.experts is None:
        return on
    count, steps = p.read_experts, tuple(step for step in p.epilogue if step.axis is None and not step.is_matrix)
    rows = ceil_div(p.m, count)
    if rows > ROWS_AMX:
        rows = min(ceil_div(rows, ROWS_AMX) * ROWS_AMX, p.m)
    alike = replace(p, m=rows, batch=count, experts=None, epilogue=steps, batch_stride_a=None,
                    batch_stride_c=None, lda=None if p.transpose_a else p.lda)  # fmt: skip
    return replace(on, problem=alike)


def _of_any_expert(on: CpuProblem, point: CpuPoint, given: CpuProblem) -> CpuPoint:
    """Return the point with tile registers of all their rows, blocks of the mean rows where these are packed, and no
    more threads over rows than the experts have tiles.
    """
    problem = given.problem
    if point.isa == Isa.AMX.value and point.tile_m < ROWS_AMX:
        point = point._replace(tile_m=min(ROWS_AMX, problem.m))
    there = row_tiles(problem.rows_of_experts, point.tile_m)
    if point.threads_m > there:
        threads = max(count for count in ranges_of(on, on.spec.cores or 1).threads_m if count <= there)
        point = point._replace(threads_m=threads)
    tiles = ceil_div(on.problem.m, point.tile_m)
    if point.pack_a == Packing.NONE.value or point.block_m != WHOLE or tiles * point.tile_m >= problem.m:
        return point
    counts = ranges_of(given, 1).block_m
    block = min((count for count in counts if count >= tiles), default=max(counts))
    return point._replace(block_m=block if block * point.tile_m < problem.m else WHOLE)


def _plain(on: CpuProblem, isa: Isa, pack_a: Packing, pack_b: Packing) -> CpuPoint:
    """Return the simplest point with these packings, for a tile yet to be chosen."""
    return CpuPoint(
        isa.value, 1, 16, 1, WHOLE, WHOLE, WHOLE, 1, 1, 1,
        pack_a.value, pack_b.value, "pmpnpk", "omonok", "iminik", 0, 0, 1,
    )  # fmt: skip


def _innermost(on: CpuProblem, cores: int, ways: Iterable[tuple[Isa, Packing, Packing]]) -> tuple[CpuPoint, str]:
    """Choose the fastest instruction set, the packing, and the register tile with the least waste."""
    p = on.problem
    for isa, pack_a, pack_b in ways:
        plain = _plain(on, isa, pack_a, pack_b)
        tiles = best_tiles(on, plain)
        if not tiles:
            continue
        tile = narrower(on, plain, tiles, cores)
        unit = unit_of(on, isa, dots=is_dots(on, isa.value, pack_b.value))
        unroll = next((u for u in (_STEPS_A_ROUND, 2) if _may_unroll(on, isa, tile, u * unit, u)), 1)
        clocks = step_clocks(isa, multiply_with(on, isa), tile.m, tile.n * p.products)
        sums = f"{tile.m}x{tile.n} sums stay in registers, {clocks:g} clocks a step of {unit} along K"
        return plain._replace(tile_m=tile.m, tile_n=tile.n, unroll=unroll), f"{_why_isa(on, isa)}; {sums}; "
    raise Refused("no-configuration", f"no configuration of {p} is legal on {on.spec.name}")


def _why_isa(on: CpuProblem, isa: Isa) -> str:
    dtype = on.problem.dtype_a.value
    if splits_elements(on, isa):
        gain = f"by estimate {gain_by_parts(on):.1f} times as fast as vectors without other programs"
        return f"{isa.value} multiplies {dtype} in {parts_of(multiply_with(on, isa))} parts of bf16, {gain}"
    usable = [other for other in on.isas if not (other is Isa.AMX and on.spec.amx_permitted is False)]
    others = ", ".join(other.value for other in usable if not splits_elements(on, other))
    gain = gain_by_parts(on)
    parts = f"; amx by parts of bf16 would be {gain:.1f} times as fast by estimate" if gain >= 1 else ""
    return f"{isa.value} is the fastest of {others} that multiplies {dtype}{parts}"


def _may_unroll(on: CpuProblem, isa: Isa, tile: TileShape, depth: int, steps: int) -> bool:
    """Return whether that many steps, `depth` elements along K, make one round of the micro-kernel's loop."""
    fits = depth <= on.problem.k and steps * tile.m * tile.n <= _MOST_CODE
    return isa is not Isa.AMX and fits and steps <= most_unrolled(isa, multiply_with(on, isa))
