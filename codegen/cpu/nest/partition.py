"""Partition of tiles and blocks over threads, at compile time and as code.

Parts differ by at most one, and the larger ones come first.
Source: "balance211", as oneDNN names it; DOC: deep-Tiled Matmul asks for it where threads do not divide.
"""

from dataclasses import dataclass

from codegen.cpu.emit.writer import (
    Function,
    Value,
)
from codegen.cpu.nest.plan import Plan


@dataclass(frozen=True, slots=True)
class Range:
    """Range from `low` to below `high`."""

    low: Value
    high: Value


def part(count: int, parts: int, number: int) -> range:
    """Return the range of part `number` of `parts` among `count` items."""
    each, over = divmod(count, parts)
    low = number * each + min(number, over)
    return range(low, low + each + (number < over))


def largest_part(count: int, parts: int) -> int:
    """Return the length of the first and largest part."""
    return len(part(count, parts, 0))


def write_part(f: Function, count: Value, parts: int, number: Value) -> Range:
    """Write the partition of `count` items, for a `number` known only at run time."""
    if parts == 1:
        return Range(0, count)
    each, over = f.div(count, parts), f.rem(count, parts)
    low = f.add(f.mul(number, each), 0 if over == 0 else f.min(number, over))
    if over == 0:
        return Range(low, f.add(low, each))
    more = f.op(f"zext i1 {f.compare('slt', number, over)} to i64")
    return Range(low, f.add(low, f.add(more, each)))


@dataclass(frozen=True, slots=True)
class Place:
    """Place of a thread in the grid of threads."""

    m: Value
    n: Value
    k: Value


def write_place(f: Function, plan: Plan, thread: Value) -> Place:
    """Write the place of thread number `thread` in the p loops; the threads over K are adjacent."""
    threads = plan.threads
    k, both = f.rem(thread, threads.k), f.div(thread, threads.k)
    if plan.config.matmul.loop_order.walks_along_n:
        return Place(f.div(both, threads.n), f.rem(both, threads.n), k)
    return Place(f.rem(both, threads.m), f.div(both, threads.m), k)
