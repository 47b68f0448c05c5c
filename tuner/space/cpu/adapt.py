"""Adaptation of a CPU configuration of one shape to another, by the same choices.

A block over the whole problem stays one, counts of tiles stay equal, and a tile has no more rows and columns than
the problem.
"""

from codegen import CpuConfig, GemmProblem, Isa
from codegen.cpu.isa import ISA_FACTS
from codegen.cpu.rules import CpuProblem, check_cpu_problem, refusal_on_cpu
from codegen.xe.rules.sizes import ceil_div
from hal import DeviceSpec
from tuner.space.cpu.points import (
    WHOLE,
    CpuPoint,
    config_of,
    is_dots,
    plain_blocks,
    point_of,
    with_used_prefetch,
)


def adapt(config: CpuConfig, source: GemmProblem, problem: GemmProblem, spec: DeviceSpec) -> CpuConfig:
    """Return the configuration for `problem` with the choices that `config` makes for `source`.

    Raises:
        Refused: a rule of the problem or of the configuration.
    """
    on = check_cpu_problem(problem, spec)
    found = config_of(on, _fit(on, point_of(check_cpu_problem(source, spec), config)))
    if (refused := refusal_on_cpu(on, found)) is not None:
        raise refused
    return found


def choices(config: CpuConfig, problem: GemmProblem, spec: DeviceSpec) -> tuple[object, ...]:
    """Return the choices of a configuration that are independent of sizes."""
    return tuple(point_of(check_cpu_problem(problem, spec), config))


def _fit(on: CpuProblem, point: CpuPoint) -> CpuPoint:
    """Limit tiles and blocks to the problem, move loops that run once outermost, and leave out prefetches of no use."""
    p = on.problem
    lanes = ISA_FACTS[Isa(point.isa)].vector_bytes // 4
    most_n = p.n if is_dots(on, point.isa, point.pack_b) else ceil_div(p.n, lanes) * lanes
    point = point._replace(tile_m=min(point.tile_m, p.m), tile_n=min(point.tile_n, most_n))
    point = point._replace(
        block_m=_block(point.block_m, point.tile_m, p.m),
        block_n=_block(point.block_n, point.tile_n, p.n),
        block_k=WHOLE if point.block_k >= p.k else point.block_k,
    )
    return with_used_prefetch(on, point._replace(blocks=plain_blocks(on, point)))


def _block(count: int, tile: int, length: int) -> int:
    return WHOLE if count * tile >= length else count
