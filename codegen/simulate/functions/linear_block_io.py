"""1-D block reads and writes of a sub-group: for each component as many elements as lanes, one to a lane.

Source: OpenCL extensions cl_intel_subgroups, _char, _short and _long; cl_intel_subgroup_local_block_io.
"""

import re

import numpy as np

from codegen.simulate.functions.call import Call
from codegen.simulate.memory.address_space import OFFSET_MASK
from codegen.simulate.values import (
    Array,
)

LINEAR_NAME = re.compile(r"intel_sub_group_block_(?P<action>read|write)(?:_(?P<element>uc|us|ui|ul))?(?:2|4|8|16)?")
_ELEMENTS = {"uc": "i8", "us": "i16", "ui": "i32", "ul": "i64"}
_READ_ALIGNMENT, _WRITE_ALIGNMENT = 4, 16


def linear_block_io(call: Call, action: str, element: str) -> Array | None:
    """Return the result of a read, None for a write.

    Raises:
        SimulationRefused: elements of another type, or a pointer that is not aligned.
    """
    type_ = call.instruction.type if action == "read" else call.instruction.operands[1].type
    if type_.element != _ELEMENTS[element]:
        raise call.refuse(f"a block of {_ELEMENTS[element]} was expected, got {type_}")
    pointer = call.uniform(0)[:, None]
    alignment = _READ_ALIGNMENT if action == "read" else _WRITE_ALIGNMENT
    if ((pointer & OFFSET_MASK) % alignment).any():
        raise call.refuse(f"a block {action} needs a pointer that is a multiple of {alignment} bytes")
    count, size, lanes = type_.count or 1, type_.dtype.itemsize, call.subgroups.size
    if action == "read":
        raw = call.memory.load(pointer, count * lanes * size, call.subgroups, call.where)
        elements = np.ascontiguousarray(raw).view(type_.dtype).reshape(-1, count, lanes).transpose(0, 2, 1)
        return np.ascontiguousarray(elements if type_.count else elements[..., 0])
    values = call.operands[1] if type_.count else call.operands[1][..., None]
    by_lane = np.broadcast_to(values, (values.shape[0], lanes, count))
    raw = np.ascontiguousarray(by_lane.transpose(0, 2, 1)).reshape(-1, 1, count * lanes).view(np.uint8)
    call.memory.store(pointer, raw, call.subgroups, call.where)
    return None
