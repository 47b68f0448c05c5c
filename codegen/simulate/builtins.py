"""Functions that kernels call: work-item queries, mathematics, data exchange within a sub-group."""

import re
from collections.abc import Callable

import numpy as np

from codegen.simulate.block_io import block_io
from codegen.simulate.block_shape import block_shape
from codegen.simulate.call import Call
from codegen.simulate.dpas import DPAS_NAME, dpas
from codegen.simulate.values import LANES, Array, unsigned

_MANGLED = re.compile(r"_Z(?P<length>\d+)")
_INTRINSIC = re.compile(r"llvm\.(?P<name>[a-z0-9]+(?:\.[a-z]+)*)(?:\.v?\d*[fip]\d+.*)?")


def call_builtin(call: Call) -> Array | None:
    """The result of a call, None for one without.

    Raises:
        SimulationRefused: a function that is not known, or arguments that its definition excludes.
    """
    symbol = call.instruction.detail
    name = unmangled(symbol)
    if (m := DPAS_NAME.fullmatch(name)) is not None:
        return dpas(call, m["type"])
    if (shape := block_shape(name)) is not None:
        block_io(call, shape)
        return None
    if name in _WORK_ITEM:
        return _WORK_ITEM[name](call)
    if name in _EXCHANGE:
        return _EXCHANGE[name](call)
    if (m := _INTRINSIC.fullmatch(symbol)) is not None:
        if m["name"] in _NOTHING:
            return None
        if m["name"] in _MATH and "bfloat" not in {o.type.element for o in call.instruction.operands}:
            return _MATH[m["name"]](*call.operands)
    raise call.refuse(f"function {symbol} is not known")


def unmangled(symbol: str) -> str:
    """The name of an OpenCL built-in without its parameter types; other symbols as they are."""
    m = _MANGLED.match(symbol)
    return symbol[m.end() : m.end() + int(m["length"])] if m else symbol


def _dimension(call: Call) -> int:
    dimension = call.uniform(0)
    if dimension.shape[0] != 1 or not 0 <= int(dimension[0]) <= 2:
        raise call.refuse("the dimension must be 0, 1 or 2 for all sub-groups")
    return int(dimension[0])


def _per_subgroup(call: Call, values: Array) -> Array:
    return values.reshape(-1, 1).astype(call.instruction.type.dtype)


def _local_id(call: Call) -> Array:
    if _dimension(call) != 0:
        return _per_subgroup(call, np.zeros(1))
    linear = call.subgroups.subgroup_id[:, None] * LANES + np.arange(LANES)
    return linear.astype(call.instruction.type.dtype)


def _sizes(call: Call, sizes: tuple[int, int, int]) -> Array:
    return _per_subgroup(call, np.array([sizes[_dimension(call)]]))


_WORK_ITEM: dict[str, Callable[[Call], Array]] = {
    "get_group_id": lambda c: _per_subgroup(c, c.subgroups.group_id[_dimension(c)]),
    "get_sub_group_id": lambda c: _per_subgroup(c, c.subgroups.subgroup_id),
    "get_sub_group_local_id": lambda c: np.arange(LANES, dtype=c.instruction.type.dtype)[None],
    "get_sub_group_size": lambda c: _per_subgroup(c, np.array([LANES])),
    "get_num_sub_groups": lambda c: _per_subgroup(c, np.array([c.subgroups.local_size // LANES])),
    "get_local_id": _local_id,
    "get_local_size": lambda c: _sizes(c, (c.subgroups.local_size, 1, 1)),
    "get_num_groups": lambda c: _sizes(c, c.subgroups.groups),
}


def _from_lane(call: Call, lane: Array) -> Array:
    values = call.operands[0]
    shape = (np.broadcast_shapes(values.shape[:1], lane.shape[:1])[0], LANES)
    if ((lane < 0) | (lane >= LANES)).any():
        raise call.refuse(f"a lane outside of 0 to {LANES - 1}")
    return np.take_along_axis(np.broadcast_to(values, shape), np.broadcast_to(lane, shape), 1)


_EXCHANGE: dict[str, Callable[[Call], Array]] = {
    "sub_group_broadcast": lambda c: _from_lane(c, c.uniform(1)[:, None].astype(np.int64)),
    "sub_group_shuffle": lambda c: _from_lane(c, c.operands[1].astype(np.int64)),
    "sub_group_shuffle_xor": lambda c: _from_lane(c, c.operands[1].astype(np.int64) ^ np.arange(LANES)),
}


def _fused(a: Array, b: Array, c: Array) -> Array:
    """One rounding for float and half: their products are exact in double."""
    return (a.astype(np.float64) * b + c).astype(a.dtype)


def _as_unsigned(function: Callable[[Array, Array], Array]) -> Callable[..., Array]:
    def apply(a: Array, b: Array) -> Array:
        return function(unsigned(a), unsigned(b)).view(a.dtype)

    return apply


# Calls that change nothing that is simulated.
_NOTHING = frozenset(("assume", "lifetime.start", "lifetime.end", "experimental.noalias.scope.decl"))

_MATH: dict[str, Callable[..., Array]] = {
    "fma": _fused,
    "fmuladd": _fused,
    "fabs": np.abs,
    "sqrt": np.sqrt,
    "exp": np.exp,
    "exp2": np.exp2,
    "tanh": np.tanh,
    "maxnum": np.fmax,
    "minnum": np.fmin,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "smax": np.maximum,
    "smin": np.minimum,
    "umax": _as_unsigned(np.maximum),
    "umin": _as_unsigned(np.minimum),
}
