"""Atomic operations: work-items execute in the order of sub-groups and lanes."""

from collections.abc import Callable, Iterator

import numpy as np

from codegen.simulate.llvm_ir.ir import Type
from codegen.simulate.memory.address_space import Place
from codegen.simulate.values import (
    Array,
    unsigned,
)

Update = Callable[[Array, Array], Array]


def _as_unsigned(function: Update) -> Update:
    return lambda old, value: function(unsigned(old), unsigned(value)).view(old.dtype)


OPERATIONS: dict[str, Update] = {
    "xchg": lambda old, value: value,
    "add": np.add,
    "sub": np.subtract,
    "and": np.bitwise_and,
    "nand": lambda old, value: np.invert(old & value),
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "max": np.maximum,
    "min": np.minimum,
    "umax": _as_unsigned(np.maximum),
    "umin": _as_unsigned(np.minimum),
    "fadd": np.add,
    "fsub": np.subtract,
    "fmax": np.fmax,
    "fmin": np.fmin,
    "fmaximum": np.maximum,
    "fminimum": np.minimum,
    "uinc_wrap": _as_unsigned(lambda old, limit: np.where(old >= limit, 0, old + 1).astype(old.dtype)),
    "udec_wrap": _as_unsigned(
        lambda old, limit: np.where((old == 0) | (old > limit), limit, old - 1).astype(old.dtype)
    ),
    "usub_cond": _as_unsigned(lambda old, value: np.where(old >= value, old - value, old)),
    "usub_sat": _as_unsigned(lambda old, value: np.where(old >= value, old - value, 0).astype(old.dtype)),
}


def read_modify_write(place: Place, type_: Type, update: Update, value: Array) -> Array:
    """Update the memory of each work-item; return the old values, in the shape of the place's offsets."""
    values = np.broadcast_to(value, place.offsets.shape).reshape(-1)
    out = np.empty(values.shape, type_.dtype)
    for memory, at, chosen in _interleaved(place, type_):
        out[chosen] = memory[at]
        memory[at] = update(out[chosen], values[chosen])
    return out.reshape(place.offsets.shape)


def compare_exchange(place: Place, type_: Type, expected: Array, new: Array) -> tuple[Array, Array]:
    """Store `new` where `expected` is; return the old values, and whether each was exchanged."""
    shape = place.offsets.shape
    wanted, values = (np.broadcast_to(v, shape).reshape(-1) for v in (expected, new))
    out, done = np.empty(wanted.shape, type_.dtype), np.empty(wanted.shape, np.bool_)
    for memory, at, chosen in _interleaved(place, type_):
        out[chosen] = memory[at]
        done[chosen] = out[chosen] == wanted[chosen]
        memory[at] = np.where(done[chosen], values[chosen], out[chosen])
    return out.reshape(shape), done.reshape(shape)


def _interleaved(place: Place, type_: Type) -> Iterator[tuple[Array, Array, Array]]:
    """Split conflicting accesses into rounds without duplicate places: memory, places and their work-items."""
    size = type_.dtype.itemsize
    flat = place.memory.reshape(-1)
    memory = flat[: flat.size // size * size].view(type_.dtype)
    at = place.offsets // size
    if place.rows is not None:
        at = at + place.rows * (place.memory.shape[-1] // size)
    at = at.reshape(-1)
    order = np.argsort(at, kind="stable")
    ordered = at[order]
    first = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    turn = np.empty(at.shape, np.int64)
    turn[order] = np.arange(at.size) - np.repeat(first, np.diff(np.r_[first, at.size]))
    for number in range(int(turn.max()) + 1):
        chosen = np.flatnonzero(turn == number)
        yield memory, at[chosen], chosen
