"""Packing of a whole operand: all threads together, each some of the panels, with work stealing."""

from collections.abc import Generator
from contextlib import contextmanager

from codegen.cpu.emit.memory import (
    THREAD_PARAMETERS,
    Memory,
    Panels,
    panels_of_a,
    panels_of_b,
)
from codegen.cpu.emit.writer import (
    Function,
    Module,
    Value,
)
from codegen.cpu.nest.partition import write_part
from codegen.cpu.nest.plan import Plan
from codegen.cpu.nest.work_stealing import (
    Takes,
    taken,
)
from codegen.cpu.pack.call_packer import write_pack_b
from codegen.cpu.pack.packer import PACK_A

PACK_WHOLE_A, PACK_WHOLE_B = "pack_whole_a", "pack_whole_b"
_PARAMETERS = (*THREAD_PARAMETERS, ("ptr", "%panels"))


def write_whole_a(module: Module, plan: Plan) -> None:
    """Write `i64 @pack_whole_a(ptr arguments, i64 thread, ptr panels)`, which returns the number of packed panels."""
    with module.function(PACK_WHOLE_A, _PARAMETERS, "i64") as f:
        _write(f, plan, panels_of_a(plan), Takes.PANELS_OF_A)


def write_whole_b(module: Module, plan: Plan) -> None:
    """Write `i64 @pack_whole_b(ptr arguments, i64 thread, ptr panels)`, which returns the number of packed panels."""
    with module.function(PACK_WHOLE_B, _PARAMETERS, "i64") as f:
        _write(f, plan, panels_of_b(plan), Takes.PANELS_OF_B)


def _write(f: Function, plan: Plan, panels: Panels, kind: Takes) -> None:
    memory, packer, tiles = Memory(f, plan), panels.packer, panels.tiles
    packed = f.op("alloca i64, align 8")
    f.store("i64", 0, packed, 8)
    with _units(f, plan, panels, kind) as unit:
        before, tile = f.div(unit, tiles), f.rem(unit, tiles)
        matrix, block = f.div(before, plan.k_blocks), f.rem(before, plan.k_blocks)
        panel = f.at("%panels", panels.offset(f, matrix, block, tile))
        if packer.name == PACK_A:
            row = f.mul(tile, plan.mr)
            source = memory.element_a(matrix, row, f.mul(block, plan.block.k))
            left, depth = f.sub(plan.problem.m, row), memory.depth_of(block)
            f.call("void", PACK_A, [("ptr", source), ("ptr", panel), ("i64", left), ("i64", depth)])
        else:
            write_pack_b(f, plan, matrix, tile, block, panel)
        f.store("i64", f.add(f.load("i64", packed, 8), 1), packed, 8)
    f.end(f"ret i64 {f.load('i64', packed, 8)}")


@contextmanager
def _units(f: Function, plan: Plan, panels: Panels, kind: Takes) -> Generator[Value]:
    """Yield the numbers of the panels that `%thread` packs."""
    threads = plan.config.thread_count
    if threads == 1:
        with f.loop(0, panels.count) as unit:
            yield unit.index
        return

    def own(owner: Value) -> Value:
        part = write_part(f, panels.count, threads, owner)
        return f.sub(part.high, part.low)

    with taken(f, plan, Memory(f, plan).words, kind, own) as (owner, number):
        yield f.add(write_part(f, panels.count, threads, owner).low, number)
