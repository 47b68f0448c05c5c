"""Check for overlapping buffers: a call that writes one is refused, as its result would depend on timing."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from codegen.cpu.emit.writer import Function
from codegen.problem.gemm import Operand
from codegen.xe.rules.sizes import ceil_div


@dataclass(frozen=True, slots=True)
class Buffer:
    """Memory of a parameter in bytes: `nbytes` from first to past last, `row` used of every `pitch`.

    A buffer with gaps that are no rows of one pitch is one row.
    """

    parameter: str
    nbytes: int
    row: int
    pitch: int
    written: bool


def buffer_of(operand: Operand, batch: int, *, written: bool) -> Buffer:
    """Return the buffer of an operand; it ends with the last column of the last row, and excludes gaps between rows."""
    size, pitch = operand.dtype.nbytes, operand.pitch
    matrices = operand.matrices(batch)
    used = (matrices - 1) * operand.batch_stride + (operand.rows - 1) * pitch + operand.columns
    regular = operand.columns <= pitch and (matrices == 1 or operand.batch_stride % pitch == 0)
    row, distance = (operand.columns, pitch) if regular else (used, used)
    return Buffer(operand.name, used * size, row * size, distance * size, written)


def scratch(parameter: str, nbytes: int, *, written: bool = True) -> Buffer:
    """Return a contiguous buffer."""
    return Buffer(parameter, nbytes, nbytes, nbytes, written)


def write_overlap_check(f: Function, buffers: list[Buffer], status: int) -> None:
    """Write a check that returns `status` if a written buffer overlaps another one."""
    addresses = {b.parameter: f.op(f"ptrtoint ptr %{b.parameter} to i64") for b in buffers}
    for overlaps in _overlaps(f, buffers, addresses):
        with f.when(overlaps):
            f.end(f"ret i32 {status}")


def _overlaps(f: Function, buffers: list[Buffer], addresses: dict[str, str]) -> Iterator[str]:
    for first, second in combinations(buffers, 2):
        if first.written or second.written:
            yield _pair(f, first, second, f.op(f"sub i64 {addresses[second.parameter]}, {addresses[first.parameter]}"))


def _pair(f: Function, first: Buffer, second: Buffer, distance: str) -> str:
    """Return an i1, true if two buffers overlap, the second `distance` bytes after the first."""
    within = f.op(f"and i1 {f.compare('slt', distance, first.nbytes)}, {f.compare('sgt', distance, -second.nbytes)}")
    pitch = first.pitch
    if second.pitch != pitch or first.row + second.row > pitch:
        return within
    # Columns of one matrix side by side: where a row of the second begins behind one of the first.
    behind = f.op(f"add i64 {distance}, {ceil_div(second.nbytes, pitch) * pitch}")
    offset = f.op(f"urem i64 {behind}, {pitch}")
    beside = f.op(f"and i1 {f.compare('uge', offset, first.row)}, {f.compare('ule', offset, pitch - second.row)}")
    return f.op(f"and i1 {within}, {f.op(f'xor i1 {beside}, true')}")
