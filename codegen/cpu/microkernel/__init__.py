"""Micro-kernels: functions that compute one tile of C over one K block, and bring it to C."""

from codegen.cpu.microkernel.tile import INTERNAL, TILE_PARAMETERS, Tile, shapes, tile_name, write_finish, write_rows
from codegen.cpu.microkernel.vector import write_vector_tile
from codegen.cpu.plan import Plan
from codegen.cpu.writer import Module

__all__ = ["microkernels", "write_microkernels"]


def microkernels(plan: Plan) -> str:
    """Text of a module that holds nothing else."""
    module = Module()
    write_microkernels(module, plan)
    return module.text


def write_microkernels(module: Module, plan: Plan) -> None:
    """Write `@tile_{rows}x{columns}` for all sizes of tiles, `@finish_...` if K is split, and what they call.

    `@begin_thread` and `@end_thread` are to be called by each thread around its tiles.
    """
    write_begin_and_end(module, plan)
    for columns in dict.fromkeys(columns for _, columns in shapes(plan)):
        if plan.threads.k == 1:
            write_rows(module, plan, columns)
    for rows, columns in shapes(plan):
        with module.function(tile_name(rows, columns), TILE_PARAMETERS, linkage=INTERNAL) as f:
            write_vector_tile(Tile(f, plan, rows, columns))
        if plan.threads.k > 1:
            write_finish(module, plan, rows, columns)


def write_begin_and_end(module: Module, plan: Plan) -> None:
    """What a thread does before and after its tiles."""
    for name in ("begin_thread", "end_thread"):
        with module.function(name):
            pass
