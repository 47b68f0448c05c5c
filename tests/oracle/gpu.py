"""The meaning of the gpu dialect: ids, sizes and barriers."""

from collections.abc import Callable, Iterator
from math import prod

import numpy as np
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue

from codegen.xe.dialects.gpu import (
    BarrierOp,
    BlockDimOp,
    BlockIdOp,
    Dimension,
    DimensionAttr,
    GlobalIdOp,
    GridDimOp,
    LaneIdOp,
    NumSubgroupsOp,
    ShuffleMode,
    ShuffleOp,
    SubgroupIdOp,
    SubgroupReduceOp,
    SubgroupSizeOp,
    ThreadIdOp,
)
from codegen.xe.subgroup import subgroup_size
from tests.oracle.combine import reduce
from tests.oracle.elements import element_of
from tests.oracle.frame import (
    AtBarrier,
    Event,
    Extents,
    Frame,
    attribute,
    name_of,
)
from tests.oracle.refusal import InterpretationRefused
from tests.oracle.registry import (
    rule,
    rule_of,
)
from tests.oracle.values import (
    Value,
    Varying,
)
from tests.oracle.work_items import together


def _axis(op: Operation) -> int:
    dimension = attribute(op, "dimension")
    assert isinstance(dimension, DimensionAttr)
    return list(Dimension).index(dimension.data)


def _set(frame: Frame, op: Operation, number: int) -> None:
    frame.set(op.results[0], np.asarray(number, np.int64))


@rule_of(BlockIdOp)
def _block_id(frame: Frame, op: BlockIdOp) -> None:
    _set(frame, op, frame.group.place[_axis(op)])


@rule_of(GridDimOp)
def _grid_dim(frame: Frame, op: GridDimOp) -> None:
    _set(frame, op, frame.group.grid[_axis(op)])


@rule_of(BlockDimOp)
def _block_dim(frame: Frame, op: BlockDimOp) -> None:
    _set(frame, op, frame.group.block[_axis(op)])


@rule_of(SubgroupSizeOp)
def _subgroup_size(frame: Frame, op: SubgroupSizeOp) -> None:
    _set(frame, op, subgroup_size())


@rule_of(NumSubgroupsOp)
def _num_subgroups(frame: Frame, op: NumSubgroupsOp) -> None:
    _set(frame, op, frame.group.subgroups)


@rule_of(SubgroupIdOp)
def _subgroup_id(frame: Frame, op: SubgroupIdOp) -> None:
    whole = frame.group.whole and frame.group.subgroups > 1
    frame.values[op.result] = Varying.VALUE if whole else np.asarray(frame.subgroup, np.int64)


@rule_of(LaneIdOp)
def _lane_id(frame: Frame, op: LaneIdOp) -> None:
    if frame.lane is None:
        raise InterpretationRefused("", "expected gpu.lane_id in a kernel for work-items, got it in one for sub-groups")
    _set(frame, op, frame.lane)


@rule_of(ShuffleOp)
def _shuffle(frame: Frame, op: ShuffleOp) -> Iterator[Event]:
    """Exchange values among the first `width` work-items; without a source the own value, marked invalid."""
    if frame.lane is None:
        raise InterpretationRefused("", "expected gpu.shuffle in a kernel for work-items, got it in one for sub-groups")
    values = yield from together(frame, op, frame.array(op.value), list)
    offset, width = frame.number(op.offset), frame.number(op.width)
    source = {
        ShuffleMode.XOR: frame.lane ^ offset,
        ShuffleMode.UP: frame.lane - offset,
        ShuffleMode.DOWN: frame.lane + offset,
        ShuffleMode.IDX: offset,
    }[op.mode.data]
    valid = 0 <= source < width
    frame.set(op.shuffle_result, values[source if valid else frame.lane])
    frame.set(op.valid, np.asarray(valid))


@rule_of(ThreadIdOp)
def _thread_id(frame: Frame, op: ThreadIdOp) -> None:
    frame.values[op.result] = _thread(frame, op)


