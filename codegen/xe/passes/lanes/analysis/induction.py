"""Increments per iteration of the values that a loop carries."""

from collections.abc import Sequence

from xdsl.ir import SSAValue

from codegen.xe.dialects.xegpu import (
    TensorDescType,
    UpdateNdOffsetOp,
)
from codegen.xe.passes.lanes.analysis.affine import (
    Sum,
    added,
    hangs_on,
)
from codegen.xe.passes.lanes.analysis.affine_values import Sums


def steps_of(sums: Sums, argument: SSAValue, last: SSAValue, count: int) -> Sequence[Sum | None]:
    """Return the increment of an index, or of each of the `count` offsets of a descriptor; None: not known.

    `last`: the value of the argument at the end of the iteration.
    """
    if isinstance(argument.type, TensorDescType):
        return _moves(sums, argument, last, count)
    step = added(sums.of(last), sums.of(argument), -1)
    return [None if hangs_on(step, argument) else step]


def _moves(sums: Sums, argument: SSAValue, last: SSAValue, count: int) -> Sequence[Sum | None]:
    total: list[Sum] = [{}] * count
    while isinstance(last.owner, UpdateNdOffsetOp):
        further = last.owner.mixed_offsets
        for axis, offset in enumerate(further, count - len(further)):  # fewer offsets apply to the last dimensions
            total[axis] = added(total[axis], sums.of(offset))
        last = last.owner.desc
    return total if last is argument else [None] * count
