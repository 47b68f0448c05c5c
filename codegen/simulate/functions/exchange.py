"""Functions with which the work-items of a sub-group exchange values."""

from collections.abc import Callable

import numpy as np

from codegen.simulate.functions.call import Call
from codegen.simulate.llvm_ir.mangling import parameter_types
from codegen.simulate.values import (
    Array,
    undefined,
    unsigned,
)


def _from_lane(call: Call, lane: Array, missing: bool = False) -> Array:
    """Return values of other lanes; those of nonexistent lanes are undefined, if they may be `missing`."""
    values, size = call.operands[0], call.subgroups.size
    outside = (lane < 0) | (lane >= size)
    if outside.any() and not missing:
        raise call.refuse(f"a lane outside of 0 to {size - 1}")
    shape = (np.broadcast_shapes(values.shape[:1], lane.shape[:1])[0], size)
    extra = (1,) * (values.ndim - 2)
    index = np.broadcast_to(np.where(outside, 0, lane), shape).reshape(*shape, *extra)
    taken = np.take_along_axis(np.broadcast_to(values, (*shape, *values.shape[2:])), index, 1)
    if not outside.any():
        return taken
    gone = np.broadcast_to(outside, shape).reshape(*shape, *extra)
    return np.where(gone, undefined(call.instruction.type, (1, 1)), taken)


def _relative(call: Call, sign: int) -> Array:
    return _from_lane(call, np.arange(call.subgroups.size) + sign * call.operands[1].astype(np.int64), missing=True)


def _collected(call: Call, function: Callable[[Array, Array], Array], scan: bool) -> Array:
    """Reduce the values of all lanes from lane 0 on; with `scan`, up to each lane."""
    values = np.broadcast_to(call.operands[-1], (call.operands[-1].shape[0], call.subgroups.size))
    is_unsigned = parameter_types(call.instruction.detail)[-1:] in ("h", "t", "j", "m")
    values = unsigned(values) if is_unsigned else values
    out = values.copy()
    for lane in range(1, call.subgroups.size):
        out[:, lane] = function(out[:, lane - 1], values[:, lane])
    out = out if scan else out[:, -1:]
    return out.view(call.instruction.type.dtype)


def _reduction(function: Callable[[Array, Array], Array], scan: bool = False) -> Callable[[Call], Array]:
    return lambda call: _collected(call, function, scan)


def _truth(of_all: bool) -> Callable[[Call], Array]:
    def rule(call: Call) -> Array:
        holds = call.operands[0] != 0
        together = np.all(holds, axis=1, keepdims=True) if of_all else np.any(holds, axis=1, keepdims=True)
        return together.astype(call.instruction.type.dtype)

    return rule


_FOLDS: dict[str, Callable[[Array, Array], Array]] = {
    "add": np.add,
    "mul": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
}


def _shuffle(call: Call) -> Array:
    return _from_lane(call, call.operands[1].astype(np.int64))


def _shuffle_xor(call: Call) -> Array:
    return _from_lane(call, call.operands[1].astype(np.int64) ^ np.arange(call.subgroups.size))


EXCHANGE: dict[str, Callable[[Call], Array]] = {
    "sub_group_broadcast": lambda c: _from_lane(c, c.uniform(1)[:, None].astype(np.int64)),
    "sub_group_shuffle": _shuffle,
    "intel_sub_group_shuffle": _shuffle,
    "sub_group_shuffle_xor": _shuffle_xor,
    "intel_sub_group_shuffle_xor": _shuffle_xor,
    "sub_group_shuffle_up": lambda c: _relative(c, -1),
    "sub_group_shuffle_down": lambda c: _relative(c, 1),
    "sub_group_all": _truth(of_all=True),
    "sub_group_any": _truth(of_all=False),
    **{f"sub_group_reduce_{name}": _reduction(fold) for name, fold in _FOLDS.items()},
    **{f"sub_group_non_uniform_reduce_{name}": _reduction(fold) for name, fold in _FOLDS.items()},
    **{f"sub_group_scan_inclusive_{name}": _reduction(fold, scan=True) for name, fold in _FOLDS.items()},
}
