"""2-D block reads, writes and prefetches of cl_intel_subgroup_2d_block_io.

Source: OpenCL extension cl_intel_subgroup_2d_block_io 1.1.0, "Restrictions"; how elements go to work-items:
SPV_INTEL_2d_block_io.
"""

import numpy as np

from codegen.simulate.functions.block_shape import BlockShape
from codegen.simulate.functions.call import Call
from codegen.simulate.memory.address_space import check_writeable
from codegen.simulate.values import (
    LANES,
    Array,
    undefined_bytes,
)

_MAX_EXTENT = 1 << 24


def block_io(call: Call, shape: BlockShape) -> None:
    """Run a block message for all active sub-groups.

    Raises:
        SimulationRefused: the surface or the coordinates are outside of what the extension defines.
    """
    base, width, height, pitch, coordinates = (call.uniform(i) for i in range(5))
    x, y = (coordinates[:, axis].astype(np.int64) for axis in (0, 1))
    width, height, pitch = (v.astype(np.int64) for v in (width, height, pitch))
    _check_surface(call, shape, width, height, pitch)
    if (x * shape.nbytes % 4).any():
        raise call.refuse(
            f"a block starts at column {int(x[x * shape.nbytes % 4 != 0][0])}, not at a multiple of 4 bytes"
        )
    surface_bytes = int(((height - 1) * pitch + width).max())
    buffer, offset = call.memory.locate(base[:, None], surface_bytes, call.where)
    offset = offset[:, 0]
    if (offset % 64).any():
        raise call.refuse(f"a surface starts at byte {int(offset.max())} of its buffer, not at a multiple of 64")
    if shape.action == "prefetch":
        return
    typed = buffer[: buffer.size // shape.nbytes * shape.nbytes].view(f"u{shape.nbytes}")
    row, column = shape.elements()
    if shape.action == "read" and shape.is_row_of_lanes and _is_inside(shape, x, y, width, height):
        # Whole rows of 16: one index for each.
        first = offset[:, None] + (y[:, None] + row[:, 0]) * pitch[:, None] + (x[:, None] + column[:, 0]) * shape.nbytes
        every = np.ndarray((typed.size - LANES + 1, LANES), typed.dtype, typed, strides=(shape.nbytes, shape.nbytes))
        _give(call, every[first // shape.nbytes])
        return
    rows, columns = y[:, None, None] + row, x[:, None, None] + column
    at = (offset[:, None, None] + rows * pitch[:, None, None] + columns * shape.nbytes) // shape.nbytes
    inside = (rows >= 0) & (rows < height[:, None, None])
    inside &= (columns >= 0) & ((columns + 1) * shape.nbytes <= width[:, None, None])
    within = (row < shape.rows) & (column < shape.columns * shape.count)
    if shape.action == "read":
        values = np.where(inside, typed[np.where(inside, at, 0)], typed.dtype.type(0))
        # The rest of a register is not defined.
        _give(call, np.where(within, values, undefined_bytes((shape.nbytes,)).view(typed.dtype)))
    else:
        _write(call, shape, typed, at, inside & within)


def _is_inside(shape: BlockShape, x: Array, y: Array, width: Array, height: Array) -> bool:
    end = (x + shape.columns * shape.count) * shape.nbytes
    return bool(((x >= 0) & (y >= 0) & (end <= width) & (y + shape.rows <= height)).all())


def _give(call: Call, values: Array) -> None:
    by_lane = np.ascontiguousarray(values.transpose(0, 2, 1))
    call.memory.store(call.operands[5], by_lane.view(np.uint8), call.subgroups, call.where)


def _write(call: Call, shape: BlockShape, typed: Array, at: Array, inside: Array) -> None:
    check_writeable(typed, call.where)
    elements = at.shape[1]
    raw = call.memory.load(call.operands[5], elements * shape.nbytes, call.subgroups, call.where)
    values = np.ascontiguousarray(raw).view(typed.dtype).transpose(0, 2, 1)
    full = (len(call.subgroups), elements, LANES)
    inside, at = np.broadcast_to(inside, full), np.broadcast_to(at, full)
    typed[at[inside]] = np.broadcast_to(values, full)[inside]


def _check_surface(call: Call, shape: BlockShape, width: Array, height: Array, pitch: Array) -> None:
    multiple = max(4, shape.nbytes)
    for what, holds, value in (
        ("width is 64 to 2^24 bytes", (width >= 64) & (width <= _MAX_EXTENT), width),
        (f"width is a multiple of {multiple} bytes", width % multiple == 0, width),
        ("height is 1 to 2^24 rows", (height >= 1) & (height <= _MAX_EXTENT), height),
        ("pitch is at least the width", pitch >= width, pitch),
        ("pitch is a multiple of 16 bytes", pitch % 16 == 0, pitch),
    ):
        if not holds.all():
            bad = np.broadcast_to(value, holds.shape)[~holds]
            raise call.refuse(f"2-D block messages are defined where the {what}, got {int(bad.flat[0])}")