@rule_of(GlobalIdOp)
def _global_id(frame: Frame, op: GlobalIdOp) -> None:
    axis, thread = _axis(op), _thread(frame, op)
    start = frame.group.place[axis] * frame.group.block[axis]
    frame.values[op.result] = np.asarray(thread + start) if isinstance(thread, np.ndarray) else thread


def _thread(frame: Frame, op: Operation) -> Value:
    """Return the id of the sub-group's first work-item, if the kernel cannot tell the others apart.

    Raises:
        InterpretationRefused: work-items of the sub-group would go on differently.
    """
    group, axis = frame.group, _axis(op)
    if frame.lane is not None:
        linear = frame.subgroup * subgroup_size() + frame.lane
        return np.asarray(linear // prod(group.block[:axis]) % group.block[axis], np.int64)
    if group.whole and group.block[axis] > 1:
        return Varying.VALUE
    first = frame.subgroup * (1 if group.counts_subgroups else subgroup_size())
    stride = prod(group.block[:axis])
    shared = group.counts_subgroups or stride % subgroup_size() == 0 or group.block[axis] == 1
    if not shared and not (_is_line(group.block) and all(_divides(use.operation) for use in op.results[0].uses)):
        raise InterpretationRefused(
            "",
            f"expected ids that the {subgroup_size()} work-items of a sub-group share, or ids divided by a multiple of "
            f"{subgroup_size()}, got {name_of(op)} in blocks of {group.block}: use gpu.subgroup_id",
        )
    return np.asarray(first // stride % group.block[axis], np.int64)


def _is_line(block: Extents) -> bool:
    return block[0] % subgroup_size() == 0


def _divides(op: Operation) -> bool:
    """Return whether an operation reduces an id to a part that the work-items of a sub-group share."""
    if name_of(op) in ("arith.index_cast", "arith.index_castui", "arith.trunci"):
        return all(_divides(use.operation) for use in op.results[0].uses)
    divisor = _constant(op.operands[1]) if len(op.operands) == 2 else None
    if divisor is None:
        return False
    test = _DIVIDES.get(name_of(op))
    return test is not None and test(divisor)


_DIVIDES: dict[str, Callable[[int], bool]] = {
    "arith.divui": lambda by: by > 0 and by % subgroup_size() == 0,
    "arith.divsi": lambda by: by > 0 and by % subgroup_size() == 0,
    "arith.floordivsi": lambda by: by > 0 and by % subgroup_size() == 0,
    "arith.shrui": lambda by: subgroup_size() >> by <= 1,
    "arith.shrsi": lambda by: subgroup_size() >> by <= 1,
}


def _constant(value: SSAValue) -> int | None:
    owner = value.owner
    number = attribute(owner, "value") if isinstance(owner, Operation) and owner.name == "arith.constant" else None
    return number.value.data if isinstance(number, IntegerAttr) else None


@rule_of(BarrierOp)
def _barrier(frame: Frame, op: BarrierOp) -> Iterator[Event] | None:
    return None if frame.group.whole else iter((AtBarrier(op),))


@rule_of(SubgroupReduceOp)
def _subgroup_reduce(frame: Frame, op: SubgroupReduceOp) -> Iterator[Event] | None:
    """Combine the values of a sub-group's work-items; the same number in each if they are not executed singly."""
    value, (size, stride) = frame.array(op.value), op.cluster
    size = size or subgroup_size()
    if frame.lane is not None:
        return _reduce_together(frame, op, frame.lane, size, stride)
    copies = np.broadcast_to(value, (size, *value.shape))
    frame.set(op.result, reduce(str(op.kind), copies, (0,), element_of(op.result.type)))
    return None


def _reduce_together(frame: Frame, op: SubgroupReduceOp, lane: int, size: int, stride: int) -> Iterator[Event]:
    """Combine the values of a cluster of `size` work-items whose ids are `stride` apart."""
    values = yield from together(frame, op, frame.array(op.value), list)
    first = lane // (size * stride) * (size * stride) + lane % stride
    cluster = np.stack([values[first + i * stride] for i in range(size)])
    frame.set(op.result, reduce(str(op.kind), cluster, (0,), element_of(op.result.type)))


@rule("gpu.printf", "vector.print")
def _print(frame: Frame, op: Operation) -> None:
    """Printing has no effect on values."""
