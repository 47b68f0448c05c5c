"""Calls of the function that packs a panel of B: one for each strip of memory that a tile's columns are in."""

from codegen.cpu.emit.memory import Memory
from codegen.cpu.emit.writer import Function, Value
from codegen.cpu.nest.plan import GROUP_BYTES, Plan
from codegen.cpu.pack.packer import PACK_B


def write_pack_b(f: Function, plan: Plan, matrix: Value, tile: Value, block: Value, panel: str) -> None:
    """Write the packing of the panel of a tile of columns over a K block."""
    memory, columns = Memory(f, plan), plan.columns
    column, k = f.mul(tile, plan.nr), f.mul(block, plan.block.k)
    depth, first = memory.depth_of(block), columns.first(f, column)
    left = f.mul(f.sub(plan.problem.n, column), 2 if columns.alternate else 1)
    for strip in columns.strips(plan.nr):
        line = f.add(first, strip.memory)
        source, scales = memory.element_b(matrix, k, line), memory.scales_of_b(matrix, k, line)
        there = f.at(panel, strip.place * GROUP_BYTES)
        f.call("void", PACK_B, [("ptr", source), ("ptr", there), ("i64", left), ("i64", depth), *scales])
