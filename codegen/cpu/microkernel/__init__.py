"""Micro-kernels: functions that compute one tile of C over one K block and store it to C."""

from codegen.config.cpu import Isa, Packing
from codegen.cpu.emit.epilogue import is_short
from codegen.cpu.emit.writer import Module
from codegen.cpu.microkernel.amx import write_amx_tile, write_begin_and_end
from codegen.cpu.microkernel.amx_rows_of_b import write_tile_of_rows_of_b
from codegen.cpu.microkernel.dot import write_dot_tile
from codegen.cpu.microkernel.parts import write_checks
from codegen.cpu.microkernel.tile import (
    Tile,
    copying_heights,
    shapes,
    tile_name,
    tile_parameters,
    write_finish,
    write_rows,
)
from codegen.cpu.microkernel.vector import write_vector_tile
from codegen.cpu.nest.plan import Plan

__all__ = ["microkernels", "write_microkernels"]


def microkernels(plan: Plan) -> str:
    """Return a module of the micro-kernels alone."""
    module = Module()
    write_microkernels(module, plan)
    return module.text


def write_microkernels(module: Module, plan: Plan) -> None:
    """Write `@tile_{rows}x{columns}` for all sizes of tiles, `@finish_...` if K is split, and what they call.

    `@begin_thread` and `@end_thread` are to be called by each thread around its tiles.
    """
    by_tiles = plan.isa is Isa.AMX
    by_dots = plan.problem.transpose_b and plan.packs_b is Packing.NONE
    by_rows = write_tile_of_rows_of_b if plan.reads_rows_of_b else write_amx_tile
    (write_begin_and_end if by_tiles else _write_nothing)(module, plan)
    if plan.parts > 1:
        write_checks(module, plan)
    write = by_rows if by_tiles else write_dot_tile if by_dots else write_vector_tile
    keeps = by_tiles or by_dots or not is_short(plan)
    for columns in dict.fromkeys(columns for _, columns in shapes(plan)):
        if keeps and plan.threads.k == 1:
            write_rows(module, plan, columns)
    for rows, columns in shapes(plan):
        for copies in (False, True) if rows in copying_heights(plan) else (False,):
            # A call costs little beside a tile, and code that is not copied into the nest compiles once.
            with module.function(tile_name(rows, columns, copies=copies), tile_parameters(plan), copied=False) as f:
                write(Tile(f, plan, rows, columns, copies))
        if plan.threads.k > 1:
            write_finish(module, plan, rows, columns)


def _write_nothing(module: Module, _: Plan) -> None:
    """Write empty functions: vector registers need no setup."""
    for name in ("begin_thread", "end_thread"):
        with module.function(name):
            pass
