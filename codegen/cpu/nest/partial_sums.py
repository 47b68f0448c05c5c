"""Reductions after all threads have multiplied: partial sums over K, and sums along rows or columns."""

from codegen.cpu.emit.memory import (
    THREAD_PARAMETERS,
    Memory,
)
from codegen.cpu.emit.workspace import (
    PARTIALS,
    k_parts,
    reduced,
    tile_bytes,
)
from codegen.cpu.emit.writer import (
    Function,
    Module,
    Value,
)
from codegen.cpu.nest.loop_nest import write_by_size
from codegen.cpu.nest.partition import write_part
from codegen.cpu.nest.plan import (
    SUM_BYTES,
    Plan,
)
from codegen.problem.epilogue import Axis
from codegen.xe.rules.sizes import ceil_div

FINISH = "finish_tiles"


def write_finish_tiles(module: Module, plan: Plan) -> None:
    """Write `@finish_tiles(ptr arguments, i64 thread)`: sum some tiles over all parts of K and store them to C."""
    with module.function(FINISH, THREAD_PARAMETERS) as f:
        each, count = tile_bytes(plan), plan.problem.batch * plan.tiles_m * plan.tiles_n
        partials = Memory(f, plan).shared(PARTIALS)
        some = write_part(f, count, plan.config.thread_count, "%thread")
        with f.loop(some.low, some.high) as tile:
            before, tile_n = f.div(tile.index, plan.tiles_n), f.rem(tile.index, plan.tiles_n)
            matrix, tile_m = f.div(before, plan.tiles_m), f.rem(before, plan.tiles_m)
            arguments = [
                ("ptr", "%arguments"),
                ("ptr", f.at(partials, f.mul(tile.index, each))),
                ("i64", count * each),
                ("i64", k_parts(plan)),
                ("i64", matrix),
                ("i64", f.mul(tile_m, plan.mr)),
                ("i64", f.mul(tile_n, plan.nr)),
            ]

            def finish(rows: int, columns: int, arguments: list[tuple[str, Value]] = arguments) -> None:
                f.call("void", f"finish_{rows}x{columns}", arguments)

            write_by_size(f, plan, tile_m, tile_n, finish)


def reduce_name(step: int) -> str:
    """Return the name of the function that adds the partial sums of a step."""
    return f"add_{reduced(step)}"


def write_reduce(module: Module, plan: Plan, step: int) -> None:
    """Write `@add_reduce_{step}(ptr arguments, i64 thread)`: add the tiles' sums along rows or columns in order."""
    p, lanes = plan.problem, plan.lanes
    by_rows = p.epilogue[step].axis is Axis.ROW
    length, tiles = (p.m, plan.tiles_n) if by_rows else (p.n, plan.tiles_m)
    stored = plan.tiles_m * plan.mr if by_rows else plan.tiles_n * plan.nr
    number, operand = next((n, o) for n, o in enumerate(p.operands) if o.step == step)
    vectors = ceil_div(length, lanes)
    with module.function(reduce_name(step), THREAD_PARAMETERS) as f:
        memory = Memory(f, plan)
        partials, result = memory.shared(reduced(step)), memory.pointer(number)
        some = write_part(f, p.batch * vectors, plan.config.thread_count, "%thread")
        with f.loop(some.low, some.high) as unit:
            matrix, first = f.div(unit.index, vectors), f.mul(f.rem(unit.index, vectors), lanes)
            chosen = _first_lanes(f, lanes, f.min(f.sub(length, first), lanes))
            begin = f.at(partials, f.mul(f.add(f.mul(matrix, tiles * stored), first), SUM_BYTES))
            kind = f"<{lanes} x float>"
            with f.loop(0, tiles, carried=[(kind, "zeroinitializer")]) as tile:
                part = _masked_load(f, lanes, f.at(begin, f.mul(tile.index, stored * SUM_BYTES)), chosen)
                tile.next([f.op(f"fadd {kind} {tile.carried[0]}, {part}")])
            place = f.at(result, f.mul(f.add(f.mul(matrix, operand.batch_stride), first), SUM_BYTES))
            listed = [(kind, tile.results[0]), (f"ptr align {SUM_BYTES}", place), (f"<{lanes} x i1>", chosen)]
            f.call("void", f"llvm.masked.store.v{lanes}f32.p0", listed)


def _first_lanes(f: Function, lanes: int, count: Value) -> str:
    """Return a mask of the first `count` lanes."""
    kind = f"<{lanes} x i32>"
    one = f.op(f"insertelement {kind} poison, i32 {f.op(f'trunc i64 {count} to i32')}, i64 0")
    all_ = f.op(f"shufflevector {kind} {one}, {kind} poison, <{lanes} x i32> zeroinitializer")
    return f.op(f"icmp slt {kind} <{', '.join(f'i32 {lane}' for lane in range(lanes))}>, {all_}")


def _masked_load(f: Function, lanes: int, pointer: str, chosen: str) -> str:
    kind = f"<{lanes} x float>"
    listed = [(f"ptr align {SUM_BYTES}", pointer), (f"<{lanes} x i1>", chosen), (kind, "zeroinitializer")]
    return f.call(kind, f"llvm.masked.load.v{lanes}f32.p0", listed)
