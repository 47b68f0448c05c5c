"""Packs an operand whole: all threads together, each some of its panels."""

from codegen.cpu.memory import THREAD_PARAMETERS, Memory, Panels, panels_of_a, panels_of_b
from codegen.cpu.pack import PACK_A
from codegen.cpu.partition import write_part
from codegen.cpu.plan import Plan
from codegen.cpu.writer import Function, Module

PACK_WHOLE_A, PACK_WHOLE_B = "pack_whole_a", "pack_whole_b"
_PARAMETERS = (*THREAD_PARAMETERS, ("ptr", "%panels"))


def write_whole_a(module: Module, plan: Plan) -> None:
    """Write `@pack_whole_a(ptr arguments, i64 thread, ptr panels)`."""
    with module.function(PACK_WHOLE_A, _PARAMETERS) as f:
        _write(f, plan, panels_of_a(plan))


def write_whole_b(module: Module, plan: Plan) -> None:
    """Write `@pack_whole_b(ptr arguments, i64 thread, ptr panels)`."""
    with module.function(PACK_WHOLE_B, _PARAMETERS) as f:
        _write(f, plan, panels_of_b(plan))


def _write(f: Function, plan: Plan, panels: Panels) -> None:
    memory, packer, tiles = Memory(f, plan), panels.packer, panels.tiles
    lines = plan.problem.m if packer.name == PACK_A else plan.problem.n
    some = write_part(f, panels.matrices * plan.k_blocks * tiles, plan.config.thread_count, "%thread")
    with f.loop(some.low, some.high) as unit:
        before, tile = f.div(unit.index, tiles), f.rem(unit.index, tiles)
        matrix, block = f.div(before, plan.k_blocks), f.rem(before, plan.k_blocks)
        line, k = f.mul(tile, packer.lines), f.mul(block, plan.block.k)
        of_a = packer.name == PACK_A
        source = memory.element_a(matrix, line, k) if of_a else memory.element_b(matrix, k, line)
        panel = f.at("%panels", panels.offset(f, matrix, block, tile))
        left, depth = f.sub(lines, line), memory.depth_of(block)
        f.call("void", packer.name, [("ptr", source), ("ptr", panel), ("i64", left), ("i64", depth)])
