"""Completion of a partial CPU configuration: derive the fields that a user left open."""

from collections.abc import Collection
from contextlib import suppress
from dataclasses import fields, replace
from typing import TypeVar

from codegen import CpuConfig, Extent, GemmProblem, MatmulConfig, Packing, Refused
from codegen.config.cpu import CpuStrategy
from codegen.cpu.isa import ISA_FACTS, multiply_of
from codegen.cpu.nest.plan import Plan
from codegen.cpu.rules import most_pieces, reads_dots
from codegen.xe.rules.sizes import ceil_div
from hal import DeviceSpec
from tuner.space.cpu.heuristic import default_cpu_config

_Part = TypeVar("_Part", MatmulConfig, CpuStrategy)


def refit(problem: GemmProblem, config: CpuConfig, spec: DeviceSpec, said: Collection[str]) -> CpuConfig:
    """Return the configuration with the tile, blocks, depth, pieces and tiles to prefetch that were not `said` derived
    from the others.

    With another instruction set, or B packed beforehand, what was not said is that of the default so made. Fields that
    cannot be derived are unchanged, for the rules to report.
    """
    if multiply_of(problem.dtype_a, problem.dtype_b, config.strategy.isa, spec.isa or ()) is None:
        return config
    beforehand = "pack_b" in said and config.strategy.pack_b is Packing.BEFOREHAND
    if beforehand or "isa" in said:
        with suppress(Refused):
            isa = config.strategy.isa if "isa" in said else None
            base = default_cpu_config(problem, spec, isa=isa, beforehand=beforehand)
            config = CpuConfig(_said(base.matmul, config.matmul, said), _said(base.strategy, config.strategy, said))
    if "block" in said and "innermost" not in said:
        config = _with(config, innermost=_tile_of(problem, config, spec))
    if "block" not in said and ({"innermost", "threads", "isa"} & set(said)):
        config = _with(config, block=_blocks_of(problem, config))
    plan, strategy = Plan(problem, config, spec.isa or ()), config.strategy
    if "pieces" not in said:
        strategy = replace(strategy, pieces=min(strategy.pieces, most_pieces(plan)))
    if "prefetch_tiles_n" not in said and not plan.reads_blocks_of_b:
        strategy = replace(strategy, prefetch_tiles_n=0)
    return replace(config, strategy=strategy)


def _said(base: _Part, given: _Part, said: Collection[str]) -> _Part:
    return replace(base, **{each.name: getattr(given, each.name) for each in fields(given) if each.name in said})


def _tile_of(problem: GemmProblem, config: CpuConfig, spec: DeviceSpec) -> Extent:
    """Return the largest tile, up to the present one, that divides the block."""
    plan, c = Plan(problem, config, spec.isa or ()), config.matmul
    if reads_dots(problem, config):
        units = 1, 1, ISA_FACTS[plan.isa].vector_bytes // problem.dtype_a.nbytes
    else:
        units = ISA_FACTS[plan.isa].tile_rows or 1, plan.lanes, plan.depth_unit
    sizes = zip((c.block.m, c.block.n, c.block.k), (c.innermost.m, c.innermost.n, c.innermost.k), units, strict=True)
    return Extent(*(_divisor(block, most, unit) for block, most, unit in sizes))


def _divisor(block: int, most: int, unit: int) -> int:
    found = (size for size in range(most - most % unit, 0, -unit) if block % size == 0)
    return next(found, most)


def _blocks_of(problem: GemmProblem, config: CpuConfig) -> Extent:
    """Return whole tiles, about as many as before; as many blocks over K as threads."""
    c, p = config.matmul, problem
    deepest = ceil_div(p.k, c.threads.k)
    wanted = (c.block.m, c.innermost.m, p.m), (c.block.n, c.innermost.n, p.n), (c.block.k, c.innermost.k, deepest)
    return Extent(*(min(max(block // tile, 1), ceil_div(length, tile)) * tile for block, tile, length in wanted))


def _with(config: CpuConfig, **changes: Extent) -> CpuConfig:
    return replace(config, matmul=replace(config.matmul, **changes))
