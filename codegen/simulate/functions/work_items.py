"""Functions that return a work-item's ids and the sizes of the launch."""

from collections.abc import Callable
from math import prod

import numpy as np

from codegen.simulate.functions.call import Call
from codegen.simulate.values import (
    Array,
)


def _dimension(call: Call) -> int:
    dimension = call.uniform(0)
    if dimension.shape[0] != 1 or not 0 <= int(dimension[0]) <= 2:
        raise call.refuse("the dimension must be 0, 1 or 2 for all sub-groups")
    return int(dimension[0])


def _typed(call: Call, values: Array) -> Array:
    return values.astype(call.instruction.type.dtype)


def _of_subgroup(call: Call, values: Array) -> Array:
    return _typed(call, values.reshape(-1, 1))


def _number(call: Call, value: int) -> Array:
    return _typed(call, np.array([[value]]))


def _global_id(call: Call) -> Array:
    dimension = _dimension(call)
    group = call.subgroups.group_id[dimension][:, None]
    return _typed(call, group * call.subgroups.local_size[dimension] + call.subgroups.local_id(dimension))


def _global_size(call: Call) -> Array:
    dimension = _dimension(call)
    return _number(call, call.subgroups.groups[dimension] * call.subgroups.local_size[dimension])


def _local_linear_id(call: Call) -> Array:
    return _typed(call, call.subgroups.subgroup_id[:, None] * call.subgroups.size + call.subgroups.lanes)


WORK_ITEM: dict[str, Callable[[Call], Array]] = {
    "get_group_id": lambda c: _of_subgroup(c, c.subgroups.group_id[_dimension(c)]),
    "get_num_groups": lambda c: _number(c, c.subgroups.groups[_dimension(c)]),
    "get_local_id": lambda c: _typed(c, c.subgroups.local_id(_dimension(c))),
    "get_local_linear_id": _local_linear_id,
    "get_local_size": lambda c: _number(c, c.subgroups.local_size[_dimension(c)]),
    "get_enqueued_local_size": lambda c: _number(c, c.subgroups.local_size[_dimension(c)]),
    "get_global_id": _global_id,
    "get_global_size": _global_size,
    "get_global_offset": lambda c: _number(c, 0),
    "get_work_dim": lambda c: _number(c, 3),
    "get_sub_group_id": lambda c: _of_subgroup(c, c.subgroups.subgroup_id),
    "get_sub_group_local_id": lambda c: _typed(c, c.subgroups.lanes),
    "get_sub_group_size": lambda c: _number(c, c.subgroups.size),
    "get_max_sub_group_size": lambda c: _number(c, c.subgroups.size),
    "get_num_sub_groups": lambda c: _number(c, prod(c.subgroups.local_size) // c.subgroups.size),
    "get_enqueued_num_sub_groups": lambda c: _number(c, prod(c.subgroups.local_size) // c.subgroups.size),
}
