"""Kernels for work-items (SIMT): each runs alone and waits for its sub-group at operations of all work-items.

The part of a block that a work-item holds follows the XeGPU RFC: "Resulting WI Data Fragment", tables of load_nd.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from functools import cache
from itertools import product
from math import prod
from typing import TypeVar, cast

from xdsl.ir import Operation

from codegen.xe.dialects import xegpu
from codegen.xe.dialects.maps import Ints
from codegen.xe.dialects.xegpu import SgMapAttr, TensorDescType
from codegen.xe.dialects.xegpu.types import bits
from codegen.xe.subgroup import subgroup_size
from tests.oracle.elements import shape_of
from tests.oracle.frame import (
    AtSubgroup,
    Event,
    Frame,
)
from tests.oracle.refusal import InterpretationRefused

Given = TypeVar("Given")
Made = TypeVar("Made")
_MADE = -1  # no work-item's number


def is_of_work_items(operations: Sequence[Operation]) -> bool:
    """Return whether an operation takes a work-item's part of a block, or an offset of its own."""
    return any(_takes_a_part(op) for op in operations)


def _takes_a_part(op: Operation) -> bool:
    if isinstance(op, xegpu.LoadNdOp | xegpu.StoreNdOp):
        value = op.result if isinstance(op, xegpu.LoadNdOp) else op.value
        desc = cast(TensorDescType, op.desc.type)
        return prod(shape_of(value.type)) < prod(desc.get_shape())
    if isinstance(op, xegpu.DpasOp):
        layout = None if op.layout_cd is None else op.layout_cd.distribution.lane_layout
        return shape_of(op.d.type)[1:] == () or (shape_of(op.d.type)[1:] == (1,) and layout is not None)
    if isinstance(op, xegpu.LoadOp | xegpu.StoreOp | xegpu.PrefetchOp) and op.offsets is not None:
        return shape_of(op.offsets.type) in ((), (1,))
    if isinstance(op, xegpu.LoadOp):
        return prod(shape_of(op.result.type)) < prod(cast(TensorDescType, op.source.type).get_shape())
    return False


def together(
    frame: Frame, op: Operation, given: Given, make: Callable[[list[Given]], Made]
) -> Generator[Event, None, Made]:
    """Wait for all work-items of the sub-group at an operation, and return `make` of their values.

    `make` is called once, with a list in the order of the work-items.
    """
    count = frame.rounds.get(op, 0)
    frame.rounds[op] = count + 1
    brought = frame.group.brought.setdefault((frame.subgroup, op, count), {})
    assert frame.lane is not None
    brought[frame.lane] = given
    yield AtSubgroup(op, frame.subgroup)
    if _MADE not in brought:
        brought[_MADE] = make([cast(Given, brought[lane]) for lane in range(subgroup_size())])
    return cast(Made, brought[_MADE])


@cache
def held(op: xegpu.LoadNdOp | xegpu.StoreNdOp, lane: int) -> list[Ints]:
    """Return the elements of a block that a work-item holds, in order; transposed if `op` transposes."""
    desc = cast(TensorDescType, op.desc.type)
    turned = isinstance(op, xegpu.LoadNdOp) and op.transpose is not None
    shape, layout = desc.get_shape(), op.layout or desc.layout
    if layout is None:
        packs = isinstance(op, xegpu.LoadNdOp) and op.packed is not None
        shape = shape[::-1] if turned else shape
        lanes, data = _of_message(shape, bits(desc.element_type), packs=packs)
        return list(_units(shape, lanes, data, range(len(shape))[::-1], lane))
    d = layout.distribution
    lanes, data, order = d.lane_layout, d.lane_data, d.order if not isinstance(layout, SgMapAttr) else None
    if lanes is None or data is None:
        raise InterpretationRefused("", f"expected lane_layout and lane_data, got {layout}")
    if len(lanes) > len(shape):  # an sg_map has two dimensions always
        lanes, data = lanes[-len(shape) :], data[-len(shape) :]
    fastest = order or tuple(range(len(shape))[::-1])
    if turned:
        shape, lanes, data, fastest = shape[::-1], lanes[::-1], data[::-1], tuple(1 - axis for axis in fastest)
    return list(_units(shape, lanes, data, fastest, lane))


def _of_message(shape: Ints, width: int, *, packs: bool) -> tuple[Ints, Ints]:
    """Return lane_layout and lane_data by the RFC's table: one dimension, B, A of 32 or 8 bits, and any other."""
    if len(shape) == 1:
        return (subgroup_size(),), (1,)
    if subgroup_size() != 16 and width < 32:
        raise InterpretationRefused("", "expected lane_layout and lane_data, as the RFC's tables differ by operand")
    if packs:
        return (1, subgroup_size()), (32 // width, 1)
    if width == 32 and shape[1] == 8:
        return (2, 8), (1, 1)
    if width == 8 and shape[1] % 32 == 0:
        return (1, subgroup_size()), (1, 2)
    return (1, subgroup_size()), (1, 1)


def _units(shape: Ints, lanes: Ints, data: Ints, fastest: Sequence[int], lane: int) -> Iterator[Ints]:
    mine = [0] * len(shape)
    for axis in fastest:
        lane, mine[axis] = divmod(lane, lanes[axis])
    counts = [range(n // (m * d)) for n, m, d in zip(shape, lanes, data, strict=True)]
    for unit in product(*counts):
        for element in product(*map(range, data)):
            yield tuple((u * m + i) * d + e for u, m, i, d, e in zip(unit, lanes, mine, data, element, strict=True))
