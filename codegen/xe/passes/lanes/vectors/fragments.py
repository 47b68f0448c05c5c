"""Values of work-items: vectors that each lane has for itself, and the part of a block that a lane holds.

A lane holds of each distribution unit, lane_layout * lane_data, the elements of lane_data: units in row-major order,
and the elements of one unit next to each other. Source: XeGPU RFC, "Resulting WI Data Fragment".
"""

from math import prod
from typing import cast

import numpy as np
from xdsl.utils.exceptions import PassFailedException

from codegen.xe.dialects.maps import (
    Ints,
    format_ints,
)
from codegen.xe.dialects.xegpu import (
    LayoutAttr,
    LoadNdOp,
    StoreNdOp,
    TensorDescType,
)
from codegen.xe.dialects.xegpu.types import distribution_of
from codegen.xe.passes.lanes.emitter import bits_of
from codegen.xe.passes.lanes.values import lane_element
from codegen.xe.passes.lanes.vectors.layout import (
    LONGEST,
    LaneLayout,
    Places,
    pieces,
)
from codegen.xe.subgroup import (
    cached_by_size,
    subgroup_size,
)

_WORD = 32
_HALF = 16
_MESSAGE_LANES = 16  # of GPUs with 2-D block messages, for which the tables of the RFC agree for all operands
_TF32_COLUMNS = 8


@cached_by_size
def own(shape: Ints) -> LaneLayout:
    """Return the layout of a vector of which each lane has one of its own."""
    return _chunked(np.repeat(np.arange(prod(shape))[:, None], subgroup_size(), axis=1))


def fragment(op: LoadNdOp | StoreNdOp) -> LaneLayout:
    """Return the elements of the value of a whole sub-group that the registers of a work-item's value hold.

    The whole value has the blocks of array_length in front, and is not packed. Without a layout, lanes hold what a
    block message gives them.

    Raises:
        PassFailedException: the specification does not say which elements.
    """
    desc = cast(TensorDescType, op.desc.type)
    shape, bits = desc.get_shape(), bits_of(lane_element(desc.element_type))
    is_load, layout = isinstance(op, LoadNdOp), op.layout or desc.layout
    turned = isinstance(op, LoadNdOp) and op.transpose is not None
    if isinstance(op, LoadNdOp) and op.transpose_bit_width is not None:
        raise _refusal(op, "transpose without transpose_bit_width: lane_data of two elements says the same")
    if layout is None:
        unit = _WORD // bits if isinstance(op, LoadNdOp) and op.packed is not None else 1
        lanes, data = _default(op, shape[::-1] if turned else shape, bits, unit)
        order = tuple(reversed(range(len(shape))))
    else:
        of_layout = distribution_of(layout, len(shape))
        if of_layout.lane_layout is None or of_layout.lane_data is None or of_layout.inst_data is not None:
            raise _refusal(op, "a layout of lane_layout and lane_data alone")
        d = of_layout.permuted((1, 0)) if turned else of_layout
        lanes, data = cast(Ints, d.lane_layout), cast(Ints, d.lane_data)
        order = d.order if isinstance(layout, LayoutAttr) and d.order is not None else None
        if order is None:
            order = (0, 1) if turned else tuple(reversed(range(len(shape))))
    of_block = _units(shape[::-1] if turned else shape, lanes, data, order)
    if prod(lanes) != subgroup_size():
        raise _refusal(op, f"a lane_layout of {subgroup_size()} work-items")
    blocks = desc.block.array_length if is_load else 1
    return _chunked(np.concatenate([of_block + block * prod(shape) for block in range(blocks)]))


def _default(op: LoadNdOp | StoreNdOp, shape: Ints, bits: int, words: int) -> tuple[Ints, Ints]:
    """Return lane_layout and lane_data of a block without a layout: `words` rows are packed to one."""
    if len(shape) == 1:
        return (subgroup_size(),), (1,)
    if subgroup_size() != _MESSAGE_LANES and bits < _WORD:
        raise _refusal(
            op, "a layout with lane_layout and lane_data, as what a message gives is not the same for A and B"
        )
    columns, pair = shape[1], max(1, _HALF // bits)
    if words > 1 or columns % subgroup_size() == 0:
        return (1, subgroup_size()), (words, pair if words == 1 and columns % (subgroup_size() * pair) == 0 else 1)
    if columns == _TF32_COLUMNS and bits == _WORD and shape[0] % 2 == 0:
        return (subgroup_size() // columns, columns), (1, 1)
    raise _refusal(op, f"a layout with lane_layout and lane_data for a block of {format_ints(shape)}")


def _units(shape: Ints, lanes: Ints, data: Ints, order: Ints) -> Places:
    """Return the element numbers of a block in the registers of each lane, [registers, 16]."""
    at = np.unravel_index(np.arange(prod(lanes)), [lanes[axis] for axis in reversed(order)])
    of_lane = dict(zip(reversed(order), at, strict=True))
    counts = [n // (m * d) for n, m, d in zip(shape, lanes, data, strict=True)]
    rows: list[Places] = []
    for unit in np.ndindex(*counts):
        for element in np.ndindex(*data):
            where = [
                (unit[axis] * lanes[axis] + of_lane[axis]) * data[axis] + element[axis] for axis in range(len(shape))
            ]
            rows.append(np.asarray(np.ravel_multi_index(where, shape)))
    return np.stack(rows)


def _chunked(places: Places) -> LaneLayout:
    return LaneLayout(places, tuple(pieces(len(places), LONGEST)))


def _refusal(op: LoadNdOp | StoreNdOp, expected: str) -> PassFailedException:
    return PassFailedException(f"lower-to-lanes: {op.name} at work-item level: expected {expected}, got {op.desc.type}")
