"""Block sizes of messages: those that a kernel requests, `inst_data` of a load for DPAS and of a prefetch, and small
ones for what is stored together with products.

The `inst_data` of other loads is ignored: it is the size of the consuming instructions, not a tuned parameter. It is
also ignored for transposed loads, which are planned.

While products are stored their sums fill most registers. A large block beside them spills; blocks as small as those of
the stores are loaded right before these.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from math import prod

from xdsl.dialects import scf
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Operation, SSAValue, Use

from codegen.xe.dialects.creation import walk
from codegen.xe.dialects.xegpu import (
    ConvertLayoutOp,
    DpasOp,
    LayoutAttr,
    LoadNdOp,
    PrefetchNdOp,
    StoreNdOp,
)
from codegen.xe.layout import BlockLimits

READ_AHEAD_BYTES = 2048
"""Loads of up to this total stay before all their uses, which hides memory latency."""


def stated_limits(op: LoadNdOp | PrefetchNdOp, bits: int, limits: BlockLimits) -> BlockLimits:
    """Return the message limits for elements of a width: the device's, restricted to the blocks of this access."""
    stated = op.layout.data.inst_data if isinstance(op.layout, LayoutAttr) else None
    if isinstance(op, PrefetchNdOp) or _is_operand(op):
        return limits if stated is None or len(stated) != 2 else _at_most(*stated, bits, limits)
    if _bytes(op.result, bits) > READ_AHEAD_BYTES and _is_stored_with_products(op):
        return _at_most(limits.dpas_m, limits.dpas_n, bits, limits)
    return limits


def _at_most(rows: int, columns: int, bits: int, limits: BlockLimits) -> BlockLimits:
    return replace(
        limits,
        max_rows=min(rows, limits.max_rows),
        max_width_bytes=min(columns * bits // 8, limits.max_width_bytes),
    )


def _bytes(value: SSAValue, bits: int) -> int:
    assert isinstance(value.type, VectorType)
    return prod(value.type.get_shape()) * bits // 8


def _reached(start: SSAValue, follow: Callable[[SSAValue], Iterable[SSAValue]]) -> Iterator[SSAValue]:
    """Yield a value and all that follow from it, each once."""
    seen: set[SSAValue] = set()
    pending = [start]
    while pending:
        value = pending.pop()
        if value not in seen:
            seen.add(value)
            yield value
            pending += follow(value)


def _is_stored_with_products(op: LoadNdOp) -> bool:
    """True if the loaded value, with products and element by element, becomes what is stored."""

    def computed(value: SSAValue) -> list[SSAValue]:
        return [result for use in value.uses if _is_elementwise(use.operation) for result in use.operation.results]

    for value in _reached(op.result, computed):
        if any(isinstance(use.operation, StoreNdOp) for use in value.uses):
            return _has_products(value)
    return False


def _has_products(stored: SSAValue) -> bool:
    """True if a value is computed from products element by element."""

    def operands(value: SSAValue) -> Sequence[SSAValue]:
        owner = value.owner
        return owner.operands if isinstance(owner, Operation) and _is_elementwise(owner) else ()

    owners = (value.owner for value in _reached(stored, operands))
    return any(isinstance(owner, DpasOp) or (isinstance(owner, scf.ForOp) and _multiplies(owner)) for owner in owners)


def _multiplies(loop: scf.ForOp) -> bool:
    return any(isinstance(op, DpasOp) for op in walk(loop))


def _is_elementwise(op: Operation) -> bool:
    return isinstance(op, ConvertLayoutOp) or op.name.startswith(("arith.", "math."))


def _is_operand(op: LoadNdOp) -> bool:
    """True if the loaded value is an operand of DPAS without rearrangement."""
    reached = _reached(op.result, lambda value: [same for use in value.uses for same in _same(use)])
    return any(isinstance(use.operation, DpasOp) and use.index < 2 for value in reached for use in value.uses)


def _same(use: Use) -> list[SSAValue]:
    """Return the element-wise results of a user, or the values that carry it through a region."""
    user = use.operation
    if isinstance(user, scf.ForOp):
        return [user.body.block.args[use.index - 2], user.results[use.index - 3]]
    if isinstance(user, scf.YieldOp):
        loop = user.parent_op()
        if isinstance(loop, scf.ForOp):
            return [loop.body.block.args[use.index + 1], loop.results[use.index]]
        return [] if loop is None else [loop.results[use.index]]
    if _is_elementwise(user):
        return list(user.results)
    return []
