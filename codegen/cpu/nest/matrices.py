"""Matrices that a thread has tiles of: of experts, whose rows are known only at run time, those with rows."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from codegen.cpu.emit.memory import Memory
from codegen.cpu.emit.writer import Function, Loop, Value
from codegen.cpu.nest.partition import Range
from codegen.cpu.nest.plan import Plan
from codegen.problem.dtype import DType


@dataclass(frozen=True, slots=True)
class Matrix:
    """A matrix of a batch or of an expert: its `rows` begin at `first_row` of A and C; `tiles` are the thread's."""

    number: Value
    tiles: Range
    first_row: Value
    rows: Value


def write_row_tiles(f: Function, plan: Plan) -> Value:
    """Write the count of the tiles of rows of all experts."""
    if plan.parts_m == 1:  # a thread then has all tiles of each expert
        return plan.tiles_m
    with f.loop(0, plan.problem.experts or 1, carried=[("i64", 0)], enters=True) as expert:
        _, rows = _rows_of(f, plan, expert)
        expert.next([f.add(expert.carried[0], _tiles(f, plan, rows))])
    return expert.results[0]


@contextmanager
def matrices_of_experts(f: Function, plan: Plan, units: Range) -> Generator[Matrix]:
    """Yield each expert that the thread has rows of; `units` are numbers of tiles of rows, expert by expert."""
    with f.loop(0, plan.problem.experts or 1, carried=[("i64", 0)], enters=True) as expert:
        first, rows = _rows_of(f, plan, expert)
        before, tiles = expert.carried[0], _tiles(f, plan, rows)
        expert.next([f.add(before, tiles)])
        some = Range(0, tiles)
        if plan.parts_m > 1:
            some = Range(f.max(f.sub(units.low, before), 0), f.min(f.sub(units.high, before), tiles))
        with f.when(f.compare("slt", some.low, some.high)):
            yield Matrix(expert.index, some, first, rows)


def _rows_of(f: Function, plan: Plan, expert: Loop) -> tuple[Value, Value]:
    """Return the first row of an expert, and how many it has."""
    size = DType.I32.nbytes
    here = f.at(Memory(f, plan).offsets, f.mul(expert.index, size))
    first, end = (f.op(f"sext i32 {f.load('i32', f.at(here, n * size), size)} to i64") for n in (0, 1))
    return first, f.sub(end, first)


def _tiles(f: Function, plan: Plan, rows: Value) -> Value:
    return f.div(f.add(rows, plan.mr - 1), plan.mr)
