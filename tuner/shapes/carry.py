"""A configuration of one shape, as the same choices say it on another.

What is as long as the problem stays as long as the problem, counts of tiles stay counts, and a tile has no more rows
and columns than there are. The binary is another one where sizes are compiled in.
"""

from codegen import CpuConfig, GemmProblem, InvalidConfig, KernelConfig, Refused, XeConfig
from codegen.cpu.isa import ISA_FACTS
from codegen.cpu.rules import CpuProblem, check_cpu_problem, refusal_on_cpu
from codegen.xe.rules import (
    check_problem,
    refusal,
)
from codegen.xe.rules.sizes import ceil_div
from hal import DeviceSpec
from tuner.shapes.relaunch import code_of
from tuner.space.cpu import points as cpu
from tuner.space.xe import points as xe


def carried(config: KernelConfig, source: GemmProblem, problem: GemmProblem, spec: DeviceSpec) -> KernelConfig:
    """The configuration of `source`'s choices for `problem`.

    Raises:
        Refused: a rule of the problem or of the configuration; names it.
    """
    if source == problem:
        return config
    if isinstance(config, CpuConfig):
        return _on_cpu(config, source, problem, spec)
    return _on_xe(config, source, problem, spec)


def choices(config: KernelConfig, problem: GemmProblem, spec: DeviceSpec) -> tuple[object, ...]:
    """Return the size-independent choices of a configuration: equal for one kernel on several shapes.

    Of a kernel that takes sizes that is its code.
    """
    if isinstance(config, CpuConfig):
        return tuple(cpu.point_of(check_cpu_problem(problem, spec), config))
    if (code := code_of(config, problem, spec)) is not None:
        return (code,)
    return tuple(xe.point_of(problem, config))


def _on_cpu(config: CpuConfig, source: GemmProblem, problem: GemmProblem, spec: DeviceSpec) -> CpuConfig:
    on = check_cpu_problem(problem, spec)
    point = _fitted(on, cpu.point_of(check_cpu_problem(source, spec), config))
    found = cpu.config_of(on, point)
    if (refused := refusal_on_cpu(on, found)) is not None:
        raise refused
    return found


def _fitted(on: CpuProblem, point: cpu.CpuPoint) -> cpu.CpuPoint:
    """No tile beyond the problem, no block beyond it either, and loops that run once outermost."""
    p = on.problem
    facts = ISA_FACTS[cpu.Isa(point.isa)]
    lanes = facts.vector_bytes // 4
    most_n = p.n if cpu.is_dots(on, point.pack_b) else ceil_div(p.n, lanes) * lanes
    point = point._replace(tile_m=min(point.tile_m, p.m), tile_n=min(point.tile_n, most_n))
    point = point._replace(
        block_m=_block(point.block_m, point.tile_m, p.m),
        block_n=_block(point.block_n, point.tile_n, p.n),
        block_k=cpu.WHOLE if point.block_k >= p.k else point.block_k,
    )
    return point._replace(blocks=cpu.plain_blocks(on, point))


def _block(count: int, tile: int, length: int) -> int:
    return cpu.WHOLE if count * tile >= length else count


def _on_xe(config: XeConfig, source: GemmProblem, problem: GemmProblem, spec: DeviceSpec) -> XeConfig:
    on = check_problem(problem, spec)
    try:
        found = xe.config_of(problem, xe.point_of(source, config))
    except (InvalidConfig, ValueError) as error:
        raise Refused("axes", f"its choices cannot be said for {problem}: {error}") from error
    if (refused := refusal(on, found)) is not None:
        raise refused
    return found
