"""Block sizes of messages that a kernel requests: `inst_data` of a load for DPAS, and of a prefetch.

That of other loads is ignored: it is the size of the consuming instructions, not a tuned parameter. It is
also ignored for transposed loads, which are planned.
"""

from dataclasses import replace

from xdsl.dialects import scf
from xdsl.ir import SSAValue, Use

from codegen.xe.dialects.xegpu import (
    ConvertLayoutOp,
    DpasOp,
    LayoutAttr,
    LoadNdOp,
    PrefetchNdOp,
)
from codegen.xe.layout import BlockLimits


def stated_limits(op: LoadNdOp | PrefetchNdOp, bits: int, limits: BlockLimits) -> BlockLimits:
    """Return the message limits for elements of a width: the device's, restricted by the access's inst_data."""
    stated = op.layout.data.inst_data if isinstance(op.layout, LayoutAttr) else None
    if stated is None or len(stated) != 2 or not (isinstance(op, PrefetchNdOp) or _is_operand(op)):
        return limits
    rows, columns = stated
    return replace(
        limits,
        max_rows=min(rows, limits.max_rows),
        max_width_bytes=min(columns * bits // 8, limits.max_width_bytes),
    )


def _is_operand(op: LoadNdOp) -> bool:
    """True if the loaded value is an operand of DPAS without rearrangement."""
    seen: set[SSAValue] = set()
    pending: list[SSAValue] = [op.result]
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        for use in value.uses:
            if isinstance(use.operation, DpasOp) and use.index < 2:
                return True
            pending += _same(use)
    return False


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
    if isinstance(user, ConvertLayoutOp) or user.name.startswith(("arith.", "math.")):
        return list(user.results)
    return []
