"""Converts a value to another layout through shared local memory, in strips if it does not fit as a whole."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import lcm, prod
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import VectorType
from xdsl.dialects.scf import IfOp, YieldOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint

from codegen.xe.dialects.index_list import Index
from codegen.xe.dialects.maps import Ints
from codegen.xe.dialects.upstream.arith_ops import CmpiOp
from codegen.xe.passes.distribute.exchange import (
    Exchange,
    storage_bytes,
)
from codegen.xe.passes.distribute.layout import Layout
from codegen.xe.passes.distribute.rule import refuse
from codegen.xe.passes.distribute.work import (
    Parts,
    Work,
)

MOST_BYTES = 64 * 1024
"""Maximum size of one exchange: the smallest local memory of a work-group. Source: hal's tables, max_slm_bytes."""


@dataclass(frozen=True, slots=True)
class _Strip:
    """The part of a value that is moved at a time: `size` elements of a dimension, from `start` on."""

    axis: int
    start: int
    size: int
    extent: int


def redistribute(
    work: Work, op: Operation, parts: Parts, source: Layout, target: Layout, shape: Ints
) -> list[SSAValue]:
    """Return the blocks of a value in another layout.

    Raises:
        PassFailedException: not every sub-group reaches `op`, or blocks are too large for strips.
    """
    element = cast(VectorType, parts[0].type).element_type
    strips = _strips(source, target, shape, storage_bytes(element))
    written = [work.starts(source, shape, rounds) for rounds in source.blocks(shape)]
    read = [work.starts(target, shape, rounds) for rounds in target.blocks(shape)]
    results: list[SSAValue | None] = [None] * len(read)
    for strip in strips:
        exchange = Exchange(work, _shape(shape, strip), element, op)
        for part, starts in zip(parts, written, strict=True):
            _write(work, exchange, part, starts, strip)
        exchange.share()
        for number, starts in enumerate(read):
            results[number] = _read(work, exchange, target.data, starts, strip, results[number])
    return [result for result in results if result is not None]


def _strips(source: Layout, target: Layout, shape: Ints, nbytes: int) -> list[_Strip]:
    """Return the fewest strips that cut no block; one if the value fits as a whole."""
    total = prod(shape) * nbytes
    if total <= MOST_BYTES:
        return [_Strip(0, 0, shape[0], shape[0])]
    sizes: list[tuple[int, int, int]] = []
    for axis, extent in enumerate(shape):
        unit = lcm(source.data[axis], target.data[axis])
        sizes += [(total // extent * size, axis, size) for size in range(unit, extent, unit) if extent % size == 0]
    fitting = [entry for entry in sizes if entry[0] <= MOST_BYTES]
    if not fitting:
        raise refuse(f"blocks of which strips of {MOST_BYTES} bytes can be exchanged", f"{source.data}, {target.data}")
    _, axis, size = max(fitting)
    return [_Strip(axis, start, size, shape[axis]) for start in range(0, shape[axis], size)]


def _shape(shape: Ints, strip: _Strip) -> Ints:
    return (*shape[: strip.axis], strip.size, *shape[strip.axis + 1 :])


def _write(work: Work, exchange: Exchange, part: SSAValue, starts: Sequence[Index], strip: _Strip) -> None:
    def write() -> list[SSAValue]:
        exchange.write([(part, _within(work, starts, strip))])
        return []

    here = _is_in(work, starts[strip.axis], strip)
    if here is True:
        write()
    elif here is not False:
        work.insert(IfOp(here, [], Region(_block(work, write))))


def _read(
    work: Work, exchange: Exchange, data: Ints, starts: Sequence[Index], strip: _Strip, before: SSAValue | None
) -> SSAValue | None:
    def read() -> list[SSAValue]:
        return [exchange.read(data, _within(work, starts, strip))]

    here = _is_in(work, starts[strip.axis], strip)
    if here is True:
        return read()[0]
    if here is False:
        return before
    before = before if before is not None else work.zeros(exchange.element, data)
    then = _block(work, read)
    return work.insert(IfOp(here, [before.type], Region(then), Region(Block([YieldOp(before)])))).results[0]


def _is_in(work: Work, start: Index, strip: _Strip) -> SSAValue | bool:
    """Return whether a block is in a strip, as a constant if known at compile time."""
    if strip.size == strip.extent:
        return True
    if isinstance(start, int):
        return strip.start <= start < strip.start + strip.size
    low = work.insert(CmpiOp(start, work.constant(strip.start), "uge")).result
    high = work.insert(CmpiOp(start, work.constant(strip.start + strip.size), "ult")).result
    return work.insert(arith.AndIOp(low, high)).result


def _within(work: Work, starts: Sequence[Index], strip: _Strip) -> list[Index]:
    return [work.add(start, -strip.start) if axis == strip.axis else start for axis, start in enumerate(starts)]


def _block(work: Work, build: Callable[[], list[SSAValue]]) -> Block:
    """Create a block with the operations that `build` emits."""
    block, outside = Block(), work.at
    work.at = InsertPoint.at_end(block)
    block.add_op(YieldOp(*build()))
    work.at = outside
    return block
